"""Regular expressions: a subset of Python's, with the same meaning as `re.fullmatch` gives it.

Everything in it can be decided in one pass over the text, so there are no back-references and
no look-around. Classes such as `\\w` are those of Unicode.
"""

import re
from collections.abc import Mapping

from rules.patterns.nodes import (
    MAX_DEPTH,
    MAX_SIZE,
    Characters,
    Choice,
    Kind,
    Node,
    PatternFault,
    Repeat,
    Sequence,
    any_of,
    one,
)
from rules.patterns.scanner import Member, Scanner, read_class


def _word(character: str) -> bool:
    return character.isalnum() or character == "_"


_KINDS: Mapping[str, Kind] = {
    "d": str.isdecimal,
    "s": str.isspace,
    "w": _word,
    "D": lambda character: not character.isdecimal(),
    "S": lambda character: not character.isspace(),
    "W": lambda character: not _word(character),
}
_CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_DIGITS = {"x": 2, "u": 4, "U": 8}
_NOT_A_NEWLINE = any_of([(10, 10)], negated=True)
_EMPTY = Sequence(())

_REFUSED_GROUPS = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<=": "look-behind",
    "(?<!": "look-behind",
    "(?P=": "a back-reference",
    "(?P<": "a named group",
    "(?>": "an atomic group",
    "(?#": "a comment",
    "(?(": "a conditional group",
    "(?": "a flag",
}


def read_expression(pattern: str) -> Node:
    """Raises PatternFault."""
    reader = _Reader(Scanner(pattern))
    return reader.read()


class _Reader:
    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._depth = 0

    def read(self) -> Node:
        node = self._choice()
        if self._scanner.take(")"):
            raise self._scanner.fault(self._scanner.at - 1, "closes no group")
        return node

    def _choice(self) -> Node:
        parts = [self._sequence()]
        while self._scanner.take("|"):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self) -> Node:
        """Up to a `|`, a `)` or the end; around it `^` and `$` say what is true anyway."""
        scanner = self._scanner
        if self._depth == 0:
            scanner.take("^")
        parts: list[Node] = []
        while not scanner.done and not scanner.sees("|", ")"):
            if scanner.take("$"):
                self._end_of_sequence()
            else:
                parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _end_of_sequence(self) -> None:
        if self._depth > 0 or not (self._scanner.done or self._scanner.sees("|")):
            raise self._scanner.fault(self._scanner.at - 1, "can only stand at the end")

    def _repeated(self) -> Node:
        start = self._scanner.at
        node = self._atom()
        bounds = self._quantifier()
        if bounds is None:
            return node
        self._after_quantifier()
        node = Repeat(node, *bounds)
        if node.size > MAX_SIZE:
            raise self._scanner.fault(start, f"is more than {MAX_SIZE} steps when written out")
        return node

    def _quantifier(self) -> tuple[int, int | None] | None:
        """How often at least and at most, if a quantifier stands here."""
        scanner = self._scanner
        simple = scanner.take("*", "+", "?")
        if simple:
            return (1 if simple == "+" else 0), (1 if simple == "?" else None)
        if not scanner.sees("{"):
            return None
        start = scanner.at
        found = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}").match(scanner.pattern, start)
        if found is None or not (found[1] or found[3]):
            scanner.next()
            raise scanner.fault(start, "begins no quantifier; write '\\{' for the character")
        scanner.at = found.end()
        if max(len(found[1]), len(found[3])) > 6:
            raise scanner.fault(start, "repeats too often")
        least = int(found[1] or 0)
        most = int(found[3]) if found[3] else None if found[2] else least
        if most is not None and most < least:
            raise scanner.fault(start, "has its bounds the wrong way round")
        return least, most

    def _after_quantifier(self) -> None:
        scanner = self._scanner
        start = scanner.at
        scanner.take("?")  # lazy: where the whole text must match it makes no difference
        if scanner.take("+", "*", "?", "{"):
            raise scanner.fault(start, "repeats what is repeated already; use a group '(?:...)'")

    def _atom(self) -> Node:
        scanner = self._scanner
        start = scanner.at
        if scanner.sees("\\"):
            member = self._escape()
            return one(member) if isinstance(member, str) else Characters((), (member,))
        character = scanner.next()
        if character == ".":
            return _NOT_A_NEWLINE
        if character == "(":
            return self._group(start)
        if character == "[":
            ranges, kinds, negated = read_class(scanner, ("^",), self._escape)
            return any_of(ranges, tuple(kinds), negated)
        if character == "^":
            raise scanner.fault(start, "can only stand at the beginning")
        if character in "*+?{":
            raise scanner.fault(start, "has nothing to repeat")
        return one(character)

    def _group(self, start: int) -> Node:
        scanner = self._scanner
        if not scanner.take("?:") and scanner.sees("?"):
            scanner.at = start
            known = scanner.take(*_REFUSED_GROUPS)
            raise scanner.fault(start, f"is {_REFUSED_GROUPS[known]}, which is not supported")
        if self._depth == MAX_DEPTH:
            raise scanner.fault(start, f"is nested more than {MAX_DEPTH} groups deep")
        self._depth += 1
        node = self._choice()
        self._depth -= 1
        if not scanner.take(")"):
            raise PatternFault(f"'(' at character {start + 1} is never closed with ')'")
        return node

    def _escape(self) -> Member:
        scanner = self._scanner
        start = scanner.at
        scanner.next()
        character = scanner.next()
        if character in _KINDS:
            return _KINDS[character]
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character in _DIGITS:
            return self._numbered(start, _DIGITS[character])
        if character.isascii() and character.isalnum():
            raise scanner.fault(start, _refused_escape(character))
        return character

    def _numbered(self, start: int, digits: int) -> str:
        scanner = self._scanner
        found = re.compile(r"[0-9a-fA-F]*").match(scanner.pattern, scanner.at, scanner.at + digits)
        written = found[0] if found else ""
        scanner.at += len(written)
        code = int(written or "0", 16)
        if len(written) < digits or code > 0x10FFFF:
            raise scanner.fault(start, f"needs the {digits} hexadecimal digits of a character")
        return chr(code)


def _refused_escape(character: str) -> str:
    if character in "123456789":
        return "is a back-reference, which is not supported"
    if character in "bBAZ":
        return "is an assertion, which is not supported"
    return "is no escape"
