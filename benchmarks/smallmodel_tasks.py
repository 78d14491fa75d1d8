"""Six tiny tasks, each with a workspace and a test of what came of it."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.ooda.turn import Outcome

EXAMPLE = Path(__file__).resolve().parent.parent / "example_workspace"

SHOP: Mapping[str, str] = {
    "settings.py": (
        '"""Settings of the shop."""\n\n'
        'CURRENCY = "EUR"\nRETRIES = 4\nTIMEOUT_SECONDS = 45\nPAGE_SIZE = 20\n'
    ),
    "prices.py": (
        '"""What things cost."""\n\n\n'
        "def net_total(prices):\n    return sum(prices)\n\n\n"
        "def apply_discount(price, percent):\n    return price * (100 - percent) / 100\n\n\n"
        "def with_tax(price, rate):\n    return price * (1 + rate)\n"
    ),
    "orders.py": (
        '"""Orders and their lines."""\n\nfrom prices import net_total\n\n\n'
        "class Order:\n    def __init__(self):\n        self.lines = []\n\n"
        "    def add(self, price):\n        self.lines.append(price)\n\n"
        "    def total(self):\n        return net_total(self.lines)\n"
    ),
}

Test = Callable[[Path, Outcome], bool]


@dataclass(frozen=True)
class Task:
    """`files` is None for a copy of example_workspace."""

    name: str
    request: str
    solved: Test = field(repr=False)
    files: Mapping[str, str] | None = None

    def prepare(self, folder: Path) -> None:
        """Make the workspace, which must not be there yet."""
        if self.files is None:
            shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))
            return
        folder.mkdir()
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")


def answers(word: str) -> Test:
    """The answer has the word, and nothing was changed."""
    return lambda _folder, outcome: word in outcome.answer and not outcome.changed


def becomes(name: str, old: str, new: str) -> Test:
    """`old` has become `new` in the file, and all else in it is as it was."""

    def solved(folder: Path, _outcome: Outcome) -> bool:
        before = SHOP[name] if name in SHOP else (EXAMPLE / name).read_text(encoding="utf-8")
        return (folder / name).read_text(encoding="utf-8") == before.replace(old, new)

    return solved


def holds(name: str, text: str) -> Test:
    """There is such a file, and the text is all that is in it."""

    def solved(folder: Path, _outcome: Outcome) -> bool:
        path = folder / name
        return path.is_file() and path.read_text(encoding="utf-8").strip() == text

    return solved


TASKS = (
    Task(
        "read a value",
        "What is the value of TIMEOUT_SECONDS in settings.py?",
        answers("45"),
        SHOP,
    ),
    Task(
        "name a function",
        "Which function in prices.py takes a percentage off a price? Answer with its name.",
        answers("apply_discount"),
        SHOP,
    ),
    Task("find a class", "In which file is the class Order defined?", answers("orders.py"), SHOP),
    Task(
        "change 3 to 5",
        "Change max_attempts from 3 to 5 in auth.py",
        becomes("auth.py", "self.max_attempts = 3", "self.max_attempts = 5"),
    ),
    Task(
        "change a text",
        "In settings.py, change CURRENCY from EUR to USD.",
        becomes("settings.py", '"EUR"', '"USD"'),
        SHOP,
    ),
    Task(
        "create a file",
        "Create a file named VERSION that contains 1.2.0",
        holds("VERSION", "1.2.0"),
        SHOP,
    ),
)
