"""What a session tells a face when it is asked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RuleLine:
    """One loaded rule, for people. `tier` is kernel, default, global, workspace or learned; `off`
    marks one that is switched off, `stated` a fact that a file states."""

    tier: str
    text: str
    where: str
    name: str = ""
    off: bool = False
    stated: bool = False


@dataclass(frozen=True)
class RulesReport:
    """What `/rules` shows: facts, rules, and what follows from them. `dropped` maps the tiers
    that went too far to the reason why their rules are not in force."""

    facts: tuple[str, ...]
    rules: tuple[RuleLine, ...]
    derived: tuple[str, ...]
    dropped: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class RulesCheck:
    """What became of a text that was checked as rules. `rules` is what was read; `complaints`
    are errors and warnings with their excerpts; `where` is the file it was written to, or '';
    `on_again` names rules of it that had been switched off."""

    rules: tuple[str, ...]
    complaints: tuple[str, ...]
    refused: bool
    where: str = ""
    on_again: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProposalLine:
    """A rule, or two that belong together, that earlier sessions speak for."""

    number: int
    rules: tuple[str, ...]
    reason: str
    sessions: tuple[str, ...]


@dataclass(frozen=True)
class EntryLine:
    """What `/knowledge` shows of one entry."""

    key: str
    content: str
    scope: str
    note: str
