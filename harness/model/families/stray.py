"""What is left of markup whose other half is missing, and the tokens that end a message."""

import re

from harness.model.families.envelopes import TAGS
from harness.model.families.form import LOST, Block, failed
from harness.model.offer import Offer
from harness.model.repair import skip_space
from harness.model.thoughts import MID_THOUGHTS, THOUGHTS

CLOSING_TAGS = (
    "</tool_call>",
    "</tool_calls>",
    "</tools>",
    "</function>",
    "</function_call>",
    "</function_calls>",
    "</parameter>",
    "</invoke>",
    "</arg_value>",
    "</arg_key>",
    "<arg_key>",
    "<arg_value>",
    "<parameter=",
)
SPOKEN = (
    *TAGS,
    "<function=",
    "<function name=",
    "<invoke name=",
    "<minimax:tool_call>",
    "<seed:tool_call>",
    "[TOOL_CALLS]",
)
CLOSING_TOKENS = (
    "<|call|>",
    "<|message|>",
    "<|constrain|>",
    "<|tool_call_end|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_argument_begin|>",
    "<|/tool_call|>",
    "<tool_call|>",
    "<end_function_call>",
    "[/TOOL_CALLS]",
    "[END_TOOL_REQUEST]",
    "<|python_end|>",
    "<|tools_suffix|>",
    "<|END_ACTION|>",
    "</｜DSML｜",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁sep｜>",
)
MESSAGE_ENDS = (
    "<|im_end|>",
    "<|im_start|>assistant",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|end|>",
    "<|return|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "<｜end of sentence｜>",
    "<|eot|>",
    "<|eom|>",
    "<|user|>",
    "<|observation|>",
    "<|tool_response>",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|begin_of_box|>",
    "<|end_of_box|>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
)


ORDINARY = ("<tools>", "</tools>", "<function name=", "</function>", "</parameter>")
"""Tags that other XML has, too: of a call only where a tool of ours is named nearby."""
_NEAR = 400

_REST = re.compile(r"[^<>\n]{0,80}>?")
_LINE_START = re.compile(r"\n[ \t]{0,60}\Z")
_WORDS = re.compile(r"[ \t]+[^\W\d_]+[ \t]+[^\W\d_][^\n]{0,400}")


def read_closer(text: str, at: int, offer: Offer) -> Block | None:
    """The end of a call that never began; within a line it may be spoken of."""
    closers = (*CLOSING_TAGS, *CLOSING_TOKENS)
    end = _end(text, at, closers)
    if text.startswith(CLOSING_TAGS, at) and not _stands_alone(text, at, end, offer):
        return Block(at, end, text=" ", loose=True)
    return failed(at, end, LOST)


def read_spoken(text: str, at: int, offer: Offer) -> Block | None:
    """An opener that no call follows: spoken of within a line, else a call that never came."""
    end = _end(text, at, SPOKEN)
    return None if _stands_alone(text, at, end, offer) else Block(at, end, text=" ", loose=True)


def read_thought(text: str, at: int, offer: Offer) -> Block | None:
    """A thought that comes behind the first words; within a line its tags are spoken of."""
    opener = next(tag for tag in MID_THOUGHTS if text.startswith(tag, at))
    inner = at + len(opener)
    closer = THOUGHTS[opener]
    if _stands_alone(text, at, inner, offer):
        end = text.find(closer, inner)
        thought = text[inner : len(text) if end < 0 else end]
        behind = len(text) if end < 0 else end + len(closer)
        return Block(at, behind, tagged=True, text="\n", reasoning=thought)
    # looked for nearby, since there may be many of these and no end at all
    end = text.find(closer, inner, inner + _NEAR)
    spoken = end >= 0 and "\n" not in text[inner:end]
    return Block(at, end + len(closer) if spoken else inner, text=" ", loose=True)


def read_message_end(text: str, at: int, offer: Offer) -> Block | None:
    """A token for the server that was left in the text: it means nothing."""
    return Block(at, _end(text, at, MESSAGE_ENDS), tagged=True, text="\n")


def _end(text: str, at: int, tags: tuple[str, ...]) -> int:
    """Where the tag at `at` ends, with the name in it."""
    end = at + max(len(tag) for tag in tags if text.startswith(tag, at))
    rest = _REST.match(text, end) if text[end - 1] == "=" else None
    return rest.end() if rest else end


def _stands_alone(text: str, at: int, end: int, offer: Offer) -> bool:
    """Whether a tag ends the message or starts a line that is no sentence about it."""
    if _LINE_START.search(text, max(0, at - 61), at) is None:
        return skip_space(text, end) == len(text)
    near = text[max(0, at - _NEAR) : end + _NEAR]
    if text.startswith(ORDINARY, at) and skip_space(text, end) < len(text):
        return any(name in near for name in offer.names)
    words = _WORDS.match(text, end)
    return words is None or any(name in words[0] for name in offer.names)
