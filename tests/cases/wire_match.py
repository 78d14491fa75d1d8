"""Whether what came of a wire case is what it expects of a reply.

`tool_calls`, `text` and `error` must fit, as they are or as one of the alternatives in `accept`;
then `finish`, `ids` and `reasoning_contains`, where the case has them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.cases.wire_rules import Json

_CUT = ("truncated_text", "truncated_tool_call")


@dataclass(frozen=True)
class Did:
    """One call that would be run."""

    id: str
    name: str
    arguments: Json


@dataclass(frozen=True)
class Seen:
    """What came of one reply; `error` is a class of the cases' own table, or None."""

    calls: tuple[Did, ...] = ()
    text: str = ""
    error: str | None = None
    reasoning: str = ""
    finish: str | None = None


def alternatives(expect: Json) -> list[Json]:
    """What is expected, and what is accepted in its place."""
    nothing: Json = {"tool_calls": [], "text": "", "error": None}
    return [expect, *({**nothing, **other} for other in expect.get("accept", ()))]


def matched(seen: Seen, expect: Json) -> tuple[Json | None, list[str]]:
    """The alternative that fits, or None and what is wrong with the one that fits best."""
    any_text = expect.get("text_mode") == "any"
    tried = [(other, list(_differences(seen, other, any_text))) for other in alternatives(expect)]
    found = next((other for other, wrong in tried if not wrong), None)
    return found, min((wrong for _, wrong in tried), key=len)


def faults_of_reply(seen: Seen, expect: Json) -> list[str]:
    """What is wrong with a reply."""
    found, wrong = matched(seen, expect)
    return wrong if found is None else list(_details(seen, expect, found))


def without_nothing(arguments: Any) -> Any:
    """An optional argument that is null is equal to one that is absent."""
    if not isinstance(arguments, dict):
        return arguments
    return {key: value for key, value in arguments.items() if value is not None}


def wanted_calls(expect: Json) -> list[tuple[str, Any]]:
    return [(call["name"], without_nothing(call["arguments"])) for call in expect["tool_calls"]]


def made_calls(calls: Sequence[Did]) -> list[tuple[str, Any]]:
    return [(call.name, without_nothing(call.arguments)) for call in calls]


def _differences(seen: Seen, expect: Json, any_text: bool) -> Iterator[str]:
    made, wanted = made_calls(seen.calls), wanted_calls(expect)
    if not same(made, wanted):
        yield f"the calls are {made}, not {wanted}"
    text, wanted_text = seen.text.strip(), (expect.get("text") or "").strip()
    if not any_text and text != wanted_text:
        yield f"the text is {text!r}, not {wanted_text!r}"
    if seen.error != (expect.get("error") or None):
        yield f"the error is {seen.error}, not {expect.get('error')}"


def same(one: Any, other: Any) -> bool:
    """Equal also in type: True is not 1, and 1 is not 1.0."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


def _details(seen: Seen, expect: Json, found: Json) -> Iterator[str]:
    ids = [call.id for call in seen.calls]
    if expect.get("ids") == "unique_nonempty" and (not all(ids) or len(set(ids)) < len(ids)):
        yield f"the ids are {ids}"
    thought = expect.get("reasoning_contains")
    if thought and thought not in seen.reasoning:
        yield f"the reasoning is {seen.reasoning!r}, without {thought!r}"
    # a reply with another error has no proper end
    ends = found is expect and seen.error in (None, *_CUT)
    finish = expect.get("finish") if ends else None
    if finish and seen.finish != finish:
        yield f"the finish is {seen.finish!r}, not {finish!r}"
