"""How many tokens a text may be, without the model's tokenizer, and what a server's counts tell.

A server counts what it really read: the template's own words, the tools as it shows them, its
tokenizer. From one count to the next only what was added has to be estimated.
"""

import json
from typing import Any

BYTES_PER_TOKEN = 3.5
"""Of code and English under the usual byte-pair encodings; a little low, so that budgets hold."""

PLAUSIBLE = (0.25, 4.0)
"""Tokens counted for one estimated. Digits one by one and scripts that are not Latin make many,
tools that a template leaves out make few; all beyond is no count of this prompt."""

_GROWTH = (0.7, 3.0)
"""Tokens counted for one estimated, of what is added to a prompt that was counted."""

LEAST_CONTEXT = 1024
"""Tokens. No model that can use tools has less; a smaller count is no context's end."""

_LEAST_GROWTH = 0.4
_LEAST_GROWTH_OF_A_BAD_REPLY = 0.6
_TOLERANCE = 0.95
_FAR_BELOW = 0.6
_FAR_BELOW_AT_FIRST = 0.5
_SURELY_MORE = 16
_DENSEST_OF_CODE = 1.5


def estimate_tokens(value: Any) -> int:
    """An estimate for a text, or for any JSON value as it is sent."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return round(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


class Calibration:
    """Turns estimates of a conversation into tokens as its server counts them."""

    def __init__(self) -> None:
        self._estimate = 0
        self._counted = 0
        self._former = (0, 0)
        self._highest = 0.0

    @property
    def known(self) -> bool:
        """Whether a server has counted anything yet."""
        return self._estimate > 0

    @property
    def ratio(self) -> float:
        """Tokens counted for one estimated."""
        return self._counted / self._estimate if self.known else 1.0

    def tokens(self, estimate: int) -> int:
        """About how many tokens a server counts for a prompt that we estimate at `estimate`."""
        if not self.known:
            return estimate
        growth = min(max(self.ratio, _GROWTH[0]), _GROWTH[1])
        counted = self._counted + round((estimate - self._estimate) * growth)
        return max(counted, round(estimate * PLAUSIBLE[0]))

    def note(self, estimate: int, counted: int) -> None:
        """A prompt estimated at `estimate` was counted. Counts that no tokenizer gives are left
        out of account."""
        if estimate > 0 and PLAUSIBLE[0] <= counted / estimate <= PLAUSIBLE[1]:
            self._former = self._estimate, self._counted
            self._estimate, self._counted = estimate, counted
            self._highest = max(self._highest, self.ratio)

    def at_least(self, estimate: int, counted: int) -> None:
        """A prompt estimated at `estimate` turned out to have more than `counted` tokens."""
        if self.tokens(estimate) <= counted:
            self.note(estimate, min(counted + 1, int(estimate * PLAUSIBLE[1])))

    def compacted(self) -> None:
        """The prompt consists of other things now: what it was at its densest tells no more."""
        self._highest = self.ratio if self.known else 0.0

    def is_cut(self, estimate: int, spoken: int, counted: int, good: bool = True) -> bool:
        """Whether a server that counted so few tokens has left a part of the prompt out.

        `spoken` is the estimate of the messages alone, since some templates leave out the tools;
        a reply that is not `good` needs less evidence.
        """
        if counted < LEAST_CONTEXT:
            return False
        if not self.known:
            return counted < _FAR_BELOW_AT_FIRST * spoken
        grown = estimate - self._estimate
        if grown > _SURELY_MORE and counted == self._counted <= _DENSEST_OF_CODE * self._estimate:
            return True
        least = self._counted + (_LEAST_GROWTH if good else _LEAST_GROWTH_OF_A_BAD_REPLY) * grown
        if grown >= 0 and counted < _TOLERANCE * least:
            return True
        return counted < _FAR_BELOW * self._highest * estimate

    def forget_end(self, counted: int) -> None:
        """`counted` is where a context ends: a prompt with that count was not counted whole."""
        if counted == self._counted:
            self._estimate, self._counted = self._former
            self._highest = self.ratio if self.known else 0.0
