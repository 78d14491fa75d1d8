"""How many processor cores this process may use."""

import os
from collections.abc import Iterator
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
OWN_GROUP = Path("/proc/self/cgroup")


def model_threads() -> int:
    """Threads for a model on this machine: one core is left for everything else, for with more
    threads than free cores each waits for the slowest, and a reply takes ten times as long."""
    return max(1, usable_cores() - 1)


def usable_cores() -> int:
    """The cores, less what an affinity mask or a container's quota takes away; at least 1."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(cores, cgroup_cores(CGROUPS, OWN_GROUP)))


def cgroup_cores(root: Path, own: Path) -> int:
    """The whole cores that the CPU quotas of cgroups v2 or v1 leave; many when there are none."""
    return int(min(_quotas(root, own), default=1 << 16))


def _quotas(root: Path, own: Path) -> Iterator[float]:
    group = root / _own_group(own)
    for folder in (group, *group.parents):
        # v2: "200000 100000", or "max 100000"; microseconds of quota and period
        yield from _ratio(_words(folder / "cpu.max"))
        if folder == root:
            break
    folder = root / "cpu"
    yield from _ratio(_words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us"))


def _own_group(own: Path) -> str:
    """The path of a line such as `0::/user.slice/a.scope`, below the root."""
    for line in _text(own).splitlines():
        if line.startswith("0::/") and ".." not in line:
            return line[4:]
    return ""


def _ratio(words: list[str]) -> Iterator[float]:
    if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]):
        yield int(words[0]) / int(words[1])


def _words(path: Path) -> list[str]:
    return _text(path).split()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""
