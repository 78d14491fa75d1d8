"""What of a message may be shown while it arrives."""

from harness.model.markup import Grammar, Place
from harness.model.repair import skip_space
from harness.model.thoughts import LONGEST_END, THINK_END, THOUGHTS, may_open, opened


class VisibleText:
    """The part of a streamed message that is certainly answer.

    Once something that may be a call has begun, nothing more is shown before the end.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.shown = 0
        self.thought = False
        self.forgot = False
        self._grammar = grammar
        self._mark = grammar.mark
        # nothing is pending, and what comes next is text unless it holds a mark
        self._idle = False
        self._phase = self._head
        self._buffer = ""
        self._spaces: list[str] = []
        self._at = 0
        self._fence = ""
        self._end_tag = ""
        # a thought began within a thought: one more end is due
        self._nested = False

    def forget(self) -> None:
        """What was shown turned out to be a thought."""
        self.thought, self.forgot, self.shown = True, True, 0
        self._nested = False
        self._spaces.clear()

    def feed(self, delta: str) -> str:
        """The text to show now; "" when there is none."""
        if self._idle and self._mark(delta) is None:
            return self._show(delta)
        if not delta or self._phase == self._held:
            return ""
        self._buffer += delta
        shown: list[str] = []
        going = True
        while going:
            text, going = self._phase()
            shown.append(text)
        self._buffer = self._buffer[self._at :]
        self._at = 0
        self._idle = not self._buffer and self._phase == self._answer
        return "".join(shown)

    # A phase goes on from `_at`. It returns the text to show, and whether the next phase has
    # something to look at.

    def _head(self) -> tuple[str, bool]:
        """Nothing but white space and thoughts so far."""
        self._at = skip_space(self._buffer, self._at)
        found = opened(self._buffer, self._at)
        if found:
            self._end_tag = THOUGHTS[found[1]]
            self._at = found.end()
            self.thought = True
            self._phase = self._thinking
        elif may_open(self._buffer, self._at):
            return "", False
        else:
            self._buffer = "\n" + self._buffer[self._at :]
            self._at = 0
            self._phase = self._answer
        return "", True

    def _thinking(self) -> tuple[str, bool]:
        end = self._buffer.find(self._end_tag, self._at)
        thought = self._buffer[self._at : end if end >= 0 else None]
        self._nested = self._nested or "<think>" in thought
        if end < 0:
            self._at = max(self._at, len(self._buffer) - LONGEST_END)
            return "", False
        self._at = end + len(self._end_tag)
        self._phase = self._head
        return "", True

    def _answer(self) -> tuple[str, bool]:
        place = Place(self._at, self._fence)
        place, stop = self._grammar.walk(self._buffer, place, final=False)
        plain = self._buffer[self._at : place.at]
        self._at, self._fence = place.at, place.fence
        if stop is None:
            return self._show(plain), False
        if stop.families:
            self._phase = self._held
            return self._show(plain), False
        self._at += len(THINK_END)
        if self.thought and not self._nested:
            return self._show(plain + "\n"), True
        self.forget()
        self._phase = self._head
        return "", True

    def _held(self) -> tuple[str, bool]:
        return "", False

    def _show(self, plain: str) -> str:
        """White space at either end is kept back: the final text is stripped."""
        if not self.shown:
            plain = plain.lstrip()
        body = plain.rstrip()
        if not body:
            if plain:
                self._spaces.append(plain)
            return ""
        spaces = self._spaces
        text = body
        if spaces:
            text = "".join(spaces) + body
            spaces.clear()
        if len(body) < len(plain):
            spaces.append(plain[len(body) :])
        self.shown += len(text)
        return text
