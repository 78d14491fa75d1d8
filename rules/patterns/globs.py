"""Path patterns, as in `src/**/*.{py,pyi}`."""

from collections.abc import Iterator, Mapping

from rules.patterns.nodes import (
    MAX_DEPTH,
    Characters,
    Choice,
    Node,
    PatternFault,
    Repeat,
    Sequence,
    any_of,
    one,
)
from rules.patterns.scanner import Scanner, read_class

_MARKS = ("**", "*", "?", "/", "{", ",", "}")

Token = str | Characters
"""One of the marks, or the characters that may stand in one place."""

_MOST_WRITTEN = 20_000
"""Tokens for the alternatives of braces, and for what they are put together from."""

_SLASH_CODE = ord("/")
_SLASH = one("/")
_NO_SLASH = any_of([(_SLASH_CODE, _SLASH_CODE)], negated=True)
_WITHIN = Repeat(_NO_SLASH, 0, None)
_FOLDERS = Repeat(Sequence((_WITHIN, _SLASH)), 0, None)
_BELOW = Repeat(any_of([], negated=True), 1, None)
_PARTS: Mapping[str, Node] = {"*": _WITHIN, "?": _NO_SLASH, "/": _SLASH}


def read_glob(pattern: str) -> Node:
    """Raises PatternFault."""
    paths = [_path(tokens) for tokens in _Braces(_tokens(Scanner(pattern))).expand()]
    return paths[0] if len(paths) == 1 else Choice(tuple(paths))


def _tokens(scanner: Scanner) -> Iterator[Token]:
    while not scanner.done:
        start = scanner.at
        if scanner.take("***"):
            raise scanner.fault(start, "is one '*' too many")
        mark = scanner.take(*_MARKS)
        if mark:
            yield mark
        elif scanner.take("["):
            yield _class(scanner)
        elif scanner.sees("\\"):
            yield one(_escaped(scanner))
        else:
            yield one(scanner.next())


def _escaped(scanner: Scanner) -> str:
    scanner.next()
    return scanner.next()


def _class(scanner: Scanner) -> Characters:
    """A class never stands for the slash."""
    start = scanner.at - 1
    if scanner.pattern.startswith("[:", scanner.at):
        raise scanner.fault(start, "begins a class with a name, which is not supported")
    ranges, _, negated = read_class(scanner, ("!", "^"), lambda: _escaped(scanner))
    if negated:
        return any_of([*ranges, (_SLASH_CODE, _SLASH_CODE)], negated=True)
    below = [(first, min(last, _SLASH_CODE - 1)) for first, last in ranges if first < _SLASH_CODE]
    above = [(max(first, _SLASH_CODE + 1), last) for first, last in ranges if last > _SLASH_CODE]
    return any_of(below + above)


class _Braces:
    """Writes out alternatives: `a{b,c}d` is `abd` or `acd`."""

    def __init__(self, tokens: Iterator[Token]) -> None:
        self._tokens = tokens
        self._left = _MOST_WRITTEN

    def expand(self, depth: int = 0) -> list[list[Token]]:
        """Up to the `}` that ends this level, or to the end."""
        if depth > MAX_DEPTH:
            raise PatternFault(f"its braces are nested more than {MAX_DEPTH} deep")
        done: list[list[Token]] = []
        current: list[list[Token]] = [[]]
        for mark in self._tokens:
            if mark == "{":
                current = self._product(current, self.expand(depth + 1))
            elif depth and mark == "}":
                return done + current
            elif depth and mark == ",":
                done += current
                current = [[]]
            elif mark == "}":
                raise PatternFault("a '}' closes nothing; write '\\}' for the character")
            else:
                self._spend(len(current))
                for tokens in current:
                    tokens.append(one(",") if mark == "," else mark)
        if depth:
            raise PatternFault("a '{' is never closed with '}'; write '\\{' for the character")
        return current

    def _product(self, heads: list[list[Token]], tails: list[list[Token]]) -> list[list[Token]]:
        pairs = len(heads) * len(tails)
        self._spend(pairs + len(tails) * sum(map(len, heads)) + len(heads) * sum(map(len, tails)))
        return [[*head, *tail] for head in heads for tail in tails]

    def _spend(self, tokens: int) -> None:
        self._left -= tokens
        if self._left < 0:
            raise PatternFault("its braces make too many alternatives")


def _path(tokens: list[Token]) -> Node:
    parts: list[Node] = []
    skip = False
    for at, mark in enumerate(tokens):
        if skip:
            skip = False
        elif mark == "**":
            skip = _alone(tokens, at)
            parts.append(_FOLDERS if skip else _BELOW)
        elif isinstance(mark, str):
            parts.append(_PARTS[mark])
        else:
            parts.append(mark)
    return Sequence(tuple(parts))


def _alone(tokens: list[Token], at: int) -> bool:
    """Whether a `/` follows the `**`. Raises PatternFault unless it is all between two slashes."""
    around = [*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]]
    if any(mark != "/" for mark in around):
        raise PatternFault("'**' stands for whole folders: write it between slashes, as '**/*.py'")
    return at + 1 < len(tokens)
