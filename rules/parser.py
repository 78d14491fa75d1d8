"""From text to rules, in both notations; the grammar is in docs/rules.md.

A fault ends its statement and reading goes on at the next one, so that all are reported.
"""

from rules.conditions import read_condition, read_conditions
from rules.cursor import LATER, Abandoned, Cursor
from rules.errors import MAX_DIAGNOSTICS, RuleError
from rules.lexer import is_name
from rules.source import Source
from rules.terms import OPERATORS, Atom, Rule, Variable

MAX_DECLARED = 255


def parse_atom(text: str) -> Atom:
    """Read one atom such as `verify_gate('run_tests')`; a full stop may follow.

    Raises RuleError with places in a source named `<atom>`.
    """
    cursor = Cursor(Source("<atom>", text))
    try:
        atom = read_condition(cursor)
        cursor.take(".")
        if cursor.token.kind != "end":
            raise cursor.unexpected("nothing after the atom")
    except Abandoned:
        atom = Atom("")
    if cursor.diagnostics:
        raise RuleError(tuple(cursor.diagnostics))
    return atom


class Parser:
    """Reads a whole text into `statements` (rules and facts) and `declarations`."""

    def __init__(self, source: Source, tier: str) -> None:
        self.statements: list[Rule] = []
        self.declarations: list[Atom] = []
        self._tier = tier
        self._cursor = Cursor(source)
        self.diagnostics = self._cursor.diagnostics
        self._read()

    def _read(self) -> None:
        cursor = self._cursor
        while cursor.token.kind != "end" and len(self.diagnostics) < MAX_DIAGNOSTICS:
            start = cursor.index
            try:
                self._statement()
            except Abandoned:
                cursor.recover(start)

    def _statement(self) -> None:
        cursor = self._cursor
        start = cursor.token.start
        if cursor.at(".", "@", "?-"):
            self._directive()
            return
        label = self._label()
        first = read_conditions(cursor, "+", ",")
        if cursor.take(":-"):
            self._clause(start, label, first)
        elif cursor.take("->"):
            self._trace_rule(start, label, first)
        else:
            self._fact(start, label, first)

    def _clause(self, start: int, label: str, first: list[Atom]) -> None:
        if len(first) > 1:
            raise self._cursor.fail(first[1].spans[0], "syntax", "a rule has one conclusion")
        body = read_conditions(self._cursor, ",")
        if self._cursor.at("+"):
            raise self._plus(body[-1])
        self._full_stop("the rule")
        self._add_rule(start, label, first[0], body)

    def _plus(self, before: Atom) -> Exception:
        if before.predicate not in OPERATORS:
            return self._cursor.unexpected("',' or '.'")
        advice = "conditions after ':-' are joined by ','"
        return self._cursor.fail_at(
            self._cursor.token, "not-supported", f"arithmetic {LATER}", advice
        )

    def _trace_rule(self, start: int, label: str, body: list[Atom]) -> None:
        cursor = self._cursor
        head = read_condition(cursor)
        self._add_rule(start, label, head, body)
        if cursor.at(",", "+") and not cursor.token.fresh:
            raise cursor.fail_at(cursor.token, "syntax", "a rule has one conclusion")
        self._line_end("the conclusion")

    def _add_rule(self, start: int, label: str, head: Atom, body: list[Atom]) -> None:
        span = self._cursor.span(start)
        self.statements.append(Rule(head, tuple(body), label, self._tier, span))

    def _fact(self, start: int, label: str, conditions: list[Atom]) -> None:
        if len(conditions) > 1:
            raise self._cursor.unexpected("'->' and a conclusion")
        self._full_stop("the fact")
        span = self._cursor.span(start)
        if label:
            raise self._cursor.fail(span, "syntax", "a fact has no name", f"drop '{label}:'")
        self.statements.append(Rule(conditions[0], tier=self._tier, span=span))

    def _label(self) -> str:
        cursor = self._cursor
        following = cursor.following
        if following.kind != "mark" or following.text != ":":
            return ""
        token = cursor.word("a rule name that starts with a small letter")
        cursor.advance()
        return token.text

    def _full_stop(self, what: str) -> None:
        if not self._cursor.take("."):
            raise self._cursor.unexpected(f"'.' at the end of {what}")

    def _line_end(self, what: str) -> None:
        cursor = self._cursor
        if cursor.at_stop():
            cursor.advance()
        elif cursor.token.kind != "end" and not cursor.token.fresh:
            raise cursor.unexpected(f"'.' or a new line after {what}")

    def _directive(self) -> None:
        cursor = self._cursor
        mark, name = cursor.advance(), cursor.token
        named = name.kind == "word" and name.start == mark.end
        if mark.text == "." and not named:
            raise cursor.fail_at(mark, "syntax", "expected a rule or a fact, found '.'")
        if mark.text == "." and name.text == "decl":
            cursor.advance()
            self._declaration()
            return
        what = {".": f"the directive '.{name.text}'", "?-": "a query in a file"}
        subject = what.get(mark.text, "an annotation")
        raise cursor.fail_at(mark, "not-supported", f"{subject} {LATER}")

    def _declaration(self) -> None:
        cursor = self._cursor
        name = cursor.token
        if not is_name(name.text) or not name.bare:
            raise cursor.unexpected("a predicate to declare")
        cursor.advance()
        span = cursor.span(name.start)
        args = self._declared_count() if cursor.take("/") else self._declared_names()
        self._line_end("the declaration")
        self.declarations.append(Atom(name.text, args, (span,)))

    def _declared_count(self) -> tuple[Variable, ...]:
        token = self._cursor.token
        if token.kind != "integer" or len(token.text) > 3 or int(token.text) > MAX_DECLARED:
            raise self._cursor.unexpected(f"a number of arguments, at most {MAX_DECLARED}")
        self._cursor.advance()
        return (Variable("_"),) * int(token.text)

    def _declared_names(self) -> tuple[Variable, ...]:
        cursor = self._cursor
        names: list[Variable] = []
        if not cursor.take("(") or cursor.take(")"):
            return ()
        while True:
            if cursor.token.kind not in {"word", "variable"}:
                raise cursor.unexpected("the name of an argument")
            names.append(Variable(cursor.advance().text))
            if cursor.at(":"):
                note = f"a type in a declaration {LATER}"
                raise cursor.fail_at(cursor.token, "not-supported", note)
            if cursor.take(")"):
                return tuple(names)
            if not cursor.take(","):
                raise cursor.unexpected("',' or ')'")
