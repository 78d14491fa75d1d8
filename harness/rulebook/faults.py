"""Faults of rules on one line: what is wrong, where, and what to do next."""

from __future__ import annotations

import os
from pathlib import Path

from harness.rulebook import files
from rules import Diagnostic, RuleError


def on_one_line(fault: Diagnostic) -> str:
    advice = f": {fault.help}" if fault.help else ""
    return without_folder(f"{fault.first_line}{advice}")


def first_of(error: RuleError) -> str:
    return on_one_line(error.diagnostics[0])


def of_file(error: RuleError, path: Path) -> str:
    """The first fault of a file by itself, and how to see all."""
    import shlex

    check = f"mini-coding-agent rules check {shlex.quote(str(path))}"
    return f"{first_of(error)} ({check} shows all)"


def without_folder(text: str) -> str:
    """The text with the shipped files by their names: there is one kernel and one default."""
    for file in files.shipped():
        text = text.replace(f"{file.path.parent}{os.sep}{file.path.name}", file.path.name)
    return text
