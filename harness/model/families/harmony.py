"""Harmony, the channels of gpt-oss: what the model thinks, does and says, in one stream.

`analysis` is thought, `commentary` with a recipient is a call, `commentary` without one and
`final` are for the user.
"""

import re
from dataclasses import replace

from harness.model.families.form import (
    CUT,
    NOT_LAST,
    UNREADABLE,
    Block,
    Problem,
    Written,
    called,
    failed,
    named,
)
from harness.model.offer import Offer
from harness.model.repair import read_value

_MESSAGE = re.compile(
    r"\s*(?P<head>(?:<\|(?:start|channel)\|>[^<]{0,200}){1,3}(?:<\|constrain\|>[^<]{0,80})?)"
    r"<\|message\|>"
)
# the first token may be lost, since servers take it for their own
_FIRST = re.compile(
    r"(?P<head>(?:analysis|commentary|final)(?: to=[^<\n]{0,200})?(?:<\|constrain\|>[^<]{0,80})?)"
    r"<\|message\|>"
)
_BODY_END = re.compile(r"<\|(?:end|call|return)\|>|(?=<\|(?:start|channel)\|>)|\Z")
_FIRST_SO_FAR = re.compile(
    r"(?:analysis|commentary|final)(?: (?:t(?:o(?:=[^\n]*)?)?)?)?(?:<[^\n]*)?\Z"
)
_CHANNEL = re.compile(r"(?:<\|channel\|>|\A)\s*(\w+)")
_RECIPIENT = re.compile(r"\bto=([^\s<]{1,200})")
_PLAIN_WINDOW = 200
_PLAIN_ANALYSIS = re.compile(r"analysis(?=[A-Z])")
_PLAIN_NEXT = re.compile(r"assistant(?:final|commentary(?= to=))")
_PLAIN_CALL = re.compile(
    r"(?:assistant)?commentary to=functions\.([\w.\-]{1,80}) ?(?:json|code)?\s{0,9}(?=\{)"
)
_TOKEN = re.compile(r"<\|[a-z_]{1,40}\|>")


def read_harmony(text: str, start: int, offer: Offer) -> Block | None:
    """A run of channel messages, up to the first thing that is none."""
    calls: list[Written | Problem] = []
    thoughts: list[str] = []
    said: list[str] = []
    last_is_call = False
    at = start
    while message := _MESSAGE.match(text, at) or (at == start and _FIRST.match(text, at)):
        ending = _BODY_END.search(text, message.end())
        end = ending.start() if ending else len(text)
        at = ending.end() if ending else len(text)
        body = text[message.end() : end]
        recipient = _RECIPIENT.search(message["head"])
        last_is_call = recipient is not None
        if recipient and (text.startswith("<|call|>", end) or _is_whole(body)):
            calls.append(named(recipient[1], body, offer))
        elif recipient:
            calls.append(Problem("malformed_tool_call", CUT))
        elif _channel(message["head"]) in ("final", "commentary"):
            said.append(_TOKEN.sub("", body).strip())
        else:
            thoughts.append(body.strip())
    if at == start:
        return None
    text_said, thought = "\n".join(said), "\n".join(thoughts)
    if text[at:].strip():
        return _with(failed(start, len(text), UNREADABLE), text_said, thought)
    if calls and not last_is_call:
        return _with(failed(start, at, NOT_LAST), text_said, thought)
    problems = [call for call in calls if isinstance(call, Problem)]
    if problems:
        return _with(failed(start, at, problems[0]), text_said, thought)
    made = tuple(call for call in calls if isinstance(call, Written))
    return Block(start, at, made, tagged=True, text=text_said, reasoning=thought)


def begins_first(text: str, at: int, final: bool) -> bool | None:
    """Whether a message begins at `at` of which the first token is lost."""
    window = text[at : at + _PLAIN_WINDOW]
    if _FIRST.match(window):
        return True
    undecided = not final and len(window) < _PLAIN_WINDOW and _FIRST_SO_FAR.match(window)
    return None if undecided else False


def begins_plain(text: str, at: int, final: bool) -> bool | None:
    """Whether channels begin at `at` of which the server has dropped the tokens."""
    window = text[at : at + _PLAIN_WINDOW]
    if _PLAIN_CALL.match(window) or _PLAIN_ANALYSIS.match(window):
        return True
    return None if not final and len(window) < _PLAIN_WINDOW else False


def read_plain(text: str, start: int, offer: Offer) -> Block | None:
    """`analysisI look.assistantcommentary to=functions.NAME json{..}`, or `assistantfinal` and the
    answer."""
    analysis = _PLAIN_ANALYSIS.match(text, start)
    following = _PLAIN_NEXT.search(text, start) if analysis else None
    if analysis and following is None:
        return None
    at = following.start() if following else start
    thought = text[analysis.end() : at].strip() if analysis else ""
    if following and following[0].endswith("final"):
        said = text[following.end() :].strip()
        return Block(start, len(text), tagged=True, text=said, reasoning=thought)
    head = _PLAIN_CALL.match(text, at)
    read = read_value(text, head.end()) if head else None
    if head is None or read is None:
        return replace(failed(start, len(text), CUT), reasoning=thought)
    return replace(called(start, read[1], [named(head[1], read[0], offer)]), reasoning=thought)


def _is_whole(arguments: str) -> bool:
    """Whether a call without its closing token holds one object and nothing else."""
    read = read_value(arguments, 0)
    return read is not None and not arguments[read[1] :].strip()


def _channel(head: str) -> str:
    found = _CHANNEL.search(head)
    return found[1] if found else "final"


def _with(block: Block, text: str, reasoning: str) -> Block:
    return Block(
        block.start, block.end, problem=block.problem, tagged=True, text=text, reasoning=reasoning
    )
