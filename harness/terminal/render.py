"""The sink that shows a run to people."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TextIO

from harness.journal import Event
from harness.terminal.diff import show_diff
from harness.terminal.rows import (
    Payload,
    compacted_line,
    context_line,
    outcome_line,
    retry_line,
    tool_row,
    verdict_row,
)
from harness.terminal.screen import Screen

DIFF_LINES = 40
WAYS: Mapping[str, str] = MappingProxyType(
    {
        "native": "with tool calls of its own",
        "constrained": "for one step at a time, held to a schema,",
        "text": "to write its calls as text",
    }
)
"""How a model is asked in each protocol."""


class Renderer:
    """Shows events as they happen. Kinds it has no words for are passed over.

    `trace` adds the trace lines of facts, derivations and verdicts, exactly as recorded.
    `stream_text` shows the model's text as it comes, and the answer if it did not come that way.
    """

    def __init__(
        self,
        out: TextIO,
        *,
        width: int | None = None,
        color: bool = False,
        trace: bool = False,
        stream_text: bool = False,
    ) -> None:
        self.screen = Screen(out, width=width, color=color)
        self._trace = trace
        self._stream = stream_text
        self._streamed: list[str] = []
        self._thought = 0
        self._summaries: dict[str, str] = {}
        self._seen: set[str] = set()
        self._denials: dict[str, str] = {}
        self._show: dict[str, Callable[[Payload], None]] = {
            "session_resumed": self._resumed,
            "connected": self._connected,
            "notice": self._notice,
            "protocol": self._protocol,
            "context": self._context,
            "facts": self._facts,
            "derived": self._derived,
            "derived_more": self._derived,
            "attempt_started": self._attempt,
            "model_request": self._model_request,
            "compacted": self._compacted,
            "model_retry": self._model_retry,
            "reasoning": self._reasoning,
            "text": self._text,
            "model_reply": self._model_reply,
            "tool_call": self._tool_call,
            "approval": self._approval,
            "tool_result": self._tool_result,
            "gate_started": self._gate_started,
            "progress": self._progress,
            "verdict": self._verdict,
            "outcome": self._outcome,
        }

    def __call__(self, event: Event) -> None:
        show = self._show.get(event.kind)
        if show is not None:
            show(event.payload)

    def _resumed(self, payload: Payload) -> None:
        for repair in payload.get("repairs") or ():
            self._warn(str(repair))
        if payload.get("moved_from"):
            self._warn(f"this session began in another workspace, {payload['moved_from']!r}")

    def _connected(self, payload: Payload) -> None:
        if payload.get("reason"):
            self.screen.message(self.screen.glyphs.info, str(payload["reason"]), "dim")

    def _notice(self, payload: Payload) -> None:
        glyphs, text = self.screen.glyphs, str(payload.get("text", ""))
        level = payload.get("level")
        if level == "error":
            self.screen.message(glyphs.failed, text, "bad")
        elif level == "warning":
            self._warn(text)
        else:
            self.screen.message(glyphs.info, text, "dim")

    def _protocol(self, payload: Payload) -> None:
        way = WAYS.get(str(payload.get("protocol")), "")
        text = f"{payload.get('model')} is asked {way} from now on: {payload.get('why')}"
        self.screen.message(self.screen.glyphs.info, text, "dim")

    def _warn(self, text: str) -> None:
        self.screen.message(self.screen.glyphs.warning, text, "attention")

    def _context(self, payload: Payload) -> None:
        text = context_line(payload)
        if text:
            self.screen.single(text, "dim")

    def _facts(self, payload: Payload) -> None:
        if self._trace:
            for line in payload.get("lines") or ():
                self.screen.line(("", str(line)))

    def _derived(self, payload: Payload) -> None:
        if self._trace and payload.get("line"):
            self.screen.line(("", str(payload["line"])))

    def _attempt(self, payload: Payload) -> None:
        number = int(payload.get("attempt") or 1)
        if number > 1:
            self.screen.line(("dim", f"attempt {number}"))

    def _model_request(self, payload: Payload) -> None:
        self._streamed.clear()
        self._thought = 0
        self.screen.status("waiting for the model")

    def _compacted(self, payload: Payload) -> None:
        self.screen.message(self.screen.glyphs.info, compacted_line(payload), "dim")

    def _model_retry(self, payload: Payload) -> None:
        self.screen.message(self.screen.glyphs.retry, retry_line(payload), "attention")

    def _reasoning(self, payload: Payload) -> None:
        self._thought += len(str(payload.get("text", "")))
        self.screen.status(f"thinking, {self._thought:,} characters")

    def _text(self, payload: Payload) -> None:
        if self._stream:
            chunk = str(payload.get("text", ""))
            self._streamed.append(chunk)
            self.screen.text(chunk)

    def _model_reply(self, payload: Payload) -> None:
        self.screen.close_line()
        if payload.get("error"):
            self._warn(f"the model's reply cannot be used: {payload['error']}")

    def _tool_call(self, payload: Payload) -> None:
        summary = str(payload.get("summary") or "")
        self._summaries[str(payload.get("id"))] = summary
        self.screen.status(f"{payload.get('name')} {summary}")

    def _approval(self, payload: Payload) -> None:
        if payload.get("decision") == "deny":
            reason = payload.get("comment") or f"denied by {payload.get('by')}"
            self._denials[str(payload.get("id"))] = str(reason)
        elif payload.get("by") == "user":
            self._seen.add(str(payload.get("id")))

    def _tool_result(self, payload: Payload) -> None:
        call = str(payload.get("id"))
        summary, denied = self._summaries.pop(call, ""), self._denials.pop(call, None)
        self.screen.row(tool_row(self.screen.glyphs, payload, summary, denied))
        asked = call in self._seen  # the question has shown the diff already
        if payload.get("diff") and not asked:
            show_diff(self.screen, str(payload["diff"]), most=DIFF_LINES, fit=True)

    def _gate_started(self, payload: Payload) -> None:
        targets = " ".join(str(target) for target in payload.get("targets") or ())
        self.screen.status(f"{payload.get('gate')} {targets}")

    def _progress(self, payload: Payload) -> None:
        self.screen.status(str(payload.get("text", "")))

    def _verdict(self, payload: Payload) -> None:
        if self._trace and payload.get("line"):
            self.screen.line(("", str(payload["line"])))
        self.screen.row(verdict_row(self.screen.glyphs, payload))

    def _outcome(self, payload: Payload) -> None:
        answer = str(payload.get("answer") or "").strip()
        if self._stream and answer and answer != "".join(self._streamed).strip():
            self.screen.text(answer)
        if payload.get("kind") == "interrupted":
            # writes over the ^C that the terminal echoed
            self.screen.status("interrupted")
        glyph, style, text = outcome_line(self.screen.glyphs, payload)
        self.screen.message(glyph, text, style)
