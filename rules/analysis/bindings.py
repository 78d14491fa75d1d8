"""Which variables have a value, and from where; variables are named by their plain names.

An aggregate gets the variables that also occur outside of it, other than only within other
aggregates, from there; they make its groups. All others belong to its braces alone.
"""

from collections.abc import Iterable, Iterator, Sequence

from rules.builtins import BUILTINS
from rules.statements import Aggregate, Atom, Literal, Negation
from rules.terms import Expression, Term, Variable, named_variables


def names_in(terms: Iterable[Term]) -> list[str]:
    """The names of variables, `_` left out, once for each occurrence."""
    names = []
    for term in terms:
        if isinstance(term, Variable):
            if term.name != "_":
                names.append(term.name)
        elif isinstance(term, Expression):
            names += [variable.name for variable in named_variables(term)]
    return names


def aggregates_in(body: Iterable[Literal]) -> list[Aggregate]:
    """Those of a body, without the ones within their braces."""
    return [literal for literal in body if isinstance(literal, Aggregate)]


def shared_names(body: Sequence[Literal], others: Iterable[str] = ()) -> frozenset[str]:
    """The variables that a body shares with its aggregates; nothing if it has none.

    They are those of conditions outside of braces, of results, and `others`, which are those of
    the conclusion.
    """
    if not any(isinstance(literal, Aggregate) for literal in body):
        return frozenset()
    names = set(others)
    for literal in body:
        if isinstance(literal, Aggregate):
            names.update(names_in((literal.result,)))
        else:
            atom = literal.atom if isinstance(literal, Negation) else literal
            names.update(names_in(atom.args))
    return frozenset(names)


def group_names(aggregate: Aggregate, shared: Iterable[str]) -> frozenset[str]:
    """The variables that an aggregate gets from outside, out of all that are shared there."""
    return frozenset(v.name for v in aggregate.inner_variables).intersection(shared)


def inner_shared_names(aggregate: Aggregate, shared: frozenset[str]) -> frozenset[str]:
    """What is shared with aggregates that stand within the braces of this one."""
    term = () if aggregate.term is None else names_in((aggregate.term,))
    own = shared_names(aggregate.body, term)
    return shared | own if own else shared  # a union is as much work as all that is shared


def bound_names(
    body: Sequence[Literal], given: Iterable[str] = (), shared: Iterable[str] = ()
) -> set[str]:
    """The variables that get a value from conditions on facts, by `=`, or as a result.

    `given` have one already. `=` gives a value to a plain variable once all variables of the
    other side have one, and an aggregate to its result once all of its groups do.
    """
    known = set(given)
    steps: list[tuple[set[str], str]] = []
    for literal in body:
        if isinstance(literal, Atom):
            if literal.predicate == "=":
                steps += _equation(literal)
            elif literal.predicate not in BUILTINS:
                known.update(t.name for t in literal.args if isinstance(t, Variable))
        elif isinstance(literal, Aggregate) and isinstance(literal.result, Variable):
            steps.append((set(group_names(literal, shared)), literal.result.name))
    if steps:
        _follow(steps, known)
    known.discard("_")
    return known


def needed_names(literal: Literal, shared: Iterable[str]) -> list[str]:
    """The variables of a condition that must have their values from elsewhere."""
    if isinstance(literal, Negation):
        return names_in(literal.atom.args)
    if isinstance(literal, Aggregate):
        result = () if isinstance(literal.result, Variable) else (literal.result,)
        return [*names_in(result), *group_names(literal, shared)]
    if literal.predicate in BUILTINS:
        return names_in(literal.args)
    return names_in(term for term in literal.args if isinstance(term, Expression))


def _equation(equation: Atom) -> Iterator[tuple[set[str], str]]:
    """What each side that is a plain variable waits for."""
    if len(equation.args) == 2:
        left, right = equation.args
        for target, other in ((left, right), (right, left)):
            if isinstance(target, Variable):
                yield set(names_in((other,))), target.name


def _follow(steps: list[tuple[set[str], str]], known: set[str]) -> None:
    """Take every step whose variables are known, until no more can be taken."""
    users: dict[str, list[int]] = {}
    missing = [0] * len(steps)
    ready: list[str] = []
    for number, (needed, target) in enumerate(steps):
        needed -= known
        missing[number] = len(needed)
        for name in needed:
            users.setdefault(name, []).append(number)
        if not needed:
            ready.append(target)
    while ready:
        name = ready.pop()
        if name in known:
            continue
        known.add(name)
        for number in users.get(name, ()):
            missing[number] -= 1
            if not missing[number]:
                ready.append(steps[number][1])
