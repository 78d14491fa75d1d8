"""Every text that is sent to the model on the harness's own account.

The system prompt never changes within a session, so that a local server can keep its cache of
the prompt's beginning; what changes from turn to turn goes to the end of the user's message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.model.history import GO_ON

if TYPE_CHECKING:
    from harness.gates.values import Verdict
    from harness.ooda.turn import Pick

SYSTEM = """\
You are a coding agent working in one workspace. You act only through the tools you are given.
- Paths are relative to the workspace root.
- Look before you change: read a file before you edit it.
- Prefer patch_file for small changes and write_file for new files. Keep to what was asked.
- Do not weaken, skip or delete tests to make them pass.
- When the request is done, answer in one or two sentences without calling a tool.
- A message may follow that says which check failed. Then find the cause and repair it.
"""

VERIFIED = """\
When you stop calling tools, the harness checks the change (syntax, and the tests that cover it).
"""


def system(ooda: bool) -> str:
    return SYSTEM + (VERIFIED if ooda else "")


CHANGED_ELSEWHERE = "(Changed since your last turn, not by you: "
CODE = "Code that may matter:\n"
CONVENTIONS = "Required by this project's conventions:\n"
NOT_ACCEPTED = "Your change is not accepted yet. These checks failed:"


def request(text: str, context: str, elsewhere: tuple[str, ...]) -> str:
    """The user's message: the request first, then what the model cannot know."""
    parts = [text]
    if elsewhere:
        listed = ", ".join(elsewhere[:10]) + (" ..." if len(elsewhere) > 10 else "")
        parts.append(f"{CHANGED_ELSEWHERE}{listed})")
    if context:
        parts.append(context)
    return "\n\n".join(parts)


def context(picks: Iterable[Pick]) -> str:
    """Code first, conventions last: the end of the message is what a small model obeys best."""
    picks = tuple(picks)
    code = [pick for pick in picks if pick.kind == "code"]
    entries = [pick for pick in picks if pick.kind == "entry"]
    parts: list[str] = []
    if code:
        parts.append(CODE + "\n\n".join(pick.text for pick in code))
    if entries:
        lines = "\n".join(pick.text for pick in entries)
        parts.append(f"{CONVENTIONS}{lines}\nThe change must satisfy each.")
    return "\n\n".join(parts)


def asked(message: str) -> str:
    """The request in a user message, without what the harness added to it."""
    for added in (CHANGED_ELSEWHERE, CODE, CONVENTIONS):
        message = message.partition(f"\n\n{added}")[0]
    return message


def feedback(failed: Iterable[Verdict]) -> str:
    """What goes back to the model after a failed verification."""
    parts = [NOT_ACCEPTED]
    parts += [
        f"{verdict.gate}: {verdict.reason}\n{verdict.feedback}".rstrip() for verdict in failed
    ]
    parts.append("Find the cause and repair it, then say that you are done.")
    return "\n\n".join(parts)


REPEATED = "(You have made this same call {count} times with the same result. Do something else.)"
CIRCLING = (
    "(You go round in circles: you have made these same {calls} calls {count} times with the same "
    "results. Do something else.)"
)
UNDONE = (
    "(You have made this same edit {count} times, and undone it in between. Do something else.)"
)
ASK_AGAIN = "Your last reply could not be used: {detail} Send it again."
CALL_DUE = (
    "it says in words what to do, and nothing was done. Reply with the tool call that does the "
    "first step."
)

EARLIER = "Earlier in this session (shortened by the harness to save context):"
NOTED = "Noted."
"""What stands for the model's answer to the summary of earlier turns."""

STEPS_SO_FAR = "(My steps so far, shortened by the harness to save context:)"
CARRY_ON = "Go on with the request above."
"""Follows the summary of steps: the user has to speak before the model calls a tool again."""


def is_remark(message: str) -> bool:
    """Whether a user message is the harness's own, and no request."""
    return message in (GO_ON, CARRY_ON) or message.startswith((NOT_ACCEPTED, _ASKED_AGAIN))


_ASKED_AGAIN = ASK_AGAIN.partition("{")[0]
