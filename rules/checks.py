"""What must hold of rules before they run, beyond their grammar."""

from collections.abc import Iterable, Iterator

from rules.errors import Diagnostic, diagnose
from rules.filters import FILTERS, PLANNED
from rules.source import Span
from rules.terms import Atom, Rule, Variable


def check_rule(rule: Rule) -> Iterator[Diagnostic]:
    """Faults within one rule or stated fact."""
    yield from _check_head(rule.head)
    for condition in rule.body:
        if condition.predicate in FILTERS:
            yield from _check_filter(condition)
        elif condition.predicate in PLANNED:
            yield _fault(condition, 0, "not-supported", "is not supported yet")
    if rule.body:
        yield from _unsafe(rule)
    else:
        yield from _open_fact(rule.head)


def check_declaration(declaration: Atom) -> Iterator[Diagnostic]:
    yield from _reserved(declaration)


def _check_head(head: Atom) -> Iterator[Diagnostic]:
    yield from _reserved(head)
    for at, term in enumerate(head.args, 1):
        if isinstance(term, Variable) and term.anonymous:
            advice = "name the variable and bind it in a condition"
            yield _fault(head, at, "wildcard-position", "has no value in a conclusion", advice)


def _reserved(atom: Atom) -> Iterator[Diagnostic]:
    if atom.predicate in FILTERS or atom.predicate in PLANNED:
        note = "is a built-in condition and cannot be concluded, stated or declared"
        yield _fault(atom, 0, "reserved-name", note)


def _check_filter(condition: Atom) -> Iterator[Diagnostic]:
    if len(condition.args) != 2:
        takes = f"takes 2 arguments, not {len(condition.args)}"
        yield _fault(condition, 0, "arity-clash", takes)
    for at, term in enumerate(condition.args, 1):
        if isinstance(term, Variable) and term.anonymous:
            advice = "only a condition on facts may leave a value open"
            yield _fault(condition, at, "wildcard-position", "cannot be compared", advice)


def _open_fact(head: Atom) -> Iterator[Diagnostic]:
    for at, term in enumerate(head.args, 1):
        if isinstance(term, Variable) and not term.anonymous:
            advice = f"for the string write {term.name!r} in quotes; a rule needs conditions"
            yield _fault(head, at, "unsafe-fact", "is a variable, and a fact has none", advice)


def _unsafe(rule: Rule) -> Iterator[Diagnostic]:
    """The first use of each variable that no condition gives a value."""
    known = bound_variables(rule.body)
    for atom in (rule.head, *rule.body):
        for at, term in enumerate(atom.args, 1):
            if isinstance(term, Variable) and not term.anonymous and term not in known:
                known.add(term)
                advice = "use it in a condition on facts, or write a value"
                note = "is not bound by any positive condition"
                yield _fault(atom, at, "unsafe-variable", note, advice)


def bound_variables(body: Iterable[Atom]) -> set[Variable]:
    """The variables to which conditions on facts, and `=` from there, give a value."""
    bound: set[Variable] = set()
    equal: dict[Variable, list[Variable]] = {}
    for condition in body:
        if condition.predicate == "=" and len(condition.args) == 2:
            _note_equation(condition, bound, equal)
        elif condition.predicate not in FILTERS:
            bound.update(condition.variables)
    reached = list(bound)
    while reached:
        for variable in equal.get(reached.pop(), ()):
            if variable not in bound:
                bound.add(variable)
                reached.append(variable)
    return bound


def _note_equation(
    equation: Atom, bound: set[Variable], equal: dict[Variable, list[Variable]]
) -> None:
    variables = [term for term in equation.args if isinstance(term, Variable)]
    if len(variables) == 1:
        bound.update(variables)
    elif len(variables) == 2:
        left, right = variables
        equal.setdefault(left, []).append(right)
        equal.setdefault(right, []).append(left)


def check_names(rules: Iterable[Rule]) -> Iterator[Diagnostic]:
    """Two rules of one name."""
    first: dict[str, Rule] = {}
    for rule in rules:
        if not rule.label or rule.span is None:
            continue
        earlier = first.setdefault(rule.label, rule)
        if earlier is not rule:
            note = f"the rule name {rule.label!r} is already used at {earlier.span}"
            span = Span(rule.span.source, rule.span.start, rule.span.start + len(rule.label))
            yield diagnose(span, "duplicate-name", note, "give one of them another name")


def check_arities(declarations: Iterable[Atom], statements: Iterable[Rule]) -> Iterator[Diagnostic]:
    """Predicates used with different numbers of arguments; a declaration is always right."""
    first: dict[str, Atom] = {}
    uses = (atom for rule in statements for atom in (rule.head, *rule.body))
    for atom in (*declarations, *uses):
        if atom.predicate in FILTERS:
            continue
        known = first.setdefault(atom.predicate, atom)
        if len(known.args) != len(atom.args):
            place = f" at {known.spans[0]}" if known.spans else ""
            note = f"has {_count(atom)} here and {len(known.args)}{place}"
            yield _fault(atom, 0, "arity-clash", note)


def unknown_predicates(
    declarations: Iterable[Atom], statements: Iterable[Rule]
) -> Iterator[Diagnostic]:
    """Warnings for conditions which no rule, fact or declaration can ever make true."""
    statements = tuple(statements)
    known = {statement.head.predicate for statement in statements}
    known.update(declaration.predicate for declaration in declarations)
    for condition in (condition for rule in statements for condition in rule.body):
        if condition.predicate in known or condition.predicate in FILTERS:
            continue
        near = nearest(condition.predicate, sorted(known))
        advice = f"did you mean {near!r}?" if near else "declare it with '.decl' if it is asserted"
        note = "is not concluded, stated or declared anywhere"
        yield _fault(condition, 0, "unknown-predicate", note, advice, "warning")


def disguised_variables(statements: Iterable[Rule]) -> Iterator[Diagnostic]:
    """Warnings for bare words in rules that also use a variable of that name."""
    for rule in statements:
        atoms = (rule.head, *rule.body)
        names = {variable.name for atom in atoms for variable in atom.variables}
        for atom in atoms:
            for at, span in enumerate(atom.spans[1:], 1):
                if span.text in names and atom.args[at - 1] == span.text:
                    advice = f"write ?{span.text} for the variable, or the string in quotes"
                    note = "is a string here, and a variable elsewhere in this rule"
                    yield _fault(atom, at, "disguised-variable", note, advice, "warning")


def nearest(name: str, known: list[str]) -> str:
    """The known name most like this one, or nothing."""
    import difflib

    return next(iter(difflib.get_close_matches(name, known, 1)), "")


def _count(atom: Atom) -> str:
    return "1 argument" if len(atom.args) == 1 else f"{len(atom.args)} arguments"


def _fault(
    atom: Atom, at: int, code: str, note: str, advice: str = "", severity: str = "error"
) -> Diagnostic:
    """A diagnostic on an atom (`at` 0) or on one of its arguments (from 1)."""
    subject = f"'{atom.predicate}'" if at == 0 else str(atom.args[at - 1])
    if not atom.spans:
        return Diagnostic(code, "", 0, 0, f"{subject} {note}", "", advice, severity=severity)
    span = atom.spans[at]
    if at == 0:
        span = Span(span.source, span.start, span.start + len(atom.predicate))
    else:
        subject = f"'{span.text}'"
    return diagnose(span, code, f"{subject} {note}", advice, severity)
