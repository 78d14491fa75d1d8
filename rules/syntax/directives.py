"""Reading what is neither rule nor fact: declarations, guards, includes and annotations."""

from typing import NamedTuple

from rules.source import Span
from rules.statements import Atom, Declaration, Guard
from rules.syntax.conditions import MAX_ARGUMENTS, ConditionReader, is_capital_predicate
from rules.syntax.cursor import Cursor
from rules.syntax.lexer import Token
from rules.terms import TIERS, Expression, Term, Variable, is_name

TYPES = {"string": "string", "symbol": "string", "int": "int", "number": "int"}
"""What may be written for the type of an argument, and the type it means."""

_KNOWN = "the directives are .decl, .include, .closed and .open"
_ANNOTATIONS = "the annotations are @name('...'), " + ", ".join(f"@{tier}" for tier in TIERS)


class Include(NamedTuple):
    """`.include 'other.dl'`; what it holds is read in this tier."""

    path: str
    tier: str
    span: Span


def read_directive(reader: ConditionReader, tier: str) -> Declaration | Guard | Include:
    """At the full stop of a directive."""
    cursor = reader.cursor
    stop, name = cursor.advance(), cursor.token
    if name.kind != "word" or name.start != stop.end:
        raise cursor.fail_at(stop, "syntax", "expected a rule or a fact, found '.'")
    cursor.advance()
    if name.text == "decl":
        return _declaration(cursor, tier)
    if name.text == "include":
        return _include(cursor, tier, stop.start)
    if name.text in {"closed", "open"}:
        return _guard(reader, tier, name.text, stop.start)
    span = Span(cursor.source, stop.start, name.end)
    raise cursor.fail(span, "syntax", f"there is no directive '.{name.text}'", _KNOWN)


def _include(cursor: Cursor, tier: str, start: int) -> Include:
    token = cursor.token
    if token.kind != "string":
        raise cursor.unexpected("the name of a file in quotes")
    cursor.advance()
    span = cursor.span(start)
    cursor.line_end("the name of the file")
    return Include(token.text, tier, span)


def _guard(reader: ConditionReader, tier: str, kind: str, start: int) -> Guard:
    cursor = reader.cursor
    if cursor.token.kind != "word" and not is_capital_predicate(cursor):
        raise cursor.unexpected("a predicate, with values and '_' as its arguments")
    atom = folded(reader, reader.atom())
    refuse_arithmetic(reader, atom, "a pattern has values, variables and '_'")
    span = cursor.span(start)
    cursor.line_end("the pattern")
    return Guard(kind, atom, tier, span)


def folded(reader: ConditionReader, atom: Atom) -> Atom:
    """With the value of every expression that has no variables in its place."""
    reader.refuse_calls()
    if reader.placeholders:
        note = "an aggregate needs a rule, whose conditions it is about"
        raise reader.cursor.fail(atom.spans[0], "syntax", note)
    if not any(isinstance(term, Expression) for term in atom.args):
        return atom
    terms = (_value(reader.cursor, term, atom.spans[at]) for at, term in enumerate(atom.args, 1))
    return Atom(atom.predicate, tuple(terms), atom.spans)


def _value(cursor: Cursor, term: Term, span: Span) -> Term:
    from rules.builtins import evaluate  # few facts have arithmetic

    if not isinstance(term, Expression) or any(_variables(term)):
        return term
    value = evaluate(term, {})
    if value is None:
        note = f"{span.text!r} has no value"
        advice = "it divides by zero, is too large, or calculates with a string"
        raise cursor.fail(span, "syntax", note, advice)
    return value


def _variables(term: Term) -> list[Variable]:
    """All of them, `_` too."""
    found: list[Variable] = []
    waiting = [term]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Expression):
            waiting += (part.left, part.right)
        elif isinstance(part, Variable):
            found.append(part)
    return found


def refuse_arithmetic(reader: ConditionReader, atom: Atom, advice: str) -> None:
    for term, span in zip(atom.args, atom.spans[1:], strict=True):
        if isinstance(term, Expression):
            note = f"{span.text!r} calculates with a variable, which has no value here"
            raise reader.cursor.fail(span, "syntax", note, advice)


def _declaration(cursor: Cursor, tier: str) -> Declaration:
    name = cursor.token
    if not is_name(name.text) or not name.bare:
        raise cursor.unexpected("a predicate to declare")
    cursor.advance()
    span = cursor.span(name.start)
    names, types = _count(cursor) if cursor.take("/") else _arguments(cursor)
    cursor.line_end("the declaration")
    return Declaration(name.text, names, types, tier, span)


def _count(cursor: Cursor) -> tuple[tuple[str, ...], tuple[str, ...]]:
    token = cursor.token
    if token.kind != "integer" or len(token.text) > 3 or int(token.text) > MAX_ARGUMENTS:
        raise cursor.unexpected(f"a number of arguments, at most {MAX_ARGUMENTS}")
    cursor.advance()
    return ("_",) * int(token.text), ("",) * int(token.text)


def _arguments(cursor: Cursor) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names: list[str] = []
    types: list[str] = []
    if not cursor.opens_arguments():
        return (), ()
    cursor.advance()
    if cursor.take(")"):
        return (), ()
    while len(names) < MAX_ARGUMENTS:
        if cursor.token.kind not in {"word", "variable"}:
            raise cursor.unexpected("the name of an argument")
        names.append(cursor.advance().text)
        types.append(_type(cursor) if cursor.take(":") else "")
        if cursor.take(")"):
            return tuple(names), tuple(types)
        cursor.expect(",", "',' or ')'")
    raise cursor.fail_at(cursor.token, "syntax", f"there are more than {MAX_ARGUMENTS} arguments")


def _type(cursor: Cursor) -> str:
    token = cursor.token
    if token.kind != "word" or token.text not in TYPES:
        raise cursor.unexpected("a type", f"the types are {', '.join(TYPES)}")
    return TYPES[cursor.advance().text]


def read_name(cursor: Cursor) -> str:
    """`@name('...')`, after its name."""
    cursor.expect("(", "'(' and the name of the rule")
    token = cursor.token
    if token.kind not in {"string", "word"} or not token.text:
        raise cursor.unexpected("the name of the rule")
    cursor.advance()
    cursor.expect(")", "')'")
    if cursor.at(".", "@", "?-") or cursor.token.kind == "end":
        raise cursor.unexpected("the rule that has the name")
    return token.text


def read_tier(cursor: Cursor, annotation: Token, loaded_as: str) -> str:
    """The tier of the statements that follow in this file; a file cannot raise its own."""
    if annotation.text not in TIERS:
        note = f"there is no annotation '@{annotation.text}'"
        raise cursor.fail_at(annotation, "syntax", note, _ANNOTATIONS)
    cursor.line_end("the annotation")
    if TIERS.index(annotation.text) >= TIERS.index(loaded_as):
        return annotation.text
    note = f"'@{annotation.text}' is above {loaded_as!r}, the tier of this file"
    advice = "an annotation can only lower the tier that the file was loaded with"
    cursor.fail_at(annotation, "tier-violation", note, advice)
    return loaded_as
