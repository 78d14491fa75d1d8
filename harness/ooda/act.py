"""Act: the model and its tools take turns until it stops or a limit is reached."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from harness.errors import LimitReached, ModelFailure
from harness.journal import Journal
from harness.model.history import History
from harness.model.values import Call, Message, Reply, RetryNote
from harness.ooda import prompts
from harness.ooda.guard import Guard
from harness.ooda.limits import Meter
from harness.tools.toolbox import Toolbox

MOST_ASKED_AGAIN = 2
"""Times in a row that a reply which cannot be used is asked for again."""


AfterCall = Callable[[Call], bool]


class Model(Protocol):
    """Something that answers a chat request."""

    def complete(
        self,
        messages: list[Message],
        tools: list[dict[str, Any]],
        on_text: Callable[[str], None],
        on_retry: Callable[[RetryNote], None],
        deadline: float | None,
    ) -> Reply: ...


class Act:
    """One session's conversation with the model."""

    def __init__(self, model: Model, history: History, toolbox: Toolbox, journal: Journal) -> None:
        self._model = model
        self._history = history
        self._toolbox = toolbox
        self._journal = journal
        self._schemas = toolbox.schemas()
        self.requests = 0
        self.tokens = 0
        self.read: list[str] = []

    def __call__(self, meter: Meter, before: Callable[[Call], None], after: AfterCall) -> str:
        """The model's closing text. `before` is told of each call, `after` of each that may have
        changed files, and says whether it did.

        Raises LimitReached before a request that would exceed one, ModelFailure when the model
        cannot be used or repeats itself.
        """
        guard = Guard()
        self._toolbox.deadline = meter.deadline
        asked_again = 0
        while True:
            meter.check()
            reply = self._ask(meter)
            if reply.error is not None:
                asked_again += 1
                self._ask_again(reply, asked_again)
                continue
            asked_again = 0
            if not reply.calls:
                return reply.text
            for call in reply.calls:
                meter.check_time()
                self._run(call, guard, before, after)

    def say(self, text: str, cause: str) -> None:
        """Add a user message to the history."""
        self._history.user(text)
        self._journal.emit("user_message", content=text, cause=cause)

    def repair(self) -> None:
        """Make the history legal after a turn that was stopped in the middle."""
        self._history.repair()

    def _ask(self, meter: Meter) -> Reply:
        messages = self._history.messages()
        self.requests += 1
        self._journal.emit(
            "model_request",
            request=self.requests,
            messages=len(messages),
            prompt_tokens=self._history.estimate(),
            tools=len(self._schemas),
        )
        started = time.monotonic()
        try:
            reply = self._model.complete(
                messages, self._schemas, self._stream, self._retry, meter.deadline
            )
        except ModelFailure as failure:
            if failure.error_class == "timeout" and _passed(meter.deadline):
                seconds = meter.limits.seconds
                raise LimitReached(
                    f"time limit of {seconds:g} s reached while the model answered (--max-seconds)"
                ) from failure
            raise
        meter.count(reply.usage)
        self.tokens += reply.usage.total
        self._history.assistant(_kept(reply))
        self._report(reply, time.monotonic() - started)
        return reply

    def _report(self, reply: Reply, seconds: float) -> None:
        self._journal.emit(
            "model_reply",
            message=self._history.last,
            text=reply.text,
            reasoning=reply.reasoning,
            finish=reply.finish,
            error=reply.error,
            prompt_tokens=reply.usage.prompt_tokens,
            completion_tokens=reply.usage.completion_tokens,
            estimated=reply.usage.estimated,
            seconds=round(seconds, 3),
        )

    def _ask_again(self, reply: Reply, times: int) -> None:
        if times > MOST_ASKED_AGAIN:
            raise ModelFailure(
                reply.error or "empty",
                f"the model's reply could not be used {times} times in a row: {reply.detail}",
            )
        self.say(prompts.ASK_AGAIN.format(detail=reply.detail), "nudge")

    def _run(
        self, call: Call, guard: Guard, before: Callable[[Call], None], after: AfterCall
    ) -> None:
        before(call)
        self._note_read(call)
        result = guard.note(call, self._toolbox.run(call))
        self._history.tool(call.id, result.text)
        self._toolbox.report(call, result)
        if self._toolbox.changes_files(call.name) and not result.denied and after(call):
            guard.changed()
        guard.check(call)

    def _note_read(self, call: Call) -> None:
        path = self._toolbox.path_of(call)
        if path and path not in self.read and not self._toolbox.changes_files(call.name):
            self.read.append(path)

    def _stream(self, text: str) -> None:
        self._journal.live("text", text=text)

    def _retry(self, note: RetryNote) -> None:
        self._journal.emit(
            "model_retry", error_class=note.error_class, message=note.message, wait=note.wait
        )


def _kept(reply: Reply) -> Reply:
    """What stays in the history of a reply: of one that cannot be used, its text at most."""
    if reply.error is None:
        return reply
    return replace(reply, calls=(), text=reply.text.strip() or f"({reply.error})")


def _passed(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
