"""Native tool calls: put together from the pieces of a stream, or read from a whole message.

Servers disagree about `index` and `id`: some repeat both in every piece, some send index 0 for
every call, some no id at all, some a new one with every piece. So a piece belongs to the call of
its id; without one to the last call of its index, unless that call is complete and the piece starts
anew. Some send a name in pieces, or with every piece all of the arguments so far.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from harness.model.ids import fresh_id
from harness.model.nesting import Nesting
from harness.model.offer import Offer
from harness.model.repair import as_object, parse_object
from harness.model.repetition import IN_ARGUMENTS, Gathered
from harness.model.strict import is_object, strict_value
from harness.model.values import Call

MOST_CALLS = 128
"""Of one reply. More is a model that cannot stop."""

_SHOWN = 200
"""Characters of bad arguments that are quoted back to the model."""


def build_call(call_id: str, name: str, sent: Any, offer: Offer, found: bool = False) -> Call:
    """A call from its name and its arguments as sent: an object, a text, or nothing at all.

    `found` tells that it stood in the text of the reply.
    """
    name = offer.resolve(name)
    raw = sent if isinstance(sent, str) else "" if sent is None else _dump(sent)
    given, repaired = _given(sent, raw)
    if given is None:
        problem = _not_an_object(name, raw, offer)
        return Call(call_id, name, None, raw, problem, "malformed_tool_call", found or repaired)
    arguments = offer.fitted(name, given)
    error = None
    if name not in offer:
        error = "unknown_tool"
    elif offer.misfit(name, arguments):
        error = "invalid_arguments"
    return Call(call_id, name, arguments, raw, error=error, mended=found or repaired)


class NativeCalls:
    """Assembles the calls of one reply."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._parts: list[_Part] = []
        self._by_id: dict[str, _Part] = {}
        self._by_index: dict[int, _Part] = {}

    def __bool__(self) -> bool:
        return bool(self._parts)

    @property
    def repeats(self) -> bool:
        """Whether the calls, or the arguments of the last one, go on without end."""
        return len(self._parts) > MOST_CALLS or (bool(self._parts) and self._parts[-1].repeats)

    def add_delta(self, pieces: Any) -> None:
        """Take the `tool_calls` of one streamed delta."""
        for piece in _mappings(pieces):
            call_id, index, name, sent = _fields(piece)
            part = self._candidate(call_id, index, name, sent)
            if part is not None and name:
                name = part.named(name, self._offer)
            if part is None or part.is_followed_by(name, sent):
                if part is not None and part.is_repeated_by(call_id, sent):
                    continue
                part = self._new(call_id, index)
            part.add(call_id, name, sent)
            if part.id:
                self._by_id.setdefault(part.id, part)

    def add_message(self, calls: Any) -> None:
        """Take the `tool_calls` of a whole message."""
        for piece in _mappings(calls):
            call_id, index, name, sent = _fields(piece)
            self._new(call_id, index).add(call_id, name, sent)

    def finish(self, used: Collection[str]) -> tuple[tuple[Call, ...], bool]:
        """The calls, with ids that are unique also among `used`, and whether a nameless one
        had to be left out."""
        taken = set(used)
        calls: list[Call] = []
        named = [part for part in self._parts if part.name.strip()]
        for part in named:
            call_id = part.id if part.id and part.id not in taken else fresh_id()
            taken.add(call_id)
            calls.append(build_call(call_id, part.name, part.sent, self._offer))
        return tuple(calls), len(named) < len(self._parts)

    def _new(self, call_id: str, index: int | None) -> "_Part":
        part = _Part(call_id, index)
        self._parts.append(part)
        if call_id:
            self._by_id[call_id] = part
        if index is not None:
            self._by_index[index] = part
        return part

    def _candidate(self, call_id: str, index: int | None, name: str, sent: Any) -> "_Part | None":
        if call_id and call_id in self._by_id:
            return self._by_id[call_id]
        same = None if index is None else self._by_index.get(index)
        if call_id and name:
            # the call at this index whose id has not come yet, or comes anew with every piece
            waits = same is not None and (not same.id or same.waits_for(name, sent, self._offer))
            return same if waits else None
        if same is not None:
            return same
        return self._parts[-1] if self._parts and not name else None


class _Part:
    """One call as far as it has come."""

    def __init__(self, call_id: str, index: int | None) -> None:
        self.id = call_id
        self.index = index
        self.name = ""
        self._object: Any = None
        self._text = Gathered(IN_ARGUMENTS)
        self._nesting = Nesting()
        self._unseen: list[str] = []
        self._pieces: list[str] = []

    @property
    def sent(self) -> Any:
        return self._arguments() if self._text else self._object

    @property
    def repeats(self) -> bool:
        return self._text.repeats

    def add(self, call_id: str, name: str, sent: Any) -> None:
        self.id = self.id or call_id
        self.name = name or self.name
        if isinstance(sent, str):
            if sent:
                self._unseen.append(self._text.add(sent))
                self._pieces.append(sent)
        elif sent is not None:
            self._object = sent

    def named(self, more: str, offer: Offer) -> str:
        """The name that a piece brings; a name that comes in pieces is put together."""
        if self.name and offer.resolve(self.name) not in offer:
            for whole in (self.name + more, more):
                if whole.startswith(self.name) and any(n.startswith(whole) for n in offer.names):
                    self.name = whole
                    return whole
        return more

    def waits_for(self, name: str, sent: Any, offer: Offer) -> bool:
        """Whether a piece with another id can only be more of this call."""
        if name != self.name or not isinstance(sent, str) or not sent:
            return False
        if not self._text:
            return bool(offer.required(offer.resolve(name)))
        return not sent.lstrip().startswith("{") and not self._complete()

    def is_followed_by(self, name: str, sent: Any) -> bool:
        """Whether a piece with this name and these arguments is the next call, not more of
        this one."""
        if not name or not self.name:
            return False
        if name != self.name:
            return True
        anew = not isinstance(sent, str) or sent.lstrip().startswith("{")
        return anew and self._complete()

    def is_repeated_by(self, call_id: str, sent: Any) -> bool:
        """Whether the next call is this one, sent a second time."""
        return bool(call_id) and call_id == self.id and sent == self.sent

    def _arguments(self) -> str:
        """The arguments; of a server that sends all of them with every piece, or once more at the
        end, what it sent last."""
        text, last = str(self._text), self._pieces[-1]
        again = text == last + last or all(map(last.startswith, self._pieces))
        return last if len(self._pieces) > 1 and again and is_object(last) else text

    def _complete(self) -> bool:
        if not self._text:
            return self._object is not None
        self._nesting.feed("".join(self._unseen))
        self._unseen.clear()
        return self._nesting.whole


_NOTHING = frozenset({"", "null", "None", '""', "[]"})
"""How servers write that there are no arguments."""


def _given(sent: Any, raw: str) -> tuple[dict[str, Any] | None, bool]:
    """The arguments that were sent, and whether they had to be repaired."""
    if raw.strip() in _NOTHING:
        return {}, False
    if not isinstance(sent, str):
        found = as_object(sent)
        return found, found is not sent
    try:
        value = strict_value(raw)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value, False
    return parse_object(raw), True


def _mappings(value: Any) -> Sequence[Mapping[str, Any]]:
    if isinstance(value, dict):
        # `function_call`, from the time when a reply had one call
        value = [{"index": 0, **value}]
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _fields(piece: Mapping[str, Any]) -> tuple[str, int | None, str, Any]:
    function = piece.get("function")
    if not isinstance(function, dict):
        function = piece
    index, call_id, name = piece.get("index"), piece.get("id"), function.get("name")
    return (
        str(call_id) if isinstance(call_id, str | int) else "",
        index if isinstance(index, int) else None,
        name if isinstance(name, str) else "",
        function.get("arguments", function.get("parameters")),
    )


def _dump(value: Any) -> str:
    try:
        return json.dumps(value)
    except (RecursionError, ValueError):
        return "(nested too deeply)"


def _not_an_object(name: str, raw: str, offer: Offer) -> str:
    wanted = ", ".join(offer.arguments(name))
    shown = raw if len(raw) <= _SHOWN else raw[: _SHOWN - 3] + "..."
    return (
        f"The arguments of {name[:_SHOWN]!r} are not one JSON object: {shown!r}. Nothing was run. "
        f"Send one complete object{f' with {wanted}' if wanted else ''}; inside strings escape the "
        'quotes (\\") and write \\n for a new line.'
    )
