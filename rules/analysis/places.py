"""Diagnostics on parts of rules."""

from collections.abc import Iterator

from rules.errors import Diagnostic, diagnose
from rules.source import Span
from rules.statements import Aggregate, Atom


def fault(
    span: Span | None, code: str, message: str, advice: str = "", severity: str = "error"
) -> Diagnostic:
    """A diagnostic on a stretch of text, or on none for what was not read from a text."""
    if span is None:
        return Diagnostic(code, "", 0, 0, message, "", advice, severity=severity)
    return diagnose(span, code, message, advice, severity)


def predicate_fault(
    atom: Atom, code: str, note: str, advice: str = "", severity: str = "error"
) -> Diagnostic:
    """A diagnostic on the predicate of an atom; the message starts with its name."""
    return fault(predicate_span(atom), code, f"'{atom.predicate}' {note}", advice, severity)


def argument_fault(
    atom: Atom, at: int, code: str, note: str, advice: str = "", severity: str = "error"
) -> Diagnostic:
    """A diagnostic on an argument (from 0) of an atom; the message starts with its text."""
    span = argument_span(atom, at)
    return fault(span, code, f"'{text_of(span, str(atom.args[at]))}' {note}", advice, severity)


def predicate_span(atom: Atom) -> Span | None:
    """Where the predicate of an atom stands, or the whole atom if its name is not in front."""
    span = atom.span
    if span is None:
        return None
    width = len(atom.predicate)
    if span.source.text.startswith(atom.predicate, span.start):
        return Span(span.source, span.start, span.start + width)
    return span


def argument_span(atom: Atom, at: int) -> Span | None:
    """Where an argument (from 0) stands, or at least the atom."""
    return atom.spans[at + 1] if at + 1 < len(atom.spans) else atom.span


def aggregate_span(aggregate: Aggregate, at: int) -> Span | None:
    """Where the result (1) or the term (2) of an aggregate stands, or at least the whole."""
    span = aggregate.spans[at] if at < len(aggregate.spans) else None
    return span or aggregate.span


def text_of(span: Span | None, otherwise: str) -> str:
    return span.text if span else otherwise


def occurrences(span: Span, name: str) -> Iterator[Span]:
    """Where a variable stands in a stretch of text."""
    if span.text in {name, "?" + name}:
        yield span
        return
    text, plain = span.text, name[:1].isupper()
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        start = at - text.startswith("?", max(0, at - 1), at)
        whole = not _goes_on(text[end : end + 1]) and not _goes_on(text[max(0, start - 1) : start])
        if whole and (plain or start < at):
            yield Span(span.source, span.start + start, span.start + end)
        at = text.find(name, end)


def _goes_on(character: str) -> bool:
    """Whether a name with this character beside it is part of another one."""
    return character.isalnum() or character in {"_", "?"}


def place_of(span: Span | None) -> str:
    """` at team.dl:3:7`, or nothing."""
    return f" at {span}" if span else ""
