"""From the bytes of a response to a Reply: complete, or a failure."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from harness.model.classify import classify
from harness.model.decode import Decoder
from harness.model.failures import RequestFailed
from harness.model.patience import Patience
from harness.model.sse import BodyReader, Broken, Chunk, Item, ServerError
from harness.model.transport import bounded
from harness.model.values import Known, Reply


class ReplyDecoder(Protocol):
    """What takes a reply chunk by chunk; see `harness.model.decode.Decoder`."""

    @property
    def shown(self) -> int: ...
    @property
    def started(self) -> bool: ...
    @property
    def finished(self) -> bool: ...
    @property
    def repeats(self) -> bool: ...
    def feed(self, chunk: Mapping[str, Any]) -> str: ...
    def finish(self) -> Reply: ...


def read_reply(
    pieces: Iterable[bytes],
    tools: Sequence[Mapping[str, Any]],
    used: Collection[str],
    patience: Patience,
    on_text: Callable[[str], None],
    decoder: ReplyDecoder | None = None,
    known: Known | None = None,
) -> Reply:
    """Read a body to its proper end, showing text as it comes. Raises RequestFailed.

    `used` are the call ids of the conversation so far; `decoder` takes the place of the one for
    `tools`; `known` is what is known of the request. A reply that repeats itself without end is
    not read on.
    """
    decoder = decoder or Decoder(tools, used, known)
    for item in _items(pieces, patience, decoder):
        text = _take(item, decoder)
        if text:
            on_text(text)
    reply = decoder.finish()
    if reply.error == "context_overflow":
        raise RequestFailed("overflow", _overflow(reply, known))
    rest = reply.text[decoder.shown :]
    if rest:
        on_text(rest)
    return reply


def _overflow(reply: Reply, known: Known | None) -> str:
    """What a server should have said instead of nothing."""
    length = known.context_length if known else None
    return f"the prompt has {reply.usage.prompt_tokens} tokens, the context {length}"


def _items(pieces: Iterable[bytes], patience: Patience, decoder: ReplyDecoder) -> Iterator[Item]:
    """The items of a body up to its proper end. Raises RequestFailed when it has none."""
    reader = BodyReader()
    try:
        for data in bounded(pieces, patience):
            for item in reader.feed(data):
                yield item
                if decoder.repeats:
                    return
            if reader.done:
                return
            _tell(patience, decoder)
    except RequestFailed:
        if decoder.finished:
            return
        raise
    yield from reader.finish()
    if reader.done or decoder.finished:
        return
    if reader.kind in ("foreign", "object"):
        raise RequestFailed("bad_body", reader.beginning)
    raise RequestFailed("interrupted", "the connection closed early")


def _tell(patience: Patience, decoder: ReplyDecoder) -> None:
    """How far the reply is decides how long the next piece may take."""
    if decoder.finished:
        patience.end()
    elif decoder.started:
        patience.phase = "idle"


def _take(item: Item, decoder: ReplyDecoder) -> str:
    """Decode one item; the text to show now."""
    if isinstance(item, Chunk):
        return decoder.feed(item.payload)
    if isinstance(item, ServerError):
        raise classify(200, item.body)
    if isinstance(item, Broken):
        raise RequestFailed("interrupted", "a piece of it cannot be read")
    return ""
