"""Synthetic workspaces that look enough like real ones to be worth measuring on."""

import random
from pathlib import Path

PER_PACKAGE = 20


def make(folder: Path, files: int, seed: int = 7) -> None:
    """Write `files` Python files of about a hundred lines: packages, imports, a third tests."""
    chance = random.Random(seed)
    sources = files * 2 // 3
    names = [f"pkg{n // PER_PACKAGE:03}.mod{n:04}" for n in range(sources)]
    for number, name in enumerate(names):
        path = folder / (name.replace(".", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.joinpath("__init__.py").touch()
        imported = chance.sample(names[:number], min(number, 3))
        path.write_text(_module(number, imported, chance))
    for number in range(files - sources):
        subject = names[chance.randrange(sources)]
        path = folder / "tests" / f"test_{number:04}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(_test(subject, number))


def _module(number: int, imported: list[str], chance: random.Random) -> str:
    lines = [f'"""Module {number}: orders, ledgers and their reports."""', ""]
    lines += [f"from {name} import Ledger{int(name[-4:])}" for name in imported]
    lines += ["", "", f"class Ledger{number}:", f'    """Keeps the orders of shop {number}."""', ""]
    lines += [
        "    def __init__(self):",
        "        self.orders = {}",
        f"        self.limit = {number}",
        "",
    ]
    for method in range(10):
        verb = chance.choice(("add", "remove", "count", "report", "audit", "merge"))
        lines += [
            f"    def {verb}_{method}(self, order, amount=0):",
            f'        """{verb.capitalize()} an order of shop {number}."""',
            "        if amount > self.limit:",
            "            return None",
            "        total = sum(self.orders.values()) + amount",
            "        self.orders[order] = total",
            "        return total",
            "",
        ]
    return "\n".join(lines) + "\n"


def _test(subject: str, number: int) -> str:
    ledger = f"Ledger{int(subject[-4:])}"
    lines = [f"from {subject} import {ledger}", ""]
    for case in range(12):
        lines += [
            "",
            f"def test_case_{case}():",
            f"    ledger = {ledger}()",
            f"    assert ledger.orders == {{}}, {number}",
            "",
        ]
    return "\n".join(lines) + "\n"
