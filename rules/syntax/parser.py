"""From text to rules, in both notations; the grammar is in docs/rules.md.

A fault ends its statement and reading goes on at the next one, so that all are reported.
"""

from rules.errors import MAX_DIAGNOSTICS, RuleError
from rules.source import Source, Span
from rules.statements import AGGREGATES, Atom, Declaration, Guard, Literal, Negation, Query, Rule
from rules.syntax.conditions import ConditionReader
from rules.syntax.cursor import Abandoned, Cursor
from rules.syntax.directives import (
    Include,
    folded,
    read_directive,
    read_name,
    read_tier,
    refuse_arithmetic,
)
from rules.syntax.foreign import LABEL
from rules.syntax.lexer import Token
from rules.syntax.sugar import spelled_out

Item = Rule | Query | Declaration | Guard | Include

_MAX_CALLS = 16
"""Aggregates in one conclusion; each repeats the conditions of the rule."""


def parse_atom(text: str) -> Atom:
    """Read one atom such as `verify_gate('run_tests')`; a full stop may follow.

    Raises RuleError with places in a source named `<atom>`.
    """
    cursor = Cursor(Source("<atom>", text))
    try:
        atom = _lone_atom(ConditionReader(cursor))
    except Abandoned:
        atom = Atom("")
    if cursor.diagnostics:
        raise RuleError(tuple(cursor.diagnostics))
    return atom


def _lone_atom(reader: ConditionReader) -> Atom:
    cursor = reader.cursor
    condition = reader.condition(sums=True)
    if not isinstance(condition, Atom):
        note = "one fact can be asked for here, without 'not' and aggregates"
        raise cursor.fail(cursor.span(0), "syntax", note, "ask '?- ...' for more")
    atom = folded(reader, condition)
    cursor.take(".")
    if cursor.token.kind != "end":
        raise cursor.unexpected("nothing after the atom")
    refuse_arithmetic(reader, atom, "ask '?- ...', with a condition that gives the value")
    return atom


def parse_query(text: str) -> Query:
    """Read one query such as `?- p(X), not q(X).`; `?-` and the full stop may be missing.

    Raises RuleError with places in a source named `<query>`.
    """
    parser = Parser(Source("<query>", text), "kernel", read=False)
    query = parser.lone_query()
    if query is None or parser.diagnostics:
        raise RuleError(tuple(parser.diagnostics))
    return query


class Parser:
    """Reads a whole text into `items`, in their order."""

    def __init__(self, source: Source, tier: str, read: bool = True) -> None:
        self.items: list[Item] = []
        self._loaded_as = tier
        self._tier = tier
        self._cursor = Cursor(source)
        self._reader = ConditionReader(self._cursor)
        self.diagnostics = self._cursor.diagnostics
        if read:
            self._read()

    def lone_query(self) -> Query | None:
        """The text as one query, or None if it is not: see `diagnostics`."""
        cursor = self._cursor
        try:
            start = cursor.token.start
            cursor.take("?-")
            query = self._query(start)
            cursor.take(".")
            if cursor.token.kind != "end":
                raise cursor.unexpected("',' or the end of the query")
        except Abandoned:
            return None
        return query

    def _read(self) -> None:
        cursor = self._cursor
        while cursor.token.kind != "end" and len(self.diagnostics) < MAX_DIAGNOSTICS:
            cursor.start_statement()
            self._reader.start_statement()
            try:
                self._statement()
            except Abandoned:
                cursor.recover()

    def _statement(self) -> None:
        cursor = self._cursor
        start = cursor.token.start
        if cursor.at("."):
            self.items.append(read_directive(self._reader, self._tier))
        elif cursor.take("@"):
            self._annotation(start)
        elif cursor.take("?-"):
            self.items.append(self._query(start))
            cursor.full_stop("the query")
        else:
            self._rule(start, self._label())

    def _annotation(self, start: int) -> None:
        cursor = self._cursor
        name = cursor.word("an annotation such as @name('...')")
        if name.text != "name":
            self._tier = read_tier(cursor, name, self._loaded_as)
            return
        label = read_name(cursor)
        if self._label():
            raise cursor.fail_at(cursor.last, "syntax", "the rule is already named by '@name'")
        self._rule(start, label)

    def _query(self, start: int) -> Query:
        body = self._reader.conditions(True, ",")
        self._reader.refuse_calls()
        if self._cursor.at("+"):
            raise self._plus()
        _, conditions = self._spelled_out(Atom(""), body)
        written = self._cursor.variables()
        variables = (v for part in conditions for v in part.variables)
        unwritten = frozenset(v for v in variables if v.name not in written)
        return Query(conditions, self._cursor.span(start), unwritten)

    def _rule(self, start: int, label: str) -> None:
        cursor, reader = self._cursor, self._reader
        first_start = cursor.token.start
        first = reader.condition(sums=False)
        place = cursor.span(first_start)
        if cursor.take(":-"):
            self._clause(start, label, first, place)
            return
        if cursor.at("."):
            self._fact(start, label, self._conclusion(first, place))
            return
        reader.refuse_calls()
        body = [*reader.take_lifted(), first]
        if cursor.take("+", ","):
            body += self._more_conditions()
        if not cursor.take("->"):
            if len(body) > 1:
                raise cursor.unexpected("'->' and a conclusion")
            raise cursor.no_full_stop("the fact", LABEL if cursor.colon_follows() else "")
        self._trace_rule(start, label, body)

    def _more_conditions(self) -> list[Literal]:
        cursor = self._cursor
        start = cursor.token.start
        body = self._reader.conditions(False, "+", ",")
        if cursor.at(":-"):
            span = Span(cursor.source, start, cursor.last.end)
            raise cursor.fail(span, "syntax", "a rule has one conclusion")
        return body

    def _clause(self, start: int, label: str, first: Literal, place: Span) -> None:
        reader = self._reader
        head = self._conclusion(first, place)
        calls, reader.calls = reader.calls, []
        lifted = reader.take_lifted()
        body = reader.conditions(True, ",")
        if self._cursor.at("+"):
            raise self._plus()
        reader.refuse_calls()
        reader.calls = calls
        self._cursor.full_stop("the rule")
        self._add_rule(start, label, head, [*body, *lifted])

    def _plus(self) -> Abandoned:
        advice = "conditions after ':-' and '?-' are joined by ','"
        return self._cursor.unexpected("',' or '.'", advice)

    def _trace_rule(self, start: int, label: str, body: list[Literal]) -> None:
        cursor, reader = self._cursor, self._reader
        reader.refuse_calls()
        head_start = cursor.token.start
        head = self._conclusion(reader.condition(sums=False), cursor.span(head_start))
        body += reader.take_lifted()
        self._add_rule(start, label, head, body)
        if cursor.at(",", "+") and not cursor.token.fresh:
            raise cursor.fail_at(cursor.token, "syntax", "a rule has one conclusion")
        cursor.line_end("the conclusion")

    def _conclusion(self, literal: Literal, place: Span) -> Atom:
        if isinstance(literal, Atom):
            return literal
        if isinstance(literal, Negation):
            note = "a conclusion cannot be negated"
            advice = "rules only add facts; let the rule that concludes the fact ask 'not ...'"
            raise self._cursor.fail(place, "negative-head", note, advice)
        note, advice = "an aggregate cannot be concluded", "conclude a fact with its result"
        raise self._cursor.fail(place, "syntax", note, advice)

    def _add_rule(self, start: int, label: str, head: Atom, body: list[Literal]) -> None:
        calls = self._reader.calls
        if len(calls) > _MAX_CALLS:
            note = f"a conclusion has at most {_MAX_CALLS} aggregates"
            raise self._cursor.fail(calls[-1].spans[0], "syntax", note)
        head, conditions = self._spelled_out(head, body)
        span = self._cursor.span(start)
        self.items.append(Rule(head, conditions, label, self._tier, span))

    def _spelled_out(self, head: Atom, body: list[Literal]) -> tuple[Atom, tuple[Literal, ...]]:
        reader = self._reader
        if not reader.placeholders:
            return head, tuple(body)
        used = self._cursor.variables()
        return spelled_out(head, body, reader.placeholders, reader.calls, used)

    def _fact(self, start: int, label: str, head: Atom) -> None:
        cursor = self._cursor
        cursor.full_stop("the fact")
        span = cursor.span(start)
        if label:
            raise cursor.fail(span, "syntax", "a fact has no name", f"drop '{label}:'")
        self.items.append(Rule(folded(self._reader, head), tier=self._tier, span=span))

    def _label(self) -> str:
        cursor = self._cursor
        following = cursor.following
        if following.kind != "mark" or following.text != ":" or self._counts(cursor.token):
            return ""
        token = cursor.word("a rule name that starts with a small letter")
        cursor.advance()
        return token.text

    def _counts(self, token: Token) -> bool:
        """At `count : {`, which begins a condition."""
        braces = self._cursor.peek(2)
        return token.text in AGGREGATES and braces.kind == "mark" and braces.text == "{"
