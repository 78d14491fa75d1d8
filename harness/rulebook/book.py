"""The rule files of one workspace as their user sees and changes them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config import Places, check_size
from harness.errors import ConfigError, UserError
from harness.rulebook import faults, files, loading, switches, writing
from harness.rulebook.files import RuleFile
from harness.rulebook.loading import Loaded
from harness.rulebook.switches import Switches
from rules import Diagnostic, Program, Rule, RuleError
from rules.statements import atoms_of

if TYPE_CHECKING:
    from harness.rulebook.proposals import Proposal


@dataclass(frozen=True)
class Checked:
    """What a text is, read as rules: its statements, and what there is to say about it. `whole`
    is the program in force with it; `objection` why it is not taken all the same; `on_again` names
    rules of it that had been switched off."""

    statements: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    whole: Program | None = None
    objection: str = ""
    on_again: tuple[str, ...] = ()

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
        return self._checked(own, self.loaded.whole)

    def check_file(self, named: str | Path) -> Checked:
        """The same for a file, in the place of what was loaded from it. A relative name starts
        from the workspace. Raises UserError."""
        try:
            path = self._where.workspace / os.path.expanduser(named)
            check_size(path)
            own = Program.load(path, files.tier_of(path, self._where))
        except RuleError as error:
            return Checked((), error.diagnostics)
        except OSError as error:
            raise UserError(f"cannot read {str(path)!r}: {error.strerror}") from error
        except ValueError as error:  # a character that no file name can have
            raise UserError(f"cannot read {str(named)!r}: {error}") from error
        return self._checked(own, self.loaded.besides(path, own))

    def add(
        self, text: str, *, everywhere: bool = False, objects: Objects = lambda program: ""
    ) -> tuple[Checked, Path]:
        """Append the rules in `text` to the workspace's own file, or to the user's, and load them.

        Nothing is written when the check refuses them, or `objects` does. Those that had been
        switched off are on again. Raises UserError.
        """
        file = files.global_file(self._where) if everywhere else files.local_file(self._where)
        checked = self.check(text, "the rule", file.tier)
        if not checked.statements and not checked.refused:
            raise UserError("there is no rule in it: write `condition -> conclusion`")
        if checked.whole is not None and not checked.refused:
            checked = replace(checked, objection=objects(checked.whole))
        if not checked.refused:
            on_again = self._append(file, writing.as_kept(text, checked.statements, file.tier))
            checked = replace(checked, on_again=on_again)
        return checked, file.path

    def proposals(self, least: int, session: str) -> list[Proposal]:
        """What at least `least` sessions other than `session` suggest, and nobody has decided."""
        from harness.rulebook import evidence
        from harness.rulebook.proposals import propose

        records = evidence.sessions(self._where.sessions, besides=session)
        there, rejected = self._where.workspace, self.loaded.switches.rejected
        named: list[Proposal] = []
        taken = set(self.names)
        for each in propose(records, least, lambda path: os.path.lexists(there / path)):
            proposal = each.named(taken)
            if each.key not in rejected and not all(map(self._knows, proposal.rules)):
                named.append(proposal)
                taken |= proposal.names
        return named

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
        file, rule = self._rule(name)
        if rule.tier == "kernel":
            raise UserError(
                f"{name!r} is a rule of the kernel: what it asks for cannot be switched off"
            )
        if not loading.may_be_off(rule):
            raise UserError(f"{name!r} is a stated fact: {self._instead(file, rule)}")
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

    def _instead(self, file: RuleFile, fact: Rule) -> str:
        if not file.shipped:
            return f"take it out of {fact.source!r} instead"
        name = fact.head.predicate
        lower = (rule for _, rule in self.loaded.rules if loading.may_be_off(rule))
        reading = [
            f"/rules off {rule.name}"
            for rule in lower
            if any(atom.predicate == name for atom in atoms_of(rule.body))
        ]
        return f"switch off what reads it instead: {', '.join(reading) or 'no rule does'}"

    def _checked(self, own: Program, others: Program) -> Checked:
        """Rules that are switched off are no part of what is warned about."""
        try:
            whole = self._on(others.extend(own))
        except RuleError as error:
            there = sorted({rule.name for rule in own.statements} & self.loaded.off)
            hint = "; ".join(f"{name!r} is switched off: /rules on {name}" for name in there)
            return Checked((), error.diagnostics, objection=hint)
        before = set(self._on(others).warnings)
        warnings = tuple(each for each in whole.warnings if each not in before)
        return Checked(_texts(own), warnings, whole)

    def _on(self, program: Program) -> Program:
        """What of it is not switched off."""
        return program.without(self.loaded.off) if self.loaded.off else program

    def _append(self, file: RuleFile, text: str) -> tuple[str, ...]:
        """The names of those that had been switched off, and are on again."""
        in_workspace = file.tier == "workspace"
        root = self._where.workspace if in_workspace else None
        # what is for one workspace does not need a home that can be written
        lock = (self._where.local if in_workspace else self._where.user) / "rules.lock"

        def check(lines: int) -> None:
            try:
                before = Program.load(file.path, file.tier) if file.path.exists() else Program()
                # at its place, so that it is called after the right line
                added = Program.parse("\n" * lines + text, str(file.path), file.tier)
                own = before.extend(added)
                self.loaded.besides(file.path, own).extend(own)
            except RuleError as error:
                why = f"{faults.first_of(error)}; nothing was written"
                raise ConfigError(f"{why} (/rules check {file.path} shows all)") from error

        writing.append(file.path, text, check, lock=lock, root=root)
        count = len(Program.parse(text, tier=file.tier).statements)
        try:
            self.reload()
            return self._switch_on_last(file, count)
        except UserError as error:
            raise ConfigError(f"it is kept in {str(file.path)!r}, but off: {error}") from error

    def _switch_on_last(self, file: RuleFile, count: int) -> tuple[str, ...]:
        """Whoever adds a rule wants it, whatever was decided about one that was there before."""
        loaded, real = self.loaded, os.path.realpath(file.path)
        own = [rule for _, rule in loaded.rules if os.path.realpath(rule.source) == real]
        added = own[len(own) - count :]
        on_again = tuple(rule.name for rule in added if rule.name in loaded.off)
        kept = {loaded.kept_as[name] for name in on_again}
        kept |= {rule.label for rule in added} & loaded.switches.off.keys()
        if kept:
            self._choose(lambda now: now.with_on(*kept))
        return on_again

    def _choose(self, change: Callable[[Switches], Switches]) -> None:
        lock = self._where.user / "rules.lock"
        chosen = switches.update(loading.switches_file(self._where), change, lock=lock)
        self.loaded = loading.in_force(self.loaded.whole, self.loaded.parts, chosen)

    def _rule(self, name: str) -> tuple[RuleFile, Rule]:
        for file, rule in self.loaded.rules:
            if rule.name == name:
                return file, rule
        from difflib import get_close_matches

        near = get_close_matches(name, self.names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "/rules lists them with their names"
        raise UserError(f"there is no rule {name!r}: {hint}")


def _texts(program: Program) -> tuple[str, ...]:
    """Every statement as it is written in a file, without comments."""
    directives = (*program.declarations, *program.guards)
    return tuple(map(str, (*directives, *program.statements, *program.queries)))
