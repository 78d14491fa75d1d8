"""Calls that a server's own parser could not read, read from its error message."""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.model.failures import RequestFailed
from harness.model.patience import Patience
from harness.model.values import Reply

_QUOTED = re.compile(r"\A\W*failed to parse input at pos \d+: ?(.*)\Z", re.IGNORECASE | re.DOTALL)
"""llama.cpp quotes what the model wrote from where it could not read on."""


def quoted_reply(
    failed: RequestFailed,
    tools: Sequence[Mapping[str, Any]],
    used: Collection[str],
    patience: Patience,
    on_text: Callable[[str], None],
) -> Reply | None:
    """The reply that the error quotes, or None when no whole call of it can be read.

    It has been read as any other reply: names that were not offered, and arguments that are no
    object, are no calls.
    """
    quoted = _QUOTED.match(failed.said)
    if not quoted:
        return None
    from harness.model.reading import read_reply

    message = {"role": "assistant", "content": quoted[1]}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    said: list[str] = []
    try:
        reply = read_reply([json.dumps(whole).encode()], tools, used, patience, said.append)
    except RequestFailed:
        return None
    if reply.error or not reply.calls or any(call.arguments is None for call in reply.calls):
        return None
    for text in said:
        on_text(text)
    return replace(reply, text=failed.text + reply.text, mended=True)
