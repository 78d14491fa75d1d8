"""Rules that earlier sessions suggest, each with what speaks for it. Nothing here is in force."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import permutations

from harness.rulebook.evidence import SessionRecord, TurnRecord
from rules.terms import quote

GATE = "run_tests"
MOST = 10
"""Proposals made at once: the best supported ones."""
_MOST_FILES = 12
"""A turn that changed more files than this says nothing about two of them."""
_SHARE = 0.8
"""Of the sessions that changed the first file, those that also changed the second."""


@dataclass(frozen=True)
class Proposal:
    """`rules` are texts with `{name}` for what they will be called, until they are `named`;
    `key` tells one proposal from another, however its rules are called; `reason` tells of
    counts; `sessions` are the ids of those that speak for it."""

    title: str
    key: str
    rules: tuple[str, ...]
    reason: str
    sessions: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """What the rules are called."""
        return frozenset(text.partition(":")[0] for text in self.rules)

    def named(self, taken: AbstractSet[str]) -> Proposal:
        """With names that are not taken yet."""
        number, found = 1, self._called(self.title)
        while not found.names.isdisjoint(taken):
            number += 1
            found = self._called(f"{self.title}_{number}")
        return found

    def _called(self, name: str) -> Proposal:
        return replace(self, rules=tuple(text.format(name=name) for text in self.rules))


def propose(
    records: Iterable[SessionRecord], least: int, exists: Callable[[str], bool]
) -> list[Proposal]:
    """What at least `least` sessions speak for, best supported first. `exists` tells whether a
    path is in the workspace now."""
    records = list(records)
    found = [*_gates(records, least), *_companions(records, least, exists)]
    found.sort(key=lambda proposal: (-len(proposal.sessions), proposal.title))
    return found[:MOST]


def _companions(
    records: list[SessionRecord], least: int, exists: Callable[[str], bool]
) -> Iterator[Proposal]:
    """Two files of which one hardly ever changed without the other."""
    changed: Counter[str] = Counter()
    together: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for record in records:
        turns = [turn for turn in record.turns if turn.kept]
        changed.update({path for turn in turns for path in turn.changed})
        for pair in {pair for turn in turns for pair in _pairs(turn)}:
            together[pair].append(record.id)
    for (first, second), ids in together.items():
        enough = len(ids) >= least and len(ids) >= _SHARE * changed[first]
        if enough and exists(first) and exists(second):
            yield _companion(first, second, ids, changed[first])


def _pairs(turn: TurnRecord) -> Iterator[tuple[str, str]]:
    if len(turn.changed) <= _MOST_FILES:
        yield from permutations(turn.changed, 2)


def _companion(first: str, second: str, ids: list[str], of: int) -> Proposal:
    why = f"{first} has mostly been changed together with {second}"
    rule = (
        f"{{name}}: file_modified({_text(first)}) + not file_modified({_text(second)})"
        f" + not file_deleted({_text(second)}) -> integrity('review', {_text(why)}, {_text(first)})"
    )
    title = f"companion_{_word(first)}_{_word(second)}"
    reason = f"{second!r} changed in {len(ids)} of the {of} sessions that changed {first!r}"
    return Proposal(title, rule, (rule,), reason, tuple(ids))


def _gates(records: list[SessionRecord], least: int) -> Iterator[Proposal]:
    """Places whose change made no tests due, and after which tests failed."""
    missed: defaultdict[str, list[str]] = defaultdict(list)
    for record in records:
        for place in sorted(_missed(record)):
            missed[place].append(record.id)
    for place, ids in missed.items():
        if len(ids) >= least:
            yield _gate(place, ids)


def _missed(record: SessionRecord) -> set[str]:
    """The places of one session: changed without tests, before tests failed that were due for
    another change, or that somebody ran by hand."""
    unchecked: set[str] = set()
    found: set[str] = set()
    for turn in record.turns:
        own = {_place(path) for path in turn.changed}
        if GATE in turn.due:
            found |= unchecked - own if GATE in turn.failed else set()
            unchecked = set() if GATE in turn.passed else unchecked - own
        else:
            unchecked |= own
            found |= unchecked if turn.tried else set()
    return found


def _place(path: str) -> str:
    """The folder at the root that holds the file, or the file itself when none does."""
    return path.partition("/")[0]


def _gate(place: str, ids: list[str]) -> Proposal:
    condition = f"file_modified(?file) + path_in({_text(place)}, ?file)"
    rules = (
        f"{{name}}_gate: {condition} -> verify_gate('{GATE}')",
        f"{{name}}_target: {condition} + is_test(?test) -> gate_target('{GATE}', ?test)",
    )
    reason = f"tests failed in {len(ids)} sessions after {place!r} was changed and none were due"
    return Proposal(f"tests_{_word(place)}", "\n".join(rules), rules, reason, tuple(ids))


def _text(value: str) -> str:
    """A value as it is written in a rule, safe to be formatted once more."""
    return quote(value).replace("{", "{{").replace("}", "}}")


def _word(path: str) -> str:
    word = re.sub(r"[^a-z0-9]+", "_", path.lower()).strip("_")[-30:].strip("_")
    return word if word else "file"
