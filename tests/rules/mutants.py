"""`python -m tests.rules.mutants [NAME ...]`: the engine with a fault in it must be found out.

Each mutant replaces a piece of text in a copy of `rules/`; then random programs and updates are
run with it, small ones and large ones in turn, until one fails, and it is told how many that
took. A mutant that survives, and one whose old text is no longer there, are failures: the first of
the generators, the second of the list in `tests.rules.faults`. The suite tries a few; this command
tries all, in about four minutes.
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
    """One fault: somewhere in the engine `old` becomes `new`; `breaks` says what that spoils.

    What random programs hardly meet is for a module of tests, `tests`, to find.
    """

    name: str
    old: str
    new: str
    breaks: str
    tests: str = ""

    def places(self, root: Path = ROOT) -> list[Path]:
        """The modules that hold the old text, once for each time."""
        modules = [root / "rules" / "analysis" / "equations.py"]
        modules += sorted((root / "rules" / "engine").glob("*.py"))
        counts = [(path, path.read_text(encoding="utf-8").count(self.old)) for path in modules]
        return [path for path, count in counts for _ in range(count)]

    def stale(self) -> str:
        """Why the mutant cannot be made, or nothing."""
        places = self.places()
        if len(places) != 1:
            return f"{self.name}: the old text is {len(places)} times in the engine"
        try:
            compile(self.changed(places[0]), places[0].name, "exec")
        except SyntaxError as error:
            return f"{self.name}: the new text is no Python ({error})"
        return ""

    def changed(self, path: Path) -> str:
        return path.read_text(encoding="utf-8").replace(self.old, self.new)

    def plant(self, folder: Path) -> None:
        (path,) = self.places(folder)
        path.write_text(self.changed(path), encoding="utf-8")


@dataclass(frozen=True)
class Trial:
    """What random programs made of a mutant, or of the engine as it is.

    `runs` and `large` count the programs up to the first that failed, or all.
    """

    killed: bool
    output: str
    runs: int = 0
    large: int = 0


def trial(
    mutant: Mutant | None, turns: int = TURNS, small: int = SMALL, large: int = LARGE
) -> Trial:
    """Run random programs until one fails, in processes of their own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "rules", folder / "rules", ignore=ignore)
        if mutant is not None:
            mutant.plant(folder)
            if mutant.tests:
                return Trial(*run_module(folder, mutant.tests))
        counts = [0, 0]
        for turn in range(turns):
            for kind, (programs, flags) in enumerate(((small, ()), (large, ("--large",)))):
                done, failed, output = stress(folder, programs, 1 + turn * programs, *flags)
                counts[kind] += done
                if failed:
                    return Trial(True, output, *counts)
    return Trial(False, "", *counts)


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


def run_module(folder: Path, module: str) -> tuple[bool, str]:
    """Whether a module of tests fails; it is imported from here, and the library from there."""
    path = Path(__file__).with_name(module)
    options = ["-c", os.devnull, "--import-mode=importlib", "-p", "no:cacheprovider", "-qx"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(path)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{module} cannot be run: {done.stdout}{done.stderr}")
    return done.returncode == 1, done.stdout if done.returncode else ""


def verdict(mutant: Mutant | None, turns: int = TURNS) -> tuple[str, Trial | None]:
    """What is wrong with a mutant, or with the engine as it is; nothing if all is well."""
    if mutant is None:
        control = trial(None, turns)
        return (f"the engine as it is fails:\n{control.output}" if control.killed else ""), control
    stale = mutant.stale()
    if stale:
        return stale, None
    found = trial(mutant, turns)
    if found.killed:
        return "", found
    survived = mutant.tests or f"{found.runs} small and {found.large} large programs"
    return f"{mutant.name} survived {survived}: {mutant.breaks}", found


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
        where = mutant.tests if mutant and mutant.tests else runs
        name = mutant.name if mutant else "the engine as it is"
        print(f"{time.monotonic() - started:5.1f} s  {where:26}  {fault or name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
