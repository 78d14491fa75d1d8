"""Native tool calls: put together from the pieces of a stream, or read from a whole message.

Servers disagree about `index` and `id`: some repeat both in every piece, some send index 0 for
every call, some no id at all. So a piece belongs to the call of its id; without one to the last
call of its index, unless that call is complete and the piece starts anew.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from harness.model.ids import fresh_id
from harness.model.offer import Offer
from harness.model.repair import as_object, parse_object
from harness.model.strict import is_object
from harness.model.values import Call

_SHOWN = 200
"""Characters of bad arguments that are quoted back to the model."""


def build_call(call_id: str, name: str, sent: Any, offer: Offer) -> Call:
    """A call from its name and its arguments as sent: an object, a text, or nothing at all."""
    name = offer.resolve(name)
    raw = sent if isinstance(sent, str) else "" if sent is None else _dump(sent)
    if not raw.strip():
        return Call(call_id, name, {}, raw)
    found = parse_object(raw) if isinstance(sent, str) else as_object(sent)
    if found is not None:
        return Call(call_id, name, found, raw)
    return Call(call_id, name, None, raw, _not_an_object(name, raw, offer))


class NativeCalls:
    """Assembles the calls of one reply."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []

    def __bool__(self) -> bool:
        return bool(self._parts)

    def add_delta(self, pieces: Any) -> None:
        """Take the `tool_calls` of one streamed delta."""
        for piece in _mappings(pieces):
            call_id, index, name, sent = _fields(piece)
            part = self._candidate(call_id, index, name)
            if part is None or part.is_followed_by(name, sent):
                if part is not None and part.is_repeated_by(call_id, sent):
                    continue
                part = _Part(call_id, index)
                self._parts.append(part)
            part.add(call_id, name, sent)

    def add_message(self, calls: Any) -> None:
        """Take the `tool_calls` of a whole message."""
        for piece in _mappings(calls):
            call_id, index, name, sent = _fields(piece)
            part = _Part(call_id, index)
            part.add(call_id, name, sent)
            self._parts.append(part)

    def finish(self, offer: Offer, used: Collection[str]) -> tuple[tuple[Call, ...], bool]:
        """The calls, with ids that are unique also among `used`, and whether a nameless one
        had to be left out."""
        taken = set(used)
        calls: list[Call] = []
        named = [part for part in self._parts if part.name]
        for part in named:
            call_id = part.id if part.id and part.id not in taken else fresh_id()
            taken.add(call_id)
            calls.append(build_call(call_id, part.name, part.sent, offer))
        return tuple(calls), len(named) < len(self._parts)

    def _candidate(self, call_id: str, index: int | None, name: str) -> "_Part | None":
        known = [part for part in self._parts if call_id and part.id == call_id]
        if known:
            return known[-1]
        if call_id and name:
            return self._unnumbered(index)
        same = [part for part in self._parts if index is not None and part.index == index]
        if same:
            return same[-1]
        return self._parts[-1] if self._parts and not name else None

    def _unnumbered(self, index: int | None) -> "_Part | None":
        """The call at `index` whose id has not come yet."""
        same = [part for part in self._parts if index is not None and part.index == index]
        return same[-1] if same and not same[-1].id else None


class _Part:
    """One call as far as it has come."""

    def __init__(self, call_id: str, index: int | None) -> None:
        self.id = call_id
        self.index = index
        self.name = ""
        self._object: Any = None
        self._texts: list[str] = []

    @property
    def sent(self) -> Any:
        return "".join(self._texts) if self._texts else self._object

    def add(self, call_id: str, name: str, sent: Any) -> None:
        self.id = self.id or call_id
        self.name = name or self.name
        if isinstance(sent, str):
            if sent:
                self._texts.append(sent)
        elif sent is not None:
            self._object = sent

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

    def _complete(self) -> bool:
        if not self._texts:
            return self._object is not None
        if not self._texts[-1].rstrip().endswith("}"):
            return False
        return is_object(str(self.sent))


def _mappings(value: Any) -> Sequence[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        value = [value]
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _fields(piece: Mapping[str, Any]) -> tuple[str, int | None, str, Any]:
    function = piece.get("function")
    if not isinstance(function, Mapping):
        function = piece
    index, call_id, name = piece.get("index"), piece.get("id"), function.get("name")
    return (
        str(call_id) if isinstance(call_id, str | int) else "",
        index if isinstance(index, int) else None,
        name if isinstance(name, str) else "",
        function.get("arguments"),
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
        f"The arguments of {name!r} are not one JSON object: {shown!r}. Nothing was run. Send one "
        f'complete object{f" with {wanted}" if wanted else ""}; inside strings write \\" for a '
        "quote and \\n for a new line."
    )
