"""Rules in the neutral JSON form, written in our language.

term     {"var": name}, where `_1`, `_2` ... are wildcards; {"const": value};
         {"op": "+", "args": [term, term]}
literal  {"kind": "pos" | "neg", "pred": name, "args": terms}
         {"kind": "cmp", "op": "<", "l": term, "r": term}
         {"kind": "agg", "op": "sum", "result": term, "target": term | null, "body": literals}
rule     {"head": {"pred": name, "args": terms}, "body": literals}
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from rules.statements import AGGREGATES

Json = dict[str, Any]

# what our language keeps for itself
KEPT = {
    *AGGREGATES,
    *("not", "starts_with", "ends_with", "contains", "matches", "path_in", "glob"),
}
SIGNS = {"pos": "", "neg": "not "}


class Names:
    """How the predicates of a case are called in our language.

    A name that our language does not have is replaced, and so is one that is used with several
    numbers of arguments: `edge` becomes `edge_2` and `edge_3`.
    """

    def __init__(self, uses: Iterable[tuple[str, int]]) -> None:
        self.arities: dict[str, set[int]] = {}
        for predicate, arity in uses:
            self.arities.setdefault(predicate, set()).add(arity)
        self._written: dict[tuple[str, int], str] = {}
        taken = set(self.arities)
        for predicate, arities in self.arities.items():
            for arity in sorted(arities):
                name = predicate
                if len(arities) > 1 or not usable(predicate):
                    name = fresh(f"{plain(predicate)}_{arity}", taken)
                self._written[predicate, arity] = name

    def written(self, predicate: str, arity: int) -> str:
        return self._written.get((predicate, arity), predicate)

    def all_written(self, predicate: str) -> list[tuple[str, int]]:
        """The names of a predicate, with the number of arguments of each."""
        return [(self.written(predicate, n), n) for n in sorted(self.arities.get(predicate, ()))]


def usable(name: str) -> bool:
    return re.fullmatch(r"[^\W\d_]\w*", name) is not None and name not in KEPT


def plain(name: str) -> str:
    return "p_" + re.sub(r"\W", "_", name)


def fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def uses(case: Json) -> Iterator[tuple[str, int]]:
    """Every predicate with a number of arguments, as often as it occurs."""
    for predicate, rows in case["facts"].items():
        yield from ((predicate, len(row)) for row in rows)
    for rule in case["rules"]:
        yield rule["head"]["pred"], len(rule["head"]["args"])
        yield from uses_of(rule["body"])
    for step in case.get("steps", ()):
        for predicate, row in (*step["assert"], *step["retract"]):
            yield predicate, len(row)


def uses_of(body: list[Json]) -> Iterator[tuple[str, int]]:
    for literal in body:
        if literal["kind"] == "agg":
            yield from uses_of(literal["body"])
        elif literal["kind"] in SIGNS:
            yield literal["pred"], len(literal["args"])


def clauses(rules: list[Json], names: Names) -> str:
    """The rules in the conventional notation, one a line."""
    return "\n".join(_clause(rule, names) for rule in rules)


def traces(rules: list[Json], names: Names) -> str:
    """The rules in the trace notation, one a line."""
    return "\n".join(_trace(rule, names) for rule in rules)


def _clause(rule: Json, names: Names) -> str:
    head = _atom(rule["head"], names)
    body = ", ".join(_literal(part, names) for part in rule["body"])
    return f"{head} :- {body}." if body else f"{head}."


def _trace(rule: Json, names: Names) -> str:
    head = _atom(rule["head"], names)
    body = " + ".join(_literal(part, names) for part in rule["body"])
    return f"{body} -> {head}" if body else f"{head}."


def _literal(part: Json, names: Names) -> str:
    if part["kind"] == "cmp":
        return f"{_term(part['l'])} {part['op']} {_term(part['r'])}"
    if part["kind"] == "agg":
        target = f" {_term(part['target'])}" if part["target"] else ""
        body = ", ".join(_literal(inner, names) for inner in part["body"])
        return f"{_term(part['result'])} = {part['op']}{target} : {{ {body} }}"
    if part["kind"] == "not":
        return f"not {_literal(part['of'], names)}"
    if part["kind"] == "builtin":
        return f"{part['pred']}({_terms(part['args'])})"
    return SIGNS[part["kind"]] + _atom(part, names)


def _atom(atom: Json, names: Names) -> str:
    return f"{names.written(atom['pred'], len(atom['args']))}({_terms(atom['args'])})"


def _terms(terms: list[Json]) -> str:
    return ", ".join(map(_term, terms))


def _term(term: Json) -> str:
    if "op" in term:
        left, right = map(_term, term["args"])
        return f"({left} {term['op']} {right})"
    if "const" in term:
        return quoted(term["const"])
    name = term["var"]
    return "_" if re.fullmatch(r"_\d*", name) else f"?{name}"


def quoted(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(c, c) for c in value) + '"'
