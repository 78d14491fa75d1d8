"""The command `/rules` and what comes after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from harness.errors import UserError
from harness.journal import on_a_line
from harness.terminal.face import ProposalLine, RuleLine, Rules, RulesCheck, RulesReport, Session
from harness.terminal.screen import Screen
from harness.tools.base import plural

LONG_LIST = 40
TIERS: Final = ("kernel", "default", "global", "workspace", "learned")
FORMS: Final = (
    ("why FACT", "the proof of a fact, or why it does not hold (--json)"),
    ("all", "long lists in full"),
    ("add RULE", "a rule for this workspace, in force at once (--global: for all of yours)"),
    ("check FILE", "what is wrong with a rule file; nothing is loaded"),
    ("off NAME", "switch one rule off in this workspace"),
    ("on NAME", "switch it on again"),
    ("propose", "rules that earlier sessions suggest"),
    ("accept NUMBER", "take up a proposal as a learned rule"),
    ("reject NUMBER", "do not propose it again"),
)
_EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "why": "which fact? For example: /rules why verify_gate('run_tests')",
        "add": "which rule? For example: /rules add api: file_modified(?f) + path_in('api', ?f)"
        " -> verify_gate('security')",
        "check": "which file? For example: /rules check .mini-coding-agent/rules/team.dl",
        "off": "which rule? /rules lists them with their names",
        "on": "which rule? /rules lists them with their names",
        "accept": "which proposal? /rules propose lists them with their numbers",
        "reject": "which proposal? /rules propose lists them with their numbers",
    }
)


def perform(session: Session, screen: Screen, rest: str) -> None:
    """Carry out what stands after `/rules`. Raises UserError."""
    word, given = [*rest.split(None, 1), "", ""][:2]
    if not session.ooda:
        screen.line(("", "rules are switched off by --no-ooda: no facts, no gates"))
    elif rest in ("", "all"):
        _show(screen, session.rules.report(), everything=rest == "all")
    elif rest == "propose":
        _show_proposals(screen, session.rules.propose())
    elif word not in _ACTIONS:
        known = ", ".join(form for form, _ in FORMS)
        raise UserError(f"/rules takes {known}, not {rest!r}")
    elif not given.strip():
        raise UserError(_EXAMPLES[word])
    else:
        _ACTIONS[word](session.rules, screen, given.strip())


def _why(rules: Rules, screen: Screen, given: str) -> None:
    fact, as_json = _without_flag(given, "--json")
    screen.line(("", rules.why(fact, as_json=as_json)))


def _add(rules: Rules, screen: Screen, given: str) -> None:
    text, everywhere = _without_flag(given, "--global")
    checked = rules.add(text, everywhere=everywhere)
    _show_check(screen, checked)
    if checked.refused:
        raise UserError("the rule is refused; nothing was written")
    screen.line(("dim", f"in force, and kept in {checked.where}"))
    for name in checked.on_again:
        screen.line(("dim", f"{on_a_line(name)} had been switched off, and is on again"))


def _check(rules: Rules, screen: Screen, given: str) -> None:
    checked = rules.check(given)
    for complaint in checked.complaints:
        _show_text(screen, complaint)
    count = plural(len(checked.rules), "statement")
    if checked.refused:
        raise UserError(f"{given}: it cannot be used as it is")
    screen.line(("", f"{given}: {count}, {plural(len(checked.complaints), 'warning')}"))


def _off(rules: Rules, screen: Screen, given: str) -> None:
    text = rules.switch(given, on=False)
    screen.line(("bold", "off "), ("", text))
    screen.line(("dim", f"in this workspace only; /rules on {given} brings it back"))


def _on(rules: Rules, screen: Screen, given: str) -> None:
    screen.line(("bold", "on "), ("", rules.switch(given, on=True)))


def _accept(rules: Rules, screen: Screen, given: str) -> None:
    texts, where = rules.accept(_number(given))
    for text in texts:
        screen.line(("", text))
    screen.line(("dim", f"in force, and kept in {where}; /rules off NAME switches one off"))


def _reject(rules: Rules, screen: Screen, given: str) -> None:
    for text in rules.reject(_number(given)):
        screen.line(("", text))
    screen.line(("dim", "not proposed again"))


_ACTIONS: Mapping[str, Callable[[Rules, Screen, str], None]] = MappingProxyType(
    {
        "why": _why,
        "add": _add,
        "check": _check,
        "off": _off,
        "on": _on,
        "accept": _accept,
        "reject": _reject,
    }
)


def _without_flag(given: str, flag: str) -> tuple[str, bool]:
    """What is given besides the flag, which may stand first or last."""
    if given.startswith(f"{flag} "):
        return given.removeprefix(flag).strip(), True
    if given.endswith(f" {flag}"):
        return given.removesuffix(flag).strip(), True
    return given, False


def _number(given: str) -> int:
    if not given.isdecimal() or len(given) > 9:
        raise UserError(f"{given!r} is not the number of a proposal: /rules propose lists them")
    return int(given)


def _show(screen: Screen, report: RulesReport, *, everything: bool) -> None:
    """Facts, rules by tier, and what follows, apart."""
    most = None if everything else LONG_LIST
    _section(screen, f"facts ({len(report.facts)})", report.facts, most)
    screen.line(("bold", f"rules ({_counted(report.rules)})"))
    dropped = dict(report.dropped)
    for tier in TIERS:
        own = [rule for rule in report.rules if rule.tier == tier]
        # the shipped defaults are dropped with the user's own rules: they are of one tier
        reason = dropped.get("global" if tier == "default" else tier, "")
        if own:
            note = f", dropped for this session: {reason}" if reason else ""
            _section(screen, f"{tier} rules ({_counted(own)}){note}", list(map(_rule, own)), most)
    _section(screen, f"derived gates ({len(report.derived)})", report.derived, most)


def _counted(rules: Sequence[RuleLine]) -> str:
    stated = sum(rule.stated for rule in rules)
    also = f", and {plural(stated, 'stated fact')}" if stated else ""
    return f"{len(rules) - stated}{also}"


def _rule(rule: RuleLine) -> str:
    is_named = rule.text.startswith((f"{rule.name}:", "@name("))
    named = rule.text if is_named else f"{on_a_line(rule.name)}: {rule.text}"
    return f"{'(off) ' if rule.off else ''}{named}  ({rule.where})"


def _section(screen: Screen, heading: str, items: Sequence[str], most: int | None) -> None:
    screen.line(("bold", heading))
    shown = items if most is None else items[:most]
    for item in shown:
        screen.message(" ", item, indent="    ")
    if len(shown) < len(items):
        left = plural(len(items) - len(shown), "more line")
        screen.line(("dim", f"  {screen.glyphs.dots} {left}, /rules all shows them"))


def _show_check(screen: Screen, checked: RulesCheck) -> None:
    for text in checked.rules:
        screen.line(("", text))
    for complaint in checked.complaints:
        _show_text(screen, complaint)


def _show_text(screen: Screen, text: str) -> None:
    """Lines whose columns matter."""
    for line in text.split("\n"):
        screen.line(("", line))


def _show_proposals(screen: Screen, proposals: Sequence[ProposalLine]) -> None:
    if not proposals:
        screen.line(("", "earlier sessions suggest no rule (yet)"))
    for proposal in proposals:
        first, *more = proposal.rules
        screen.line(("bold", f"{proposal.number}. "), ("", first))
        for text in more:
            screen.line(("", f"   {text}"))
        screen.message("  ", proposal.reason, indent="    ")
        screen.message("  ", f"sessions: {', '.join(proposal.sessions)}", indent="    ")
    if proposals:
        screen.line(("dim", "/rules accept NUMBER takes one up, /rules reject NUMBER drops it"))
