"""What a session tells a face when it is asked."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RuleLine:
    """One loaded rule, for people."""

    tier: str
    text: str
    where: str


@dataclass(frozen=True)
class RulesReport:
    """What `/rules` shows: facts, rules, and what follows from them."""

    facts: tuple[str, ...]
    rules: tuple[RuleLine, ...]
    derived: tuple[str, ...]


@dataclass(frozen=True)
class EntryLine:
    """What `/knowledge` shows of one entry."""

    key: str
    content: str
    scope: str
    note: str
