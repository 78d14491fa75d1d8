"""The oracle's reading of a rule body: all bindings with which it holds."""

from collections.abc import Iterable, Iterator, Sequence

from rules.statements import Aggregate, Atom, Literal, Negation
from rules.terms import Expression, Row, Term, Value, Variable, named_variables
from tests.rules.naive_values import BUILTINS, TESTS, calculate, chosen

Binding = dict[Variable, Value]
Rows = dict[str, set[Row]]


def value_of(term: Term, binding: Binding) -> Value | None:
    """None for an expression without a value."""
    if isinstance(term, Variable):
        return binding[term]
    if not isinstance(term, Expression):
        return term
    return calculate(term.operator, value_of(term.left, binding), value_of(term.right, binding))


def values_of(atom: Atom, binding: Binding) -> Row | None:
    """None when an argument has no value."""
    row = tuple(value_of(term, binding) for term in atom.args)
    return None if None in row else row


# one literal


def extended(literal: Literal, binding: Binding, rows: Rows, outside: set) -> Iterator[Binding]:
    """The binding with what the literal adds, once for each way in which the literal holds."""
    if isinstance(literal, Aggregate):
        result = aggregated(literal, binding, rows, outside)
        yield from [] if result is None else equated(literal.result, result, binding)
    elif isinstance(literal, Negation):
        if not negated_holds(literal.atom, binding, rows):
            yield binding
    elif literal.predicate == "=":
        yield from equation(literal, binding)
    elif literal.predicate in BUILTINS:
        if tested(literal, binding):
            yield binding
    else:
        found = (unify(literal, row, binding) for row in rows.get(literal.predicate, ()))
        yield from (one for one in found if one is not None)


def unify(atom: Atom, row: Row, binding: Binding) -> Binding | None:
    """The binding that makes the arguments, variables and values, the row; or None."""
    if len(atom.args) != len(row):
        return None
    more = dict(binding)
    for term, value in zip(atom.args, row, strict=True):
        known = more.setdefault(term, value) if isinstance(term, Variable) else term
        if known != value:
            return None
    return more


def equation(atom: Atom, binding: Binding) -> Iterator[Binding]:
    left, right = atom.args
    if isinstance(left, Variable) and left not in binding:
        left, right = right, left
    value = value_of(left, binding)
    if value is not None:
        yield from equated(right, value, binding)


def equated(term: Term, value: Value, binding: Binding) -> Iterator[Binding]:
    """Give the term the value, where it is a variable without one, or compare."""
    if isinstance(term, Variable) and term not in binding:
        yield {**binding, term: value}
    elif value_of(term, binding) == value:
        yield binding


def tested(atom: Atom, binding: Binding) -> bool:
    row = values_of(atom, binding)
    return row is not None and TESTS[atom.predicate](*row)


def negated_holds(atom: Atom, binding: Binding, rows: Rows) -> bool:
    """Whether what stands after `not` holds; `_` is any value."""
    if atom.predicate in BUILTINS:
        return tested(atom, binding)
    given = [None if t == Variable("_") else (value_of(t, binding),) for t in atom.args]
    return any(
        all(one is None or one[0] == value for one, value in zip(given, row, strict=True))
        for row in rows.get(atom.predicate, ())
    )


def aggregated(part: Aggregate, binding: Binding, rows: Rows, outside: set) -> Value | None:
    """The value of an aggregate for one group; None where it has none."""
    group = set(part.inner_variables) & outside
    given = {variable: binding[variable] for variable in group}
    within = group if part.term is None else group | set(named_variables(part.term))
    found = solutions(part.body, rows, given, within)
    if part.term is None:
        return len(found)
    return chosen(part.function, [value_of(part.term, one) for one in found])


# bodies


def direct(body: Iterable[Literal]) -> set[Variable]:
    """The variables of a body, without those which only stand inside of aggregates."""
    return {
        variable
        for part in body
        for variable in (
            named_variables(part.result) if isinstance(part, Aggregate) else part.variables
        )
    }


def flattened(body: Sequence[Literal]) -> list[Literal]:
    """The body with variables of their own for `_` and for expressions in conditions on facts."""
    made: list[Literal] = []
    for at, part in enumerate(body):
        if not is_premise(part):
            made.append(part)
            continue
        own = [Variable(f"#{at}.{place}") for place in range(len(part.args))]
        pairs = list(zip(own, part.args, strict=True))
        made.append(Atom(part.predicate, tuple(v if special(t) else t for v, t in pairs)))
        made += [Atom("=", pair) for pair in pairs if isinstance(pair[1], Expression)]
    return made


def special(term: Term) -> bool:
    return isinstance(term, Expression) or term == Variable("_")


def is_premise(part: Literal) -> bool:
    return isinstance(part, Atom) and part.predicate not in BUILTINS


def ready(literal: Literal, known: set[Variable], outside: set[Variable]) -> bool:
    """Whether all that the literal needs has a value."""
    if isinstance(literal, Aggregate):
        return set(literal.inner_variables) & outside <= known and settled(literal.result, known)
    if isinstance(literal, Negation):
        return set(literal.variables) <= known
    if literal.predicate == "=":
        left, right = (set(named_variables(term)) <= known for term in literal.args)
        return (left and settled(literal.args[1], known)) or (
            right and settled(literal.args[0], known)
        )
    return literal.predicate not in BUILTINS or set(literal.variables) <= known


def settled(term: Term, known: set[Variable]) -> bool:
    """Whether the term may be compared, or be given a value."""
    return isinstance(term, Variable) or set(named_variables(term)) <= known


def in_order(body: Sequence[Literal], known: set[Variable], outside: set) -> list[Literal]:
    """The body in an order in which each literal is ready at its turn; tests come early."""
    known, waiting, done = set(known), list(body), []
    while waiting:
        usable = [part for part in waiting if ready(part, known, outside)]
        if not usable:
            raise AssertionError(f"no values for {'; '.join(map(str, waiting))}")
        first = min(usable, key=lambda part: isinstance(part, Atom) and part.predicate not in TESTS)
        done.append(first)
        waiting = [part for part in waiting if part is not first]
        known |= direct([first])
    return done


def solutions(
    body: Sequence[Literal], rows: Rows, given: Binding, outside: Iterable[Variable] = ()
) -> list[Binding]:
    """Every binding of the body's variables with which it holds, `given` in each."""
    visible = {*outside, *direct(body)}
    bindings = [given]
    for part in in_order(flattened(body), set(given), visible):
        bindings = [more for one in bindings for more in extended(part, one, rows, visible)]
    return bindings


# printing


def put_in(part: Literal, binding: Binding) -> Literal:
    """The literal with values for variables; arithmetic is worked out, but not in built-ins."""
    if isinstance(part, Negation):
        return Negation(put_in(part.atom, binding))
    if isinstance(part, Aggregate):
        term = None if part.term is None else put_into(part.term, binding)
        body = tuple(put_in(inner, binding) for inner in part.body)
        return Aggregate(part.function, worked_out(part.result, binding), term, body)
    put = put_into if part.predicate in BUILTINS else worked_out
    return Atom(part.predicate, tuple(put(term, binding) for term in part.args))


def put_into(term: Term, binding: Binding) -> Term:
    if isinstance(term, Expression):
        left, right = put_into(term.left, binding), put_into(term.right, binding)
        return Expression(term.operator, left, right)
    return binding.get(term, term) if isinstance(term, Variable) else term


def worked_out(term: Term, binding: Binding) -> Term:
    """With values put in where it has no value as a whole."""
    known = all(variable in binding for variable in named_variables(term))
    value = value_of(term, binding) if known and term != Variable("_") else None
    return put_into(term, binding) if value is None else value
