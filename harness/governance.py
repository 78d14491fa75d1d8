"""What the user asks of the rules of a running session, and decides about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from harness.errors import UserError
from harness.journal import Journal, on_a_line
from harness.ooda.facts import Facts
from harness.reports import ProposalLine, RuleLine, RulesCheck, RulesReport
from harness.rulebook import faults
from harness.rulebook.book import Checked, Rulebook
from harness.rulebook.files import RuleFile
from rules import DoesNotHold, Fact, Program, Rule, RuleError

if TYPE_CHECKING:
    from harness.rulebook.proposals import Proposal
    from rules.answers.provenance import Proof


class Governance:
    """The rulebook of a workspace and the facts of a session, kept in step."""

    def __init__(
        self,
        book: Rulebook,
        facts: Facts,
        journal: Journal,
        current: Callable[[], None],
        *,
        session: str,
        propose_after: int,
        supposed: Callable[[str], AbstractContextManager[str]] | None = None,
    ) -> None:
        """`current` brings the facts up to the workspace as it is; `propose_after` is the number
        of sessions that have to speak for a proposal; `supposed` has facts there that only hold
        under a protocol while a question about them is answered, and gives a remark."""
        self._supposed = supposed or (lambda question: nullcontext(""))
        self._book = book
        self._facts = facts
        self._journal = journal
        self._current = current
        self._session = session
        self._least = propose_after
        self._proposed: dict[int, Proposal] = {}

    def report(self) -> RulesReport:
        self._current()
        database, loaded = self._facts.database, self._book.loaded
        return RulesReport(
            tuple(str(fact) for fact in database.facts()),
            tuple(_line(file, rule, rule.name in loaded.off) for file, rule in loaded.rules),
            tuple(str(fact) for fact in database.derived()),
            tuple(self._facts.dropped.items()),
        )

    def why(self, fact: str, *, as_json: bool = False) -> str:
        """The proof of a fact, or why it does not hold; then also which rules for it are switched
        off, and which tiers are not in force. Raises UserError for what is no fact."""
        self._current()
        with self._supposed(fact) as remark:
            answer = self._answered(fact, as_json)
        return answer if as_json or not remark else f"{answer}\n{remark}"

    def _answered(self, fact: str, as_json: bool) -> str:
        database = self._facts.database
        try:
            return _written(database.why(fact), as_json)
        except DoesNotHold:
            absence = database.why_not(fact)
        except RuleError as error:
            raise UserError(faults.first_of(error)) from error
        if as_json:
            missing = {"off": self._off_for(absence.fact), "dropped": dict(self._facts.dropped)}
            return _as_json({**absence.to_json(), **missing})
        return "\n".join([absence.text(), *self._not_in_force(absence.fact)])

    def _off_for(self, fact: Fact) -> list[str]:
        """The rules that are switched off and could conclude it."""
        from rules.answers.absence import can_conclude

        loaded = self._book.loaded
        off = [rule for _, rule in loaded.rules if rule.name in loaded.off]
        return [
            rule.name
            for rule in off
            if rule.head.predicate == fact.predicate and can_conclude(rule, fact)
        ]

    def _not_in_force(self, fact: Fact) -> Iterator[str]:
        for name in map(on_a_line, self._off_for(fact)):
            yield f"  {name} is switched off: /rules on {name}"
        for tier, reason in self._facts.dropped.items():
            yield f"  the {tier} rules are not in force: {reason}"

    def check(self, path: str) -> RulesCheck:
        """Check a file together with the rules there are; nothing is loaded. Raises UserError."""
        return _report(self._book.check_file(path))

    def add(self, text: str, *, everywhere: bool = False) -> RulesCheck:
        """Write rules into the workspace's own file, or the user's; they are in force at once.

        Rules that would have a tier dropped are refused. Raises UserError when the file cannot be
        written.
        """
        tier = "global" if everywhere else "workspace"

        def objects(program: Program) -> str:
            dropped = self._facts.would_drop(program)
            for name, reason in dropped.items():
                if name not in self._facts.dropped:
                    return f"with it, the {name} rules would be switched off: {reason}"
                if name == tier:
                    return f"the {name} rules are not in force, nor would it be: {reason}"
            return ""

        self._current()
        checked, path = self._book.add(text, everywhere=everywhere, objects=objects)
        if checked.refused:
            return _report(checked)
        self._changed("add", checked.statements, str(path))
        return _report(checked, str(path))

    def switch(self, name: str, *, on: bool) -> str:
        """Switch one rule on or off for this workspace; its text. Raises UserError."""
        rule = self._book.switch(name, on=on)
        self._changed("on" if on else "off", (str(rule),), f"{rule.source}:{rule.line}")
        return str(rule)

    def propose(self) -> tuple[ProposalLine, ...]:
        """What earlier sessions suggest; the numbers are those that accept and reject take."""
        found = self._book.proposals(self._least, self._session)
        self._proposed = dict(enumerate(found, 1))
        return tuple(
            ProposalLine(number, each.rules, each.reason, each.sessions)
            for number, each in self._proposed.items()
        )

    def accept(self, number: int) -> tuple[tuple[str, ...], str]:
        """Take up a proposal as learned rules: its rules and their file. Raises UserError."""
        proposal = self._numbered(number)
        path = str(self._book.learn(proposal))
        self._changed("accept", proposal.rules, path)
        del self._proposed[number]
        return proposal.rules, path

    def reject(self, number: int) -> tuple[str, ...]:
        """Do not propose this again: its rules. Raises UserError."""
        proposal = self._numbered(number)
        self._book.reject(proposal)
        self._changed("reject", proposal.rules, "")
        del self._proposed[number]
        return proposal.rules

    def _numbered(self, number: int) -> Proposal:
        if not self._proposed:
            self.propose()
        if number not in self._proposed:
            raise UserError(f"there is no proposal {number}: /rules propose lists them")
        return self._proposed[number]

    def _changed(self, action: str, texts: tuple[str, ...], where: str) -> None:
        """Bring what was decided into force, and say so in the journal."""
        self._journal.emit("rules_changed", action=action, rules=list(texts), where=where)
        self._facts.replace(self._book.program)


def _written(proof: Proof, as_json: bool) -> str:
    return _as_json(proof.to_json()) if as_json else proof.text()


def _as_json(record: Mapping[str, object]) -> str:
    import json

    return json.dumps(record, indent=2, ensure_ascii=False)


def _line(file: RuleFile, rule: Rule, off: bool) -> RuleLine:
    tier, where = rule.tier, faults.without_folder(f"{rule.source}:{rule.line}")
    if file.shipped and tier != "kernel":
        tier = "default"
    return RuleLine(tier, str(rule), where, rule.name, off, not rule.body)


def _report(checked: Checked, where: str = "") -> RulesCheck:
    complaints = [faults.without_folder(str(each)) for each in checked.diagnostics]
    complaints += [checked.objection] if checked.objection else []
    return RulesCheck(
        checked.statements, tuple(complaints), checked.refused, where, checked.on_again
    )
