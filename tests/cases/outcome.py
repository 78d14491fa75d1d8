"""What came of one case."""

from dataclasses import dataclass

_LONGEST = 240


class Unusable(Exception):
    """The path does not hold cases of the kind that was asked for."""


@dataclass(frozen=True)
class Outcome:
    """A case passed when it has no faults; `name` is its file, or its place in one."""

    name: str
    faults: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """One line for each fault, shortened."""
        return [shortened(f"{self.name}: {fault}") for fault in self.faults]


def shortened(text: str) -> str:
    """One line, without the end of a very long one."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 4]} ..."
