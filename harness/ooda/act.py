"""Act: the model and its tools take turns until it stops or a limit is reached."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from harness.errors import LimitReached, ModelFailure
from harness.journal import Journal
from harness.model.history import History
from harness.model.values import Asked, Call, Message, Narrowing, Reply, RetryNote
from harness.ooda import prompts
from harness.ooda.asking import announces
from harness.ooda.guard import Guard
from harness.ooda.limits import Meter, Spent
from harness.ooda.shortening import cut_text
from harness.ooda.window import MOST_COMPACTIONS, Window
from harness.tools.toolbox import Toolbox

MOST_ASKED_AGAIN = 2
"""Times in a row that a reply which cannot be used is asked for again."""

ONCE = ("repetition",)
"""Errors that one more try may mend, or none."""

MOST_REPEATED = 400
"""Characters that are kept of a reply which repeats itself: a model that reads more of them goes on
in the same way."""


AfterCall = Callable[[Call], bool]


class Model(Protocol):
    """Something that answers a chat request."""

    def complete(
        self,
        asked: Asked,
        on_text: Callable[[str], None],
        on_retry: Callable[[RetryNote], None],
    ) -> Reply: ...


class Act:
    """One session's conversation with the model."""

    def __init__(
        self,
        model: Model,
        history: History,
        toolbox: Toolbox,
        journal: Journal,
        window: Window | None = None,
        *,
        offering: Callable[[], Narrowing] | None = None,
        due: Callable[[str], str] | None = None,
        spent: Spent | None = None,
    ) -> None:
        """`offering` works out what the next step may be, where the model can be held to that;
        `due` says what to tell a model that replied with a text alone, where a call was due;
        `spent` is what the session has used so far."""
        self._model = model
        self._offering = offering
        self._due = due
        self._window = window or Window(history, toolbox, journal)
        self._history = history
        self._toolbox = toolbox
        self._journal = journal
        self._schemas = toolbox.schemas()
        self.requests = 0
        self.spent = spent or Spent()
        self.read: list[str] = []
        self._unusable = 0

    def __call__(self, meter: Meter, before: Callable[[Call], None], after: AfterCall) -> str:
        """The model's closing text. `before` is told of each call, `after` of each that may have
        changed files, and says whether it did.

        Raises LimitReached before a request that would exceed one, ModelFailure when the model
        cannot be used or repeats itself.
        """
        guard = Guard()
        self._toolbox.deadline = meter.deadline
        self._unusable = empty = 0
        while True:
            meter.check()
            reply = self._ask(meter)
            if reply.error is not None:
                self._unusable += 1
                empty = empty + 1 if reply.error == "empty" else 0
                if max(self._unusable, empty) > _most_again(reply):
                    return _instead(reply, max(self._unusable, empty))
                self.say(prompts.ASK_AGAIN.format(detail=reply.detail), "nudge")
                continue
            self._unusable = empty = 0
            if not reply.calls:
                return reply.text
            for call in reply.calls:
                meter.check_time()
                self._run(call, guard, before, after)

    def say(self, text: str, cause: str, shorter: str = "") -> None:
        """Add a user message to the history; see `Window.say`."""
        self._window.say(text, cause, shorter)

    def ended(self, kind: str) -> None:
        """The turn is over."""
        self._window.ended(kind)

    def protocol_changed(self) -> None:
        """The model is asked in another way from now on, and may begin anew in it; only who says
        nothing at all is asked no more often for that."""
        self._unusable = 0
        self._window.protocol_changed()

    def repair(self) -> None:
        """Make the history legal after a turn that was stopped in the middle."""
        self._history.repair()

    def _ask(self, meter: Meter) -> Reply:
        """The next reply, kept in the history. A conversation that turns out to be too long for
        the context is made shorter and sent once more, never as it was."""
        shortened = 0
        while True:
            messages, tools = self._window.messages(), self._schemas
            known = self._window.known
            asked = Asked(messages, tools, meter.deadline, self._offering, self._due, known)
            try:
                reply, seconds = self._send(asked, meter)
            except ModelFailure as failure:
                if failure.error_class != "context_overflow":
                    raise
                self._window.overflowed(failure, again=shortened < MOST_COMPACTIONS)
            else:
                lost = self._window.lost(reply)
                if not (lost and shortened < MOST_COMPACTIONS and self._window.cut_short()):
                    kept = self._history.assistant(self._kept(reply))
                    self._report(reply, self._history.last, seconds)
                    return replace(reply, calls=kept.calls)
                self._report(reply, None, seconds)
            shortened += 1
            meter.check()

    def _kept(self, reply: Reply) -> Reply:
        """What stays in the history of a reply: of one that cannot be used, its text at most, and
        of that no more than it takes to answer otherwise."""
        if reply.error is None:
            return reply
        text = reply.text.strip() or f"({reply.error})"
        if reply.error == "repetition":
            text = cut_text(text, MOST_REPEATED)
        return replace(reply, calls=(), text=self._window.fitting_text(text))

    def _send(self, asked: Asked, meter: Meter) -> tuple[Reply, float]:
        """A reply, and the seconds that it took."""
        self.requests += 1
        self._journal.emit(
            "model_request",
            request=self.requests,
            messages=len(asked.messages),
            prompt_tokens=self._window.tokens,
            tools=len(self._schemas),
        )
        started = time.monotonic()
        try:
            reply = self._model.complete(asked, self._stream, self._retry)
        except ModelFailure as failure:
            if failure.error_class == "timeout" and _passed(meter.deadline):
                seconds = meter.limits.seconds
                raise LimitReached(
                    f"time limit of {seconds:g} s reached while the model answered (--max-seconds)"
                ) from failure
            raise
        meter.count(reply.usage)
        return reply, time.monotonic() - started

    def _report(self, reply: Reply, message: Message | None, seconds: float) -> None:
        """Journal a reply; `message` is what the history keeps of it, if anything."""
        self._journal.emit(
            "model_reply",
            message=message,
            text=reply.text,
            reasoning=reply.reasoning,
            finish=reply.finish,
            error=reply.error,
            prompt_tokens=reply.usage.prompt_tokens,
            completion_tokens=reply.usage.completion_tokens,
            cached_tokens=reply.usage.cached_tokens,
            estimated=reply.usage.estimated,
            cost=reply.usage.cost,
            seconds=round(seconds, 3),
        )

    def _run(
        self, call: Call, guard: Guard, before: Callable[[Call], None], after: AfterCall
    ) -> None:
        before(call)
        self._note_read(call)
        given = guard.note(call, self._toolbox.run(call))
        result = replace(given, text=self._window.fitting(call, given.text))
        self._history.tool(call.id, result.text)
        self._toolbox.report(call, result, given.text)
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


def _most_again(reply: Reply) -> int:
    return 1 if reply.error in ONCE else MOST_ASKED_AGAIN


def _instead(reply: Reply, times: int) -> str:
    """What a model thought, where it says nothing else and that is no plan: some servers put a
    whole answer there. Raises ModelFailure for every other reply that cannot be used."""
    thought = reply.reasoning.strip()
    if reply.error == "empty" and thought and not reply.text.strip() and not announces(thought):
        return thought
    raise ModelFailure(
        reply.error or "empty",
        f"the model's reply could not be used {times} times in a row: {reply.detail}",
    )


def _passed(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
