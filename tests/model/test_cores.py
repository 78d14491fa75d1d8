"""How many threads a model gets."""

import os
from pathlib import Path

import pytest

from harness.model.cores import cgroup_cores, model_threads, usable_cores

NO_GROUP = Path("/nowhere/cgroup")


def test_one_core_is_left_and_one_thread_at_least() -> None:
    assert model_threads() == max(1, usable_cores() - 1)
    assert 1 <= usable_cores() <= (os.cpu_count() or 1)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="realmodel: Linux alone has it")
def test_a_core_that_may_not_be_used_does_not_count() -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert (usable_cores(), model_threads()) == (1, 1)
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "max 100000\n"}, 1 << 16),
        ({"cpu.max": "250000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 0),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1 << 16),
        ({"cpu.max": "what?"}, 1 << 16),
        ({}, 1 << 16),
    ],
)
def test_a_quota_of_a_container_is_kept(tmp_path: Path, files: dict[str, str], cores: int) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    assert cgroup_cores(tmp_path, NO_GROUP) == cores


def test_the_lowest_quota_on_the_way_up_is_the_one_that_holds(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("0::/user.slice/session.scope\n")
    group = tmp_path / "root" / "user.slice" / "session.scope"
    group.mkdir(parents=True)
    (group / "cpu.max").write_text("800000 100000\n")
    assert cgroup_cores(tmp_path / "root", own) == 8
    (group.parent / "cpu.max").write_text("200000 100000\n")
    assert cgroup_cores(tmp_path / "root", own) == 2
