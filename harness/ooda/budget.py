"""How much of the model's context the conversation may take. Numbers only, in tokens."""

from collections.abc import Callable

from harness.model.tokens import BYTES_PER_TOKEN, PLAUSIBLE, Calibration

REPLY = 1024
"""Kept free for the reply where the context is large enough."""

DEPTH = 0.5
"""What a compaction leaves of the room between what never changes and the reply: deep, so that it
is seldom needed; each one costs a local server its cache."""

ONE_RESULT = 0.3
"""The share of the room that one result of a tool, or one verdict, may take."""

CODE = 0.25
"""The share of the room that code picked for a request may take."""

SUMMARY = 0.15
"""The share of the room that a summary may take, where the context is small."""

_UNSURE = 1.25
"""How far an estimate may exceed a context before it is believed, while nothing was counted."""

_AFTER_REFUSAL = 0.8
"""What is taken for the context when a prompt was too long and nobody says how long it may be."""

_LEAST_TOLD = 128
"""A shorter context is none, whatever a server says."""


class Budget:
    """The effective context length, and what follows from it.

    `known` gives the length that was set or discovered; `fixed` estimates what no compaction can
    change: the system message and the tools. A length that is only a guess never stops a request.
    """

    def __init__(
        self, known: Callable[[], int | None], fixed: int, max_new_tokens: int | None = None
    ) -> None:
        self.calibration = Calibration()
        self.fixed = fixed
        self._known = known
        self._max_new_tokens = max_new_tokens
        self._told: int | None = None
        self._guessed: int | None = None

    @property
    def length(self) -> int | None:
        """The context's length, None as long as nobody knows."""
        return min((length for length in (self._sure, self._guessed) if length), default=None)

    @property
    def _sure(self) -> int | None:
        """What was set, discovered or told, and is no guess."""
        lengths = (self._known(), self._told)
        return min((n for n in lengths if n is not None and n >= _LEAST_TOLD), default=None)

    @property
    def window(self) -> int | None:
        """What a prompt may have, so that there is room for a reply."""
        length = self.length
        return None if length is None else length - self._reply(length)

    @property
    def target(self) -> int:
        """What a prompt should have after a compaction."""
        fixed = self.tokens(self.fixed)
        return fixed + round(DEPTH * self._room)

    @property
    def _room(self) -> int:
        return max((self.window or 0) - self.tokens(self.fixed), 0)

    def share(self, part: float) -> int | None:
        """An estimate, as estimate_tokens makes them, of a share of the room for messages."""
        if self.window is None:
            return None
        return max(round(part * self._room / max(self.calibration.ratio, 0.5)), 50)

    def tokens(self, estimate: int) -> int:
        """An estimate as the server would count it."""
        return self.calibration.tokens(estimate)

    def is_full(self, estimate: int) -> bool:
        """Whether a prompt leaves too little room for a reply."""
        window = self.window
        return window is not None and self.tokens(estimate) > window

    def is_hopeless(self, estimate: int) -> bool:
        """Whether a prompt is certainly longer than the context."""
        doubt = 1.0 if self.calibration.known else _UNSURE
        sure = self._sure
        return sure is not None and self.tokens(estimate) > sure * doubt

    def overflowed(self, estimate: int, length: int | None) -> None:
        """A prompt was refused as too long; `length` is what the server said of the context."""
        if length is not None and _LEAST_TOLD <= length <= estimate * PLAUSIBLE[1]:
            # some servers count the reply that was asked for, too
            self.calibration.at_least(estimate, length - (self._max_new_tokens or 0))
            self._told = min(length, self._told or length)
        else:
            guess = int(_AFTER_REFUSAL * self.tokens(estimate))
            self._guessed = min(guess, self._guessed or guess)

    def cut(self, counted: int) -> None:
        """A server reads only `counted` tokens of a prompt."""
        self._guessed = min(counted, self._guessed or counted)

    def forget(self) -> None:
        """What a server has refused, cut and counted tells nothing of the one there is now."""
        self._told = self._guessed = None
        self.calibration = Calibration()

    def _reply(self, length: int) -> int:
        if self._max_new_tokens:
            return min(self._max_new_tokens, length // 2)
        return min(REPLY, length // 4)


def characters(estimate: int) -> int:
    """How much text an estimate stands for."""
    return int(estimate * BYTES_PER_TOKEN)
