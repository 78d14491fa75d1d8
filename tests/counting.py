"""A scripted server with a context of its own: it counts tokens, and refuses or cuts."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.model.playback import Answer
from harness.model.script import Script, ScriptedReply
from harness.model.scripted import ScriptedServer

_TOKEN = re.compile(r" ?[A-Za-z_]{1,6}|\d| ?[^A-Za-z_\d\s]{1,3}|\s+")


def rendered(body: Mapping[str, Any]) -> str:
    """A request as a chat template shows it to the model."""
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    parts: list[str] = []
    for message in messages:
        text = message["content"]
        if message["role"] == "system" and body.get("tools"):
            text += "\n\n# Tools\n" + "\n".join(map(json.dumps, body["tools"]))
        for call in message.get("tool_calls", ()):
            function = call["function"]
            text += f'\n<tool_call>\n{{"name": "{function["name"]}", "arguments": '
            text += function["arguments"] + "}\n</tool_call>"
        parts.append(f"<|im_start|>{message['role']}\n{text}<|im_end|>\n")
    return "".join(parts) + "<|im_start|>assistant\n"


def count(body: Mapping[str, Any]) -> int:
    """Tokens of a request, by a measure that is not ours."""
    return len(_TOKEN.findall(rendered(body)))


@dataclass(frozen=True)
class Counted(Answer):
    """An answer with a count of its server's own."""

    counted: int = 0
    same_ids: bool = False

    def _calls(self) -> list[dict[str, Any]]:
        made = super()._calls()
        return (
            [each | {"id": f"call_{at}"} for at, each in enumerate(made)] if self.same_ids else made
        )

    def _usage(self) -> dict[str, Any]:
        usage = super()._usage()
        return {"usage": {**usage["usage"], "prompt_tokens": self.counted}}


class CountingServer(ScriptedServer):
    """Gives its replies in turn to requests of at most `context` tokens.

    What is longer it answers as `beyond` says: `numbers` and `words` refuse it, with the
    context's length or without; `empty` and `silent` cut it, with an empty reply or a good one.
    After `patience` requests it does so whatever comes. `counts` are the tokens of all requests,
    `says` the count it gives for each instead of the true one. With `same_ids` the calls of each
    reply are `call_0`, `call_1`.
    """

    def __init__(
        self,
        replies: Sequence[dict[str, Any]],
        context: int,
        beyond: str,
        *,
        patience: int = 1000,
        says: int | None = None,
        same_ids: bool = False,
    ) -> None:
        super().__init__(Script.from_json({"replies": list(replies)}))
        self.same_ids = same_ids
        self.patience = patience
        self.says = says
        self.context = context
        self.beyond = beyond
        self.counts: list[int] = []
        self._given = 0

    def answer(self, body: dict[str, Any]) -> Answer:
        counted = count(body)
        self.requests.append(body)
        self.counts.append(counted)
        number = len(self.requests)
        too_long = counted > self.context or number > self.patience
        if too_long and self.beyond != "silent":
            return Counted(self._refusal(counted), number, self.script, body, 0, self.context)
        replies = self.script.replies
        reply = replies[min(self._given, len(replies) - 1)]
        self._given += 1
        said = min(counted, self.context) if self.says is None else self.says
        return Counted(reply, number, self.script, body, 0, said, self.same_ids)

    def _refusal(self, counted: int) -> ScriptedReply:
        if self.beyond == "empty":
            return ScriptedReply()
        error: dict[str, Any] = {
            "code": 400,
            "message": "the request exceeds the available context size, try increasing it",
        }
        if self.beyond == "numbers":
            error |= {"type": "exceed_context_size_error", "n_prompt_tokens": counted}
            error["n_ctx"] = self.context
        return ScriptedReply(status=400, body=json.dumps({"error": error}))
