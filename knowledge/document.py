"""The entries file as bytes: what can be read of it, and what is wrong with the rest.

The format is a JSON list of objects, or an object with such a list under "entries".
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from knowledge.entry import Item, item_problem

_SHOWN_PROBLEMS = 3
_MAX_FAILURES = 1000


@dataclass(frozen=True)
class Document:
    """`items` are the readable entries in file order; `envelope` the object around the list, if
    there is one. `problem` says in part of a sentence what could not be read ("" when all could):
    writing `items` back alone would lose that."""

    items: tuple[Item, ...] = ()
    envelope: Mapping[str, Any] | None = None
    problem: str = ""

    def to_bytes(self, items: list[Item]) -> bytes:
        """The file with `items` in place of its own."""
        whole: object = items if self.envelope is None else {**self.envelope, "entries": items}
        text = json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
        try:
            return text.encode()
        except UnicodeEncodeError:  # a lone surrogate, which only an escape can write
            return (json.dumps(whole, indent=2) + "\n").encode()


def parse(data: bytes) -> Document:
    """Read an entries file. Never raises: what is wrong is in `problem`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _salvaged(data.decode("utf-8", "replace"), f"is not UTF-8 (byte {error.start})")
    if not text.strip():
        return Document(problem="is empty")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        return _salvaged(text, f"is not valid JSON ({where})")
    except (ValueError, RecursionError):
        return _salvaged(text, "is not JSON that can be read (a number or a nesting too large)")
    return _from_value(value)


def _from_value(value: object) -> Document:
    envelope = value if isinstance(value, dict) else None
    listed = value if envelope is None else envelope.get("entries")
    if not isinstance(listed, list):
        return Document(problem="holds no list of entries")
    items: list[Item] = []
    problems: list[str] = []
    for number, item in enumerate(listed, 1):
        problem = item_problem(item)
        if problem is None:
            items.append(item)
        else:
            problems.append(f"item {number} {problem}")
    return Document(tuple(items), envelope, _summary(problems, len(listed)))


def _summary(problems: list[str], total: int) -> str:
    if not problems:
        return ""
    shown = "; ".join(problems[:_SHOWN_PROBLEMS])
    if len(problems) > _SHOWN_PROBLEMS:
        shown += f"; and {len(problems) - _SHOWN_PROBLEMS} more"
    return f"holds {len(problems)} of {total} items that cannot be used ({shown})"


def _salvaged(text: str, problem: str) -> Document:
    items = tuple(item for item in _objects(text) if item_problem(item) is None)
    return Document(items, None, problem)


def _objects(text: str) -> Iterator[Item]:
    """Every JSON object in `text` that reads whole and looks like an entry.

    An object which does not is entered, so that entries inside a torn envelope are found.
    """
    decoder = json.JSONDecoder()
    position = text.find("{")
    failures = 0
    while position >= 0 and failures < _MAX_FAILURES:
        end = position + 1
        try:
            value, stop = decoder.raw_decode(text, position)
            if isinstance(value, dict) and "key" in value and "content" in value:
                yield value
                end = stop
        except (ValueError, RecursionError):
            failures += 1
        position = text.find("{", end)
