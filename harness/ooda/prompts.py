"""Every text that is sent to the model on the harness's own account.

The system prompt never changes within a session, so that a local server can keep its cache of
the prompt's beginning; what changes from turn to turn goes to the end of the user's message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

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


def request(text: str, context: str, elsewhere: tuple[str, ...]) -> str:
    """The user's message: the request first, then what the model cannot know."""
    parts = [text]
    if elsewhere:
        listed = ", ".join(elsewhere[:10]) + (" ..." if len(elsewhere) > 10 else "")
        parts.append(f"(Changed since your last turn, not by you: {listed})")
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
        parts.append("Code that may matter:\n" + "\n\n".join(pick.text for pick in code))
    if entries:
        lines = "\n".join(pick.text for pick in entries)
        parts.append(
            f"Required by this project's conventions:\n{lines}\nThe change must satisfy each."
        )
    return "\n\n".join(parts)


def feedback(failed: Iterable[Verdict]) -> str:
    """What goes back to the model after a failed verification."""
    parts = ["Your change is not accepted yet. These checks failed:"]
    parts += [
        f"{verdict.gate}: {verdict.reason}\n{verdict.feedback}".rstrip() for verdict in failed
    ]
    parts.append("Find the cause and repair it, then say that you are done.")
    return "\n\n".join(parts)


REPEATED = "(You have made this same call {count} times with the same result. Do something else.)"
ASK_AGAIN = "Your last reply could not be used: {detail} Send it again."
