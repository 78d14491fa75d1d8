"""The rules of a workspace, from the shipped ones to the learned, checked against each other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from harness.config import Places
from harness.errors import ConfigError
from harness.rulebook import faults, files, switches
from harness.rulebook.files import RuleFile
from harness.rulebook.switches import Switches
from rules import Program, Rule, RuleError
from rules.statements import PLACE_NAME, Declaration, Guard, Query

Part = tuple[RuleFile, Program]
Of = TypeVar("Of")


@dataclass(frozen=True)
class Loaded:
    """`program` is what is in force; `rules` every rule and stated fact, strongest tier first,
    switched off or not, each with its file; `parts` are what was read from each file, in order;
    `whole` is all of that together; `off` are the names of rules that are switched off, and
    `kept_as` what they were called when they were; `notices` are sentences for the user."""

    program: Program
    whole: Program
    rules: tuple[tuple[RuleFile, Rule], ...]
    parts: tuple[Part, ...]
    switches: Switches
    kept_as: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @property
    def off(self) -> frozenset[str]:
        return frozenset(self.kept_as)

    def besides(self, path: Path, own: Program | None = None) -> Program:
        """All that is not from the file at `path`, nor from what `own` was read from: to check
        another text of it against."""
        seen = {os.path.realpath(path)} | (_sources(own) if own is not None else set())
        return Program.union([_without_sources(part, seen) for _, part in self.parts])


def switches_file(where: Places) -> Path:
    return where.state / "rules.json"


def load(where: Places) -> Loaded:
    """Read every rule file.

    Raises ConfigError with file, line and column for rules that cannot be used. Learned ones
    that cannot are left out instead, and said to be: they must not lock anybody out.
    """
    try:
        read = ((file, _part(file)) for file in (*files.shipped(), *files.written(where)))
        parts = tuple(each_source_once(read))
        whole = Program.union([part for _, part in parts])
    except RuleError as error:
        raise ConfigError(faults.first_of(error)) from error
    except OSError as error:
        raise ConfigError(f"cannot read the rules: {error}") from error
    chosen, problem = switches.read(switches_file(where))
    notices = [problem] if problem else []
    whole, learned = _with_learned(where, whole, notices)
    return in_force(whole, (*parts, *learned), chosen, notices)


def _part(file: RuleFile) -> Program:
    try:
        return files.read(file)
    except RuleError as error:
        raise ConfigError(faults.of_file(error, file.path)) from error


def each_source_once(parts: Iterable[tuple[Of, Program]]) -> Iterator[tuple[Of, Program]]:
    """A file that others include too is read for each of them, and counts where it came first."""
    seen: set[str] = set()
    for file, part in parts:
        sources = _sources(part)
        yield file, part if seen.isdisjoint(sources) else _without_sources(part, seen)
        seen |= sources


def _sources(program: Program) -> set[str]:
    """The real paths of what it was read from."""
    names = {rule.source for rule in program.statements}
    names |= {each.span.source.name for each in _with_spans(program) if each.span}
    return set(map(os.path.realpath, names))


def _with_spans(part: Program) -> tuple[Declaration | Guard | Query, ...]:
    return (*part.declarations, *part.guards, *part.queries)


def _without_sources(part: Program, seen: set[str]) -> Program:
    real: dict[str, str] = {}

    def is_fresh(name: str) -> bool:
        if name not in real:
            real[name] = os.path.realpath(name)
        return real[name] not in seen

    def fresh(each: Declaration | Guard | Query) -> bool:
        return each.span is None or is_fresh(each.span.source.name)

    statements = [rule for rule in part.statements if is_fresh(rule.source)]
    if len(statements) == len(part.statements) and all(map(fresh, _with_spans(part))):
        return part
    return Program(
        statements,
        filter(fresh, part.declarations),
        filter(fresh, part.guards),
        filter(fresh, part.queries),
    )


def in_force(
    whole: Program, parts: Iterable[Part], chosen: Switches, notices: Iterable[str] = ()
) -> Loaded:
    """Of the program `whole` what is not switched off. A rule that reads otherwise than when it
    was switched off is on again: nobody has decided about that one."""
    parts, notices = tuple(parts), list(notices)
    of_files = [file for file, part in parts for _ in part.statements]
    # the names are those of the whole: a part does not know what else has a file of its name
    listed = tuple(zip(of_files, whole.statements, strict=True))
    lower = {rule.name: rule for _, rule in listed if may_be_off(rule)}
    off: dict[str, str] = {}
    for name, text in chosen.off.items():
        found = _switched(name, text, lower)
        if found:
            off[found] = name
        elif name in lower:
            changed = f"rule {name!r} has changed since it was switched off: it is in force again"
            notices.append(changed)
    program = whole.without(off) if off else whole
    # the shipped rules by themselves have none; looking for them takes a millisecond
    if not all(file.shipped for file, _ in parts):
        notices += map(faults.on_one_line, program.warnings)
    return Loaded(program, whole, listed, parts, chosen, off, tuple(notices))


def _switched(name: str, text: str, lower: Mapping[str, Rule]) -> str:
    """The name that the rule has now, or nothing. One that is called after its place is the same
    when it is the only one that reads so, wherever it has moved to."""
    if name in lower and str(lower[name]) == text:
        return name
    if not name.startswith(PLACE_NAME):
        return ""
    same = [each.name for each in lower.values() if not each.label and str(each) == text]
    return same[0] if len(same) == 1 else ""


def may_be_off(rule: Rule) -> bool:
    """Whether its user may switch it off."""
    return rule.tier != "kernel" and bool(rule.body)


def _with_learned(
    where: Places, whole: Program, notices: list[str]
) -> tuple[Program, tuple[Part, ...]]:
    file = files.learned_file(where)
    try:
        part = files.read(file)
        return whole.extend(part), ((file, part),)
    except FileNotFoundError:
        return whole, ()
    except RuleError as error:
        why = faults.first_of(error)
    except (ConfigError, OSError) as error:
        why = str(error)
    notices.append(f"the learned rules are left out: {why}")
    return whole, ()
