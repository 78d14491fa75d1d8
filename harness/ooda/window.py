"""Keeps a conversation legal and within the model's context, and journals what it did for that."""

from collections.abc import Callable

from harness.errors import ModelFailure
from harness.journal import Journal
from harness.model.history import History, estimate_message
from harness.model.legal import check
from harness.model.tokens import Calibration, estimate_tokens
from harness.model.values import Call, Known, Message, Reply
from harness.ooda import prompts
from harness.ooda.budget import CODE, ONE_RESULT, SUMMARY, Budget, characters
from harness.ooda.compaction import Aims, Compacted, compact
from harness.ooda.shortening import cut, cut_text
from harness.tools.toolbox import Toolbox

MOST_COMPACTIONS = 1
"""Times that one request is made shorter because its server refused or cut it."""

MOST_SUMMARY = 1200
"""Characters of a summary, however large the context."""

TOO_LONG = ("context_overflow", "silent_truncation")
"""Errors of replies that tell of a prompt longer than the context."""

LARGER = "OLLAMA_CONTEXT_LENGTH or -c"
"""How servers are told to take a larger context."""


class Window:
    """What of one session's history is sent."""

    def __init__(
        self,
        history: History,
        toolbox: Toolbox,
        journal: Journal,
        known: Callable[[], int | None] = lambda: None,
        max_new_tokens: int | None = None,
        look_again: Callable[[], None] = lambda: None,
    ) -> None:
        """`known` gives the context's length as far as it was set or discovered; `look_again`
        has it discovered once more."""
        self._history = history
        self._journal = journal
        self._look_again = look_again
        self._tools = estimate_tokens(toolbox.schemas())
        self._writes = [name for name, access in toolbox.access.items() if access == "write"]
        fixed = estimate_message(history.messages()[0]) + self._tools
        self.budget = Budget(known, fixed, max_new_tokens)
        self._request: Message | None = None
        self._shorter = ""
        self._verdict: Message | None = None
        self._warned = False
        self._changed = False
        self._sent = 0

    def code_room(self, usual: int) -> int:
        """Of `usual` tokens for code beside a request, as many as the context has room for."""
        most = self.budget.share(CODE)
        return usual if most is None else min(usual, most)

    @property
    def described(self) -> str:
        """How much of the context is used, for people."""
        length = self.budget.length
        used = f"about {self.tokens:,} tokens"
        return f"{used} of {length:,}" if length else f"{used}; its length is not known"

    @property
    def tokens(self) -> int:
        """About how many tokens the next request has, with the tools."""
        return self.budget.tokens(self._estimate)

    @property
    def _estimate(self) -> int:
        return self._history.estimate() + self._tools

    def say(self, text: str, cause: str, shorter: str = "") -> None:
        """Add a user message; `shorter` is a request without what can be read again."""
        if cause == "feedback":
            text = self.fitting_text(text)
        message = self._history.user(text)
        if cause == "request":
            self._request, self._shorter, self._verdict = message, shorter, None
        elif cause == "feedback":
            self._verdict = message
        self._journal.emit("user_message", content=text, cause=cause)

    def fitting(self, call: Call, result: str) -> str:
        """The result of a call, its middle left out when it would fill the context."""
        most = self.budget.share(ONE_RESULT)
        if most is None:
            return result
        shape = {"function": {"name": call.name, "arguments": call.raw}}
        return cut(shape, result, characters(most))

    def fitting_text(self, text: str) -> str:
        """A text, its middle left out when it would fill the context."""
        most = self.budget.share(ONE_RESULT)
        return text if most is None else cut_text(text, characters(most))

    def messages(self) -> list[Message]:
        """What to send now: legal, and with room for a reply.

        Raises ModelFailure when it cannot be made to fit.
        """
        self._history.repair()
        self._mend()
        if self.budget.is_full(self._estimate):
            self._look_again()
        if self.budget.is_full(self._estimate):
            self._compact("full")
        if self.budget.is_hopeless(self._estimate):
            raise ModelFailure("context_overflow", self._hopeless())
        self._sent = self._estimate
        return self._history.messages()

    def overflowed(self, failure: ModelFailure, again: bool) -> None:
        """The server refused the last request as too long: learn from it, and make it shorter.

        Raises ModelFailure when that cannot be done, or shall not be done `again`.
        """
        self.budget.overflowed(self._sent, failure.context_length)
        if again:
            self._compact("overflow")
        if not again or self._estimate >= self._sent:
            told = failure.context_length
            raise ModelFailure("context_overflow", self._hopeless(), told) from failure

    @property
    def known(self) -> Known:
        """What there is to know of the request that `messages` gave, for reading its reply."""
        return Known(self.budget.length, self.budget.tokens(self._sent))

    def protocol_changed(self) -> None:
        """The model is asked in another way from now on: what is counted so far tells no more."""
        self._changed = True

    def forget_lengths(self) -> None:
        """The model may run with another context now: only what is known of it still counts."""
        self.budget.forget()
        self._warned = False

    def lost(self, reply: Reply) -> bool:
        """Learn from what the server counted; True when it read the prompt in part and its reply
        is of no use."""
        good = reply.error is None and bool(reply.calls or reply.text.strip())
        counted = 0 if reply.usage.estimated else reply.usage.prompt_tokens
        # the count may be of either protocol when that has changed meanwhile
        cut = not (good and self._changed) and self._is_cut(counted, good)
        if not cut:
            self.budget.calibration.note(self._sent, counted)
        if self._changed:
            self.budget.calibration = Calibration()
            self._changed = False
        if cut or reply.error not in TOO_LONG:
            return cut and not good
        if not self.budget.is_full(self._estimate):
            self.budget.overflowed(self._sent, None)
        return True

    def _is_cut(self, counted: int, good: bool) -> bool:
        """Whether the server left out a part of the prompt."""
        calibration, spoken = self.budget.calibration, self._sent - self._tools
        if not calibration.is_cut(self._sent, spoken, counted, good):
            return False
        calibration.forget_end(counted)
        self._warn_of_cut(counted)
        if counted > self.budget.tokens(self.budget.fixed):
            self.budget.cut(counted)
        return True

    def cut_short(self) -> bool:
        """Make the conversation shorter because its server cut it; whether it became shorter."""
        before = self._estimate
        self._compact("cut")
        return self._estimate < before

    def ended(self, kind: str) -> None:
        """Note how the request ended, for the summary of it; once, since a request for which
        there was no model ends, too."""
        if self._request is not None:
            self._history.endings[prompts.asked(self._request["content"])] = kind
            self._request = self._verdict = None

    def _mend(self) -> None:
        """A conversation that no strict server would take is mended, and never sent as it is."""
        broken = check(self._history.messages())
        if not broken:
            return
        self._history.mend()
        text = f"the conversation was mended before it was sent: {broken}"
        self._journal.emit("notice", level="warning", text=text)
        still = check(self._history.messages())
        if still:
            raise ModelFailure(
                "template_rejected", f"the conversation cannot be sent: {still}. Use /reset"
            )

    def _compact(self, cause: str) -> None:
        before, budget = self.tokens, self.budget
        aims = Aims(
            tokens=lambda estimate: budget.tokens(estimate + self._tools),
            target=budget.target,
            most=budget.window or 0,
            request=self._request,
            verdict=self._verdict,
            shorter=self._shorter,
            writes=self._writes,
            summary=min(MOST_SUMMARY, characters(budget.share(SUMMARY) or MOST_SUMMARY)),
            endings=self._history.endings,
        )
        former, estimate = self._history.messages(), self._estimate
        compacted = compact(former, aims)
        self._history.replace(compacted.messages)
        if self._estimate >= estimate:
            self._history.replace(former)
            return
        if self._request is not None:
            self._request = compacted.request
        budget.calibration.compacted()
        self._report(cause, before, compacted)

    def _report(self, cause: str, before: int, compacted: Compacted) -> None:
        self._journal.emit(
            "compacted",
            cause=cause,
            before=before,
            after=self.tokens,
            context_length=self.budget.length,
            shrunk=list(compacted.shrunk),
            turns=compacted.turns,
            steps=compacted.steps,
            messages=list(compacted.messages[1:]),
        )

    def _warn_of_cut(self, counted: int) -> None:
        if self._warned:
            return
        self._warned = True
        sent = self.budget.tokens(self._sent)
        text = (
            f"the server cut the prompt of about {sent:,} tokens to about {counted:,} tokens; "
            f"start it with a larger context: {LARGER}"
        )
        self._journal.emit("notice", level="warning", text=text)

    def _hopeless(self) -> str:
        length = self.budget.length
        known = f"of {length:,} tokens " if length else ""
        return (
            f"the request of about {self.tokens:,} tokens does not fit into the model's context "
            f"{known}and cannot be made shorter; start the server with a larger context "
            f"({LARGER}), or ask for less at once"
        )
