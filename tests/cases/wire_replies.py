"""From our reply to what a wire case speaks of: the calls that would be run, or an error class."""

import json
from typing import Any

from harness.errors import InvalidArguments, ModelFailure
from harness.model.decode import decode
from harness.model.values import Known, Reply
from harness.tools.arguments import check
from tests.cases.wire_classes import outside
from tests.cases.wire_match import Did, Seen
from tests.cases.wire_rules import Json
from tests.cases.wire_tools import CaseTools


def decoded(case: Json) -> Reply:
    """What our decoder makes of the reply of a case."""
    return decode(payloads(case), CaseTools(case).schemas(), known(case))


def known(case: Json) -> Known:
    """What the case says is known of the limits."""
    told = case.get("known") or {}
    return Known(
        told.get("context_length"),
        told.get("estimated_prompt_tokens"),
        (case.get("request") or {}).get("max_tokens"),
    )


def payloads(case: Json) -> Json | list[Json]:
    """A whole response, or the chunks that can be read."""
    if "chunks" not in case:
        response: Json = case["response"]
        return response
    return [chunk for chunk in map(_parsed, case["chunks"]) if isinstance(chunk, dict)]


def seen(reply: Reply, tools: CaseTools) -> Seen:
    """A reply as the tools take it: the calls that they would run, and the first problem."""
    calls: list[Did] = []
    problems = [reply.error] if reply.error else []
    if reply.truncated_prompt and reply.error in (None, "empty"):
        problems = ["silent_truncation"]
    for call in reply.calls:
        tool = tools[call.name]
        if call.error is not None:
            problems.append(call.error)
        elif tool is None:
            problems.append("unknown_tool")
        elif call.arguments is None:
            problems.append("malformed_tool_call")
        else:
            try:
                calls.append(Did(call.id, call.name, check(tool, call.arguments)))
            except InvalidArguments as refused:
                problems.append(refused.error_class)
    error = outside(problems[0]) if problems else None
    return Seen(tuple(calls), reply.text, error, reply.reasoning, reply.finish)


def failed(failure: ModelFailure, text: str = "") -> Seen:
    """`text` is what was shown before."""
    return Seen(text=text, error=outside(failure.error_class))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
