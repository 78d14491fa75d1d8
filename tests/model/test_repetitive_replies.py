"""Text that repeats itself without end is cut, wherever it stands; long ordinary text is not."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_server import HEAD, Connection, RawServer, sse
from raw_server import delta as delta_of
from test_client import Question

from harness.model.decode import Decoder, decode
from harness.model.protocols.reading import StepDecoder
from harness.model.repetition import IN_TEXT, Gathered

TOOLS = [{"type": "function", "function": {"name": "write_file", "parameters": {}}}]


def gathered(text: str, size: int, longest: int = IN_TEXT) -> Gathered:
    kept = Gathered(longest)
    for at in range(0, len(text), size):
        kept.add(text[at : at + size])
    return kept


ENDLESS = [
    "@",
    "\n",
    " \n",
    "ha",
    "I will check the file again. ",
    "Let me look at auth.py.\nNow I look at test_auth.py.\n",
    "Wait, the limit is three, so the user is locked after three failures. " * 6,
]


@pytest.mark.parametrize("unit", ENDLESS)
@pytest.mark.parametrize("head", ["", "The limit is in `auth.py`.\n" + "x" * 40])
def test_one_unit_over_and_over_is_cut_soon(unit: str, head: str) -> None:
    text = head + unit * (60_000 // len(unit))
    kept = gathered(text, 4)
    assert kept.repeats
    assert len(str(kept)) < len(head) + max(IN_TEXT, 8 * len(unit)) + 2048
    assert text.startswith(str(kept))


ORDINARY = [
    "".join(f"    ({number}, 'row {number * 7}'),\n" for number in range(5000)),
    "".join(f"| {number} | yes | no |\n" for number in range(2000)),
    ("=" * 200 + "\nTitle\n" + "-" * 120 + "\n") * 3,
    "".join(f"def f{n}():\n    try:\n        return None\n    finally:\n        pass\n\n" for n in
            range(500)),
    "\n".join(" " * 40 + "*" * width for width in (*range(60), *range(60, 0, -1))),
    "    assert x\n" * 60,
    "[0, 0, 0, 0, 0, 0, 0, 0],\n" * 32,
]  # fmt: skip


@pytest.mark.parametrize("text", ORDINARY)
@pytest.mark.parametrize("size", [5, 100_000])
def test_long_ordinary_text_is_left_alone(text: str, size: int) -> None:
    kept = gathered(text, size)
    assert not kept.repeats
    assert str(kept) == text


@given(
    st.text(max_size=30),
    st.text(min_size=1, max_size=40),
    st.lists(st.integers(1, 5000), min_size=1),
)
@settings(max_examples=30, deadline=None)
def test_it_is_cut_at_the_same_place_however_it_came(
    head: str, unit: str, sizes: list[int]
) -> None:
    text = head + unit * (8000 // len(unit))
    pieces = Gathered(IN_TEXT)
    at = 0
    while at < len(text):
        size = sizes[at % len(sizes)]
        pieces.add(text[at : at + size])
        at += size
    whole = gathered(text, len(text))
    assert whole.repeats
    assert (str(pieces), pieces.repeats) == (str(whole), True)


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields}]}


def call(arguments: str, **fields: Any) -> dict[str, Any]:
    return delta(tool_calls=[{"index": 0, "function": {"arguments": arguments, **fields}}])


@pytest.mark.parametrize(
    "chunk",
    [
        pytest.param(delta(content="@@@@@@@@"), id="text"),
        pytest.param(delta(reasoning_content="But wait. "), id="reasoning"),
        pytest.param(call("\\n", name="write_file"), id="arguments"),
        pytest.param(delta(content="<think>"), id="thoughts"),
    ],
)
def test_a_reply_that_repeats_itself_is_told_of_while_it_comes(chunk: dict[str, Any]) -> None:
    decoder = Decoder(TOOLS)
    decoder.feed(call('{"content": "', name="write_file"))
    fed = 0
    while not decoder.repeats and fed < 4000:
        decoder.feed(chunk)
        fed += 1
    assert decoder.repeats
    reply = decoder.finish()
    assert (reply.error, reply.calls) == ("repetition", ())
    assert reply.detail


def test_calls_without_end_are_told_of() -> None:
    chunks = [
        delta(tool_calls=[{"index": at, "function": {"name": "write_file", "arguments": "{}"}}])
        for at in range(500)
    ]
    assert decode(chunks, TOOLS).error == "repetition"
    text = "".join(
        f'{{"name": "write_file", "arguments": {{"path": "{at}"}}}}\n' for at in range(500)
    )
    assert decode([delta(content=text)], TOOLS).error == "repetition"


def test_a_file_with_many_equal_lines_is_written() -> None:
    arguments = {"path": "a", "content": "0,0,0,0\n" * 500}
    function = {"name": "write_file", "arguments": json.dumps(arguments)}
    message = {"choices": [{"message": {"tool_calls": [{"function": function}]}}]}
    assert decode(message, TOOLS).calls[0].arguments == arguments


FILES = {
    "equal rows": "0,0,0,0\n" * 500,
    "zeros, one a line": "0\n" * 1500,
    "one line of zeros": "0" * 1900,
    "a frame": "#" * 80 + ("\n#" + " " * 78 + "#") * 50 + "\n" + "#" * 80,
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
@pytest.mark.parametrize("protocol", ["native", "constrained", "text"])
def test_a_file_that_repeats_itself_for_a_while_is_written(content: str, protocol: str) -> None:
    arguments = {"path": "a", "content": content}
    decoder: Decoder | StepDecoder = Decoder(TOOLS)
    if protocol == "native":
        chunks = [call(piece) for piece in pieces(json.dumps(arguments))]
        decoder.feed(call("", name="write_file"))
    elif protocol == "constrained":
        decoder = StepDecoder(TOOLS)
        step = json.dumps({"tool": "write_file", **arguments})
        chunks = [delta(content=piece) for piece in pieces(step)]
    else:
        written = json.dumps({"name": "write_file", "arguments": arguments})
        tagged = f"<tool_call>\n{written}\n</tool_call>"
        chunks = [delta(content=piece) for piece in pieces(tagged)]
    for chunk in chunks:
        decoder.feed(chunk)
        assert not decoder.repeats
    assert decoder.finish().calls[0].arguments == arguments


def pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


@pytest.mark.usefixtures("warm")
def test_a_server_is_not_listened_to_when_its_reply_repeats_itself() -> None:
    piece = sse(delta_of(content="@" * 64), done=False)

    def play(connection: Connection) -> None:
        connection.send(HEAD)
        for _ in range(200_000):
            connection.send(piece)

    with RawServer(play) as server:
        reply = Question().ask(server.url)
    assert reply.error == "repetition"
    assert len(reply.text) < 4096
