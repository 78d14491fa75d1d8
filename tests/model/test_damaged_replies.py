"""Whatever becomes of a reply on the way, it gives a value, the same one however it was split.

FUZZ_EXAMPLES sets how many damaged replies are tried; a few hundred by default.
"""

import os
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from replies_of_cases import Told, told

from harness.model.decode import Decoder, decode
from harness.model.families import FAMILIES
from harness.model.sse import BodyReader, Chunk
from harness.model.values import Reply

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "150"))
TOLD = told()
SNIPPETS = [
    *("<tool_call>", "</tool_call>", "```", "```json\n", "`", "\n", " ", "<think>", "</think>"),
    *("{", "}", "[", "]", '"', "'", "\\", "é", "prose", "<function=read_file>", "</function>"),
    *("<parameter=path>\n", "\n</parameter>", "<|channel|>", "<|message|>", "[TOOL_CALLS]"),
    *("<|im_end|>", "<|start|>assistant", "<invoke name=", "<|tool_call_begin|>"),
]
TAGS = [
    opener
    for family in FAMILIES
    if family.begins is None and family.name != "message end"
    for opener in family.openers
]
CODE = re.compile(
    r"(?:^|\n)[ \t]*(?P<fence>```+|~~~+).*?(?:\n[ \t]*(?P=fence)[`~]*[ \t]*(?=\n|$)|$)"
    r"|(?<!`)(?P<span>`+)(?!`)[^\n]*?(?<!`)(?P=span)(?!`)",
    re.DOTALL,
)

damage = st.tuples(
    st.sampled_from(["drop", "double", "insert", "cut", "append", "nest", "swap"]),
    st.floats(0, 1, exclude_max=True),
    st.integers(1, 12),
    st.sampled_from(SNIPPETS),
    st.sampled_from([each.text for each in TOLD]),
)


def damaged(text: str, how: str, where: float, size: int, snippet: str, other: str) -> str:
    at = int(where * (len(text) + 1))
    end = min(len(text), at + size)
    return {
        "drop": text[:at] + text[end:],
        "double": text[:end] + text[at:],
        "insert": text[:at] + snippet + text[at:],
        "cut": text[:at],
        "append": f"{text}\n{other}",
        "nest": text[:at] + other + text[at:],
        "swap": text[:at] + text[at:end][::-1] + text[end:],
    }[how]


def streamed(pieces: list[str], told: Told) -> tuple[Reply, str]:
    """The reply, and what was shown of its final text while it came."""
    decoder = Decoder(told.tools)
    shown = ""
    for piece in pieces:
        text = decoder.feed({"choices": [{"index": 0, "delta": {"content": piece}}]})
        shown = (shown + text)[-decoder.shown :] if decoder.shown else ""
    decoder.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    reply = decoder.finish()
    assert len(shown) >= decoder.shown
    return reply, shown if decoder.shown else ""


def meaning(reply: Reply) -> tuple[Any, ...]:
    """All of a reply but the random ids."""
    calls = [(call.name, call.arguments, call.raw, call.error) for call in reply.calls]
    return (reply.text, reply.reasoning, calls, reply.error, reply.detail, reply.mended)


@given(st.sampled_from(TOLD), st.lists(damage, min_size=1, max_size=4), st.integers(1, 40))
@settings(max_examples=EXAMPLES, deadline=None)
def test_a_damaged_reply_is_read_alike_however_it_came(
    told: Told, damages: list[Any], size: int
) -> None:
    text = told.text
    for each in damages:
        text = damaged(text, *each)[:8000]
    whole = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    reply = decode(whole, told.tools)
    for pieces in (list(text), [text[at : at + size] for at in range(0, len(text), size)]):
        again, shown = streamed(pieces, told)
        assert meaning(again) == meaning(reply)
        assert reply.text.startswith(shown)
    if reply.calls or reply.error:
        prose = CODE.sub(" ", reply.text)
        assert [tag for tag in TAGS if tag in prose] == []
    for call in reply.calls:
        assert call.name in [tool["function"]["name"] for tool in told.tools]


@given(st.binary(max_size=400), st.integers(1, 60))
@settings(max_examples=EXAMPLES, deadline=None)
def test_any_bytes_of_a_stream_give_a_reply(data: bytes, size: int) -> None:
    body = b'data: {"choices": [{"delta": {"content": "' + data + b'"}}]}\n\ndata: [DONE]\n\n'
    replies = []
    for step in (size, len(body)):
        reader, decoder = BodyReader(), Decoder(TOLD[0].tools)
        pieces = [body[at : at + step] for at in range(0, len(body), step)]
        items = [item for piece in pieces for item in reader.feed(piece)] + reader.finish()
        for item in items:
            if isinstance(item, Chunk):
                decoder.feed(item.payload)
        replies.append(meaning(decoder.finish()))
    assert replies[0] == replies[1]
