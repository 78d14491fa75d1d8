"""What rules say of calls: which tools it can be about, and which of several words counts."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Final

from harness.journal import on_a_line
from harness.tools.approval import Ruling
from rules import Program, Rule
from rules.statements import Atom, atoms_of

OF_TOOLS: Final = MappingProxyType(
    {
        "tool_reads": "read",
        "tool_writes": "write",
        "tool_runs": "execute",
        "tool_remembers": "remember",
    }
)
"""What is said of tools, and what those do of which it is said; see `Tool.access`."""
EVERY = frozenset(OF_TOOLS.values())
_STRICTEST_FIRST: Final = ("deny", "ask", "allow")


def ruled(program: Program) -> frozenset[str]:
    """What the tools do about which some rule of the program concludes a permission."""
    return _joined(_own(rule) for rule in program.statements if rule.head.predicate == "permission")


def lost(program: Program, tiers: Iterable[str]) -> frozenset[str]:
    """The same of what the rules and facts of `tiers` take part in."""
    gone = set(tiers)
    leads = _leads_to_permission(program.rules)
    return _joined(
        leads.get(each.head.predicate, frozenset()) & _own(each)
        for each in program.statements
        if each.tier in gone
    )


def _leads_to_permission(rules: Iterable[Rule]) -> dict[str, frozenset[str]]:
    """For each predicate from which a permission may follow, about which tools."""
    rules = list(rules)
    found = {"permission": EVERY}
    grew = True
    while grew:
        grew = False
        for rule in rules:
            wanted = found.get(rule.head.predicate, frozenset()) & _own(rule)
            for name in _predicates(rule):
                if not wanted <= found.get(name, frozenset()):
                    found[name] = found.get(name, frozenset()) | wanted
                    grew = True
    return found


def _predicates(rule: Rule) -> set[str]:
    return {atom.predicate for atom in atoms_of(rule.body)}


def _own(rule: Rule) -> frozenset[str]:
    """What the conditions on the call itself leave of all that tools do."""
    left = EVERY
    calls = {each.args[1] for each in _atoms(rule, "tool_requested") if each.args[0] in _head(rule)}
    for name, access in OF_TOOLS.items():
        if any(each.args[0] in calls for each in _atoms(rule, name)):
            left &= {access}
    if any(each.args[0] in _head(rule) for each in _atoms(rule, "command_requested")):
        left &= {"execute"}
    return left


def _head(rule: Rule) -> tuple[object, ...]:
    return rule.head.args[:1]


def _atoms(rule: Rule, predicate: str) -> list[Atom]:
    return [each for each in rule.body if isinstance(each, Atom) and each.predicate == predicate]


def _joined(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def strictest(said: Iterable[tuple[str, str]]) -> Ruling:
    """Of decisions and their reasons the strictest; a word that is none of ours has it asked."""
    reasons: dict[str, list[str]] = {}
    for decision, reason in sorted(said):
        if decision not in _STRICTEST_FIRST:
            decision, reason = "ask", f"a rule says {decision!r}: {reason}"
        reasons.setdefault(decision, []).append(on_a_line(reason))
    for known in _STRICTEST_FIRST:
        if known in reasons:
            return Ruling(known, "; ".join(reasons[known]))
    return Ruling()
