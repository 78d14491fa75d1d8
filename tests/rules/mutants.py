"""`python -m tests.rules.mutants [NAME ...]`: the engine with a fault in it must be found out.

Each mutant replaces a piece of text in a copy of `rules/`; then random programs and updates are
run with it, small ones and large ones in turn, until one fails, and it is told how many that
took. A mutant that survives, and one whose old text is no longer there, are failures: the first of
the generators, the second of the list in `tests.rules.faults`. The suite tries a few; this command
tries all, in about two minutes.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SMALL, LARGE = 60, 20
TURNS = 6


@dataclass(frozen=True)
class Mutant:
    """One fault: somewhere in the engine `old` becomes `new`; `breaks` says what that spoils."""

    name: str
    old: str
    new: str
    breaks: str

    def places(self, root: Path = ROOT) -> list[Path]:
        """The modules that hold the old text, once for each time."""
        modules = [root / "rules" / "analysis" / "equations.py"]
        modules += sorted((root / "rules" / "engine").glob("*.py"))
        counts = [(path, path.read_text(encoding="utf-8").count(self.old)) for path in modules]
        return [path for path, count in counts for _ in range(count)]

    def stale(self) -> str:
        """Why the mutant cannot be made, or nothing."""
        found = len(self.places())
        return "" if found == 1 else f"{self.name}: the old text is {found} times in the engine"

    def plant(self, folder: Path) -> None:
        (path,) = self.places(folder)
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


@dataclass(frozen=True)
class Trial:
    """What random programs made of a mutant, or of the engine as it is.

    `runs` counts the programs up to the first that failed, or all.
    """

    killed: bool
    runs: int
    large: int
    output: str


def trial(mutant: Mutant | None, turns: int = TURNS, small: int = SMALL) -> Trial:
    """Run random programs until one fails, in processes of their own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "rules", folder / "rules", ignore=ignore)
        if mutant is not None:
            mutant.plant(folder)
        runs = large = 0
        for turn in range(turns):
            done, failed, output = stress(folder, small, 1 + turn * small)
            runs += done
            if failed:
                return Trial(True, runs, large, output)
            done, failed, output = stress(folder, LARGE, 1 + turn * LARGE, "--large")
            large += done
            if failed:
                return Trial(True, runs, large, output)
    return Trial(False, runs, large, output)


def stress(folder: Path, programs: int, seed: int, *flags: str) -> tuple[int, bool, str]:
    """How many programs ran, and whether the last one failed."""
    command = [sys.executable, "-m", "tests.rules.stress", "--first", *flags]
    try:
        done = subprocess.run(
            [*command, "--programs", str(programs), "--seed", str(seed)],
            cwd=folder,  # its `rules` come before ours
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return programs, True, "it never came to an end"
    output = done.stdout + done.stderr
    first, _, _ = output.partition("\n")
    failing = first.split()[1].rstrip(":") if first.startswith("seed ") else ""
    count = int(failing) - seed + 1 if failing else programs
    return count, done.returncode != 0, output


def verdict(
    mutant: Mutant | None, turns: int = TURNS, small: int = SMALL
) -> tuple[str, Trial | None]:
    """What is wrong with a mutant, or with the engine as it is; nothing if all is well."""
    if mutant is None:
        control = trial(None, turns, small)
        return (f"the engine as it is fails:\n{control.output}" if control.killed else ""), control
    stale = mutant.stale()
    if stale:
        return stale, None
    found = trial(mutant, turns, small)
    if found.killed:
        return "", found
    told = f"{found.runs} small and {found.large} large programs: {mutant.breaks}"
    return f"{mutant.name} survived {told}", found


def main(names: list[str]) -> int:
    from tests.rules.faults import MUTANTS

    known = {mutant.name: mutant for mutant in MUTANTS}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no such mutant: {', '.join(unknown)}; there are {', '.join(known)}")
        return 2
    failed = 0
    for mutant in [None, *(m for m in MUTANTS if not names or m.name in names)]:
        started = time.monotonic()
        fault, found = verdict(mutant)
        failed += bool(fault)
        runs = f"{found.runs:3} small {found.large:3} large" if found else ""
        name = mutant.name if mutant else "the engine as it is"
        print(f"{time.monotonic() - started:5.1f} s  {runs}  {fault or name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
