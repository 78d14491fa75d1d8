"""The text of a function under construction.

Values reach the function by name, never as text, so that nothing of a program can become code,
and functions of one shape share one code object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import count
from types import CodeType

TYPE_CHECKING = False  # the name type checkers know; `typing` itself is slow to load
if TYPE_CHECKING:
    from typing import Any


class CodeText:
    """Lines of a function, at a depth of nested loops. `prologue` comes before them.

    A text `beside` another one goes on with the same function.
    """

    def __init__(self, beside: CodeText | None = None) -> None:
        self.depth = 0
        self.prologue: list[str] = beside.prologue if beside else []
        self._lines: list[str] = beside._lines if beside else []
        self._values: dict[str, Any] = beside._values if beside else {}
        self._names: dict[tuple[str, int], str] = beside._names if beside else {}
        self._numbers: Iterator[int] = beside._numbers if beside else count(1)

    def line(self, text: str) -> None:
        self._lines.append("  " * (self.depth + 1) + text)

    def skip(self, condition: str) -> None:
        """Go on with the next turn of the innermost loop where the condition is true."""
        self.line(f"if {condition}: continue")

    def loop(self, target: str, source: str) -> None:
        """What follows is inside the loop."""
        self.line(f"for {target} in {source}:")
        self.depth += 1

    def leave(self, depth: int) -> None:
        """Break out of all loops but the outermost `depth`, from the innermost; ends the text."""
        if self.depth == depth:
            return
        self.line("break")
        while self.depth > depth + 1:
            self.depth -= 1
            self.line("else: continue")
            self.line("break")

    def local(self, prefix: str = "v") -> str:
        return f"{prefix}{next(self._numbers)}"

    def name(self, prefix: str, value: Any) -> str:
        """How the text refers to an object."""
        found = self._names.get((prefix, id(value)))
        if found is None:
            found = self._names[prefix, id(value)] = f"{prefix}{len(self._names)}"
            self._values[found] = value
        return found

    def function(self, arguments: str, last: str = "") -> Callable[..., Any]:
        """The finished function; `last` runs after the loops."""
        bindings = "".join(f", {name}={name}" for name in self._values)
        head = f"def plan({arguments}{bindings}):"
        source = "\n".join((head, *self.prologue, *self._lines, f"  {last}"))
        namespace = dict(self._values)
        exec(_compiled(source), namespace)  # noqa: S102 - our own text, without any value in it
        function: Callable[..., Any] = namespace["plan"]
        return function


@lru_cache(maxsize=4096)
def _compiled(source: str) -> CodeType:
    return compile(source, "<rules>", "exec")
