"""What must hold of rules before they run, beyond their grammar."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from rules.analysis import advice, signatures
from rules.analysis.constant_patterns import bad_patterns
from rules.analysis.governance import tier_violations
from rules.analysis.safety import unsafe, unsafe_query
from rules.analysis.stratification import unstratified
from rules.analysis.value_types import type_clashes
from rules.analysis.wildcards import misplaced, misplaced_in_query
from rules.errors import MAX_DIAGNOSTICS, Diagnostic
from rules.statements import Declaration, Guard, Query, Rule


class Parts(NamedTuple):
    """What a program consists of; `statements` are rules, and facts as rules without a body."""

    statements: tuple[Rule, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    guards: tuple[Guard, ...] = ()
    queries: tuple[Query, ...] = ()


def faults(parts: Parts) -> list[Diagnostic]:
    """Everything for which the parts cannot be one program, not ordered by place.

    An aggregate in a conclusion repeats the conditions of its rule, and what is wrong with them.
    """
    return list(dict.fromkeys(_faults(parts)))


def warnings(parts: Parts) -> list[Diagnostic]:
    """What is allowed and yet likely a mistake, of each kind no more than a text may have faults;
    the parts have none."""
    statements, declarations = parts.statements, parts.declarations
    kinds = (
        advice.unknown_predicates(statements, declarations, parts.guards, parts.queries),
        advice.disguised_variables(statements),
        advice.lone_variables(statements),
        advice.repeated_rules(statements),
    )
    found = (warning for kind in kinds for warning in islice(kind, MAX_DIAGNOSTICS))
    return list(dict.fromkeys(found))


def _faults(parts: Parts) -> Iterator[Diagnostic]:
    statements, declarations, guards = parts.statements, parts.declarations, parts.guards
    yield from signatures.reserved_names(statements, declarations, guards)
    yield from signatures.reserved_labels(statements)
    for rule in statements:
        if rule.body or not all(isinstance(term, str | int) for term in rule.head.args):
            yield from misplaced(rule)
            yield from unsafe(rule)
        yield from bad_patterns(rule.body)
    for query in parts.queries:
        yield from misplaced_in_query(query)
        yield from unsafe_query(query)
        yield from bad_patterns(query.body)
    yield from signatures.duplicate_declarations(declarations)
    yield from signatures.arity_clashes(statements, declarations, guards, parts.queries)
    yield from signatures.duplicate_names(statements)
    yield from type_clashes(statements, declarations, parts.queries)
    yield from unstratified(statements)
    yield from tier_violations(statements, guards)
