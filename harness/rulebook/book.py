"""The rule files of one workspace as their user sees and changes them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config import Places
from harness.errors import ConfigError, UserError
from harness.rulebook import files, loading, switches, writing
from harness.rulebook.files import RuleFile
from harness.rulebook.loading import Loaded
from harness.rulebook.switches import Switches
from rules import Diagnostic, Program, Rule, RuleError

if TYPE_CHECKING:
    from harness.rulebook.proposals import Proposal


@dataclass(frozen=True)
class Checked:
    """What a text is, read as rules: its statements, and what there is to say about it. `whole`
    is the program that it makes with all others; `objection` why it is not taken all the same."""

    statements: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    whole: Program | None = None
    objection: str = ""

    @property
    def refused(self) -> bool:
        errors = any(each.severity == "error" for each in self.diagnostics)
        return errors or bool(self.objection)


Objects = Callable[[Program], str]
"""Given the rules that would be in force, why they must not be; or nothing."""


class Rulebook:
    """Keeps `loaded` in step with what it writes."""

    def __init__(self, where: Places) -> None:
        """Raises ConfigError for rules that cannot be used."""
        self._where = where
        self.loaded: Loaded = loading.load(where)

    @property
    def program(self) -> Program:
        """The rules in force."""
        return self.loaded.program

    @property
    def names(self) -> frozenset[str]:
        return frozenset(rule.name for _, rule in self.loaded.rules)

    def check(self, text: str, source: str, tier: str) -> Checked:
        """Check a text together with all rules there are. Nothing comes into force."""
        try:
            own = Program.parse(text, source=source, tier=tier)
        except RuleError as error:
            return Checked((), error.diagnostics)
        return _checked(own, self.loaded.whole)

    def check_file(self, path: Path) -> Checked:
        """The same for a file, in the place of what was loaded from it. Raises UserError."""
        tier = files.tier_of(path, self._where)
        try:
            files.check_size(path)
            own = Program.load(path, tier)
        except RuleError as error:
            return Checked((), error.diagnostics)
        except OSError as error:
            raise UserError(f"cannot read {str(path)!r}: {error.strerror}") from error
        return _checked(own, self.loaded.besides(path, own))

    def add(
        self, text: str, *, everywhere: bool = False, objects: Objects = lambda program: ""
    ) -> tuple[Checked, Path]:
        """Append the rules in `text` to the workspace's own file, or to the user's, and load them.

        Nothing is written when the check refuses them, or `objects` does. Raises UserError.
        """
        file = files.global_file(self._where) if everywhere else files.local_file(self._where)
        checked = self.check(text, "the rule", file.tier)
        if not checked.statements and not checked.refused:
            raise UserError("there is no rule in it: write `condition -> conclusion`")
        if checked.whole is not None and not checked.refused:
            objection = objects(checked.whole.without(self.loaded.off))
            checked = replace(checked, objection=objection)
        if not checked.refused:
            self._append(file, "\n".join(checked.statements))
        return checked, file.path

    def proposals(self, least: int, session: str) -> list[Proposal]:
        """What at least `least` sessions other than `session` suggest, and nobody has decided."""
        from harness.rulebook import evidence
        from harness.rulebook.proposals import propose

        records = evidence.sessions(self._where.sessions, besides=session)
        there, rejected = self._where.workspace, self.loaded.switches.rejected
        found = propose(records, least, lambda path: os.path.lexists(there / path))
        named = [each.named(self.names.__contains__) for each in found if each.key not in rejected]
        return [each for each in named if not all(map(self._knows, each.rules))]

    def learn(self, proposal: Proposal) -> Path:
        """Take up rules that were proposed. Raises UserError."""
        file = files.learned_file(self._where)
        evidence = " ".join(f"{proposal.reason} ({', '.join(proposal.sessions)})".split())
        self._append(file, "\n".join([f"# {evidence}", *proposal.rules]))
        return file.path

    def reject(self, proposal: Proposal) -> None:
        """Remember that a proposal is not wanted. Raises UserError."""
        self._choose(lambda now: now.with_rejected(proposal.key))

    def switch(self, name: str, *, on: bool) -> Rule:
        """Switch one rule off for this workspace, or on again. Raises UserError."""
        rule = self._rule(name)
        if rule.tier == "kernel":
            raise UserError(
                f"{name!r} is a rule of the kernel: what it asks for cannot be switched off"
            )
        if not loading.may_be_off(rule):
            raise UserError(f"{name!r} is a stated fact: take it out of {rule.source!r} instead")
        off = name in self.loaded.off
        if off != on:
            raise UserError(f"the rule {name!r} is switched {'on' if on else 'off'} already")
        text = str(rule)
        kept = self.loaded.kept_as.get(name, name)
        self._choose(lambda now: now.with_on(kept) if on else now.with_off(name, text))
        return rule

    def reload(self) -> None:
        """Read every file again. Raises ConfigError, and then keeps what was loaded."""
        self.loaded = loading.load(self._where)

    def _knows(self, text: str) -> bool:
        """Whether a rule of any tier says the same as this one, under whatever name."""
        rule = Program.parse(text, tier="learned").statements[0]
        return any((rule.head, rule.body) == (r.head, r.body) for _, r in self.loaded.rules)

    def _append(self, file: RuleFile, text: str) -> None:
        root = self._where.workspace if file.tier == "workspace" else None

        def check(lines: int) -> None:
            try:
                before = Program.load(file.path, file.tier) if file.path.exists() else Program()
                # at its place, so that it is called after the right line
                added = Program.parse("\n" * lines + text, str(file.path), file.tier)
                own = before.extend(added)
                self.loaded.besides(file.path, own).extend(own)
            except RuleError as error:
                raise ConfigError(error.first_line) from error

        writing.append(file.path, text, check, lock=self._lock, root=root)
        self.reload()

    @property
    def _lock(self) -> Path:
        return self._where.user / "rules.lock"

    def _choose(self, change: Callable[[Switches], Switches]) -> None:
        chosen = switches.update(loading.switches_file(self._where), change, lock=self._lock)
        self.loaded = loading.in_force(self.loaded.whole, self.loaded.parts, chosen)

    def _rule(self, name: str) -> Rule:
        for _, rule in self.loaded.rules:
            if rule.name == name:
                return rule
        from difflib import get_close_matches

        near = get_close_matches(name, self.names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "/rules lists them with their names"
        raise UserError(f"there is no rule {name!r}: {hint}")


def _checked(own: Program, others: Program) -> Checked:
    try:
        whole = others.extend(own)
    except RuleError as error:
        return Checked((), error.diagnostics)
    before = set(others.warnings)
    warnings = tuple(each for each in whole.warnings if each not in before)
    return Checked(_texts(own), warnings, whole)


def _texts(program: Program) -> tuple[str, ...]:
    """Every statement as it is written in a file, without comments."""
    directives = (*program.declarations, *program.guards)
    return tuple(map(str, (*directives, *program.statements, *program.queries)))
