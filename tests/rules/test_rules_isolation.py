"""The library by itself: what it loads, and that runs do not differ."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

SCRIPT = """
import rules
database = rules.Database(rules.kernel())
lines = []
database.on_change(lambda change: lines.extend(str(database.derivation(f)) for f in change.added))
with database.transaction():
    for name in ("b", "a", "d", "c"):
        database.assert_fact("file", f"{name}.py", "python")
        database.assert_fact("test_covers", f"test_{name}.py", f"{name}.py")
    for name in ("d", "a", "b"):
        database.assert_fact("file_modified", f"{name}.py")
    database.assert_fact("expectation_changed", "test_a.py")
database.retract_fact("file_modified", "d.py")
lines += map(str, database.facts() + database.derived())
lines.append(database.why("verify_gate(run_tests)").text())
print("\\n".join(lines))
"""


def run(script, seed="0"):
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_output_does_not_depend_on_hash_seeds():
    outputs = {run(SCRIPT, seed) for seed in ("1", "2", "3")}
    assert len(outputs) == 1
    assert "tdd_gate: file_modified('d.py')" in outputs.pop()


def test_only_light_modules_are_loaded():
    loaded = run(
        "import sys, dataclasses, re\nbefore = set(sys.modules)\nimport rules\n"
        "rules.Database(rules.kernel())\nprint(*sorted(set(sys.modules) - before))"
    ).split()
    others = {name for name in loaded if name.partition(".")[0] != "rules"}
    typing = {"typing", "_typing", "typing.io", "typing.re"}
    assert others <= {"__future__", *typing}
