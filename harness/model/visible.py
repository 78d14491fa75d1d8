"""Thoughts at the head of a message, and what of a message may be shown while it arrives."""

import re

from harness.model.markup import THINK_END, Place, walk

_OPEN = re.compile(r"\s*<(think|thinking)>")
_OPENERS = ("<think>", "<thinking>")
_LONGEST_END = len("</thinking>")


def leading_thoughts(text: str) -> tuple[list[str], str]:
    """The `<think>` blocks a text starts with, and the rest. An open one takes all."""
    thoughts: list[str] = []
    at = 0
    while found := _OPEN.match(text, at):
        end = text.find(f"</{found[1]}>", found.end())
        if end < 0:
            return [*thoughts, text[found.end() :]], ""
        thoughts.append(text[found.end() : end])
        at = end + len(f"</{found[1]}>")
    return thoughts, text[at:]


def lone_thought_end(text: str) -> int:
    """Where a `</think>` stands that no `<think>` opened (the template did), or -1.

    `text` starts with a newline. One in code, or behind something that may be a call, is text.
    """
    _, stop = walk(text, Place(), final=True)
    return stop.at if stop is not None and stop.kind == "think_end" else -1


class VisibleText:
    """The part of a streamed message that is certainly answer.

    Once something that may be a call has begun, nothing more is shown before the end.
    """

    def __init__(self) -> None:
        self.shown = 0
        self._phase = self._head
        self._buffer = ""
        self._spaces: list[str] = []
        self.thought = False
        self._place = Place()
        self._end_tag = ""

    def forget(self) -> None:
        """What was shown turned out to be a thought."""
        self.thought, self.shown = True, 0
        self._spaces.clear()

    def feed(self, delta: str) -> str:
        """The text to show now; "" when there is none."""
        if not delta or self._phase == self._held:
            return ""
        self._buffer += delta
        shown: list[str] = []
        while (text := self._phase()) is not None:
            shown.append(text)
        return "".join(shown)

    # A phase returns the text to show, or None when it needs more of the message.

    def _head(self) -> str | None:
        """Nothing but white space and thoughts so far."""
        self._buffer = self._buffer.lstrip()
        found = _OPEN.match(self._buffer)
        if found:
            self._end_tag = f"</{found[1]}>"
            self._buffer = self._buffer[found.end() :]
            self.thought = True
            self._phase = self._thinking
        elif any(opener.startswith(self._buffer) for opener in _OPENERS):
            return None
        else:
            self._buffer = "\n" + self._buffer
            self._phase = self._answer
        return ""

    def _thinking(self) -> str | None:
        _, end, rest = self._buffer.partition(self._end_tag)
        if not end:
            self._buffer = self._buffer[-_LONGEST_END:]
            return None
        self._buffer = rest
        self._phase = self._head
        return ""

    def _answer(self) -> str | None:
        self._place, stop = walk(self._buffer, self._place, final=False)
        plain, self._buffer = self._buffer[: self._place.at], self._buffer[self._place.at :]
        self._place = Place(0, self._place.fence)
        if stop is None:
            return self._show(plain) or None
        if stop.kind != "think_end":
            self._phase = self._held
            return self._show(plain)
        self._buffer = self._buffer[len(THINK_END) :]
        if self.thought:
            return self._show(plain + THINK_END)
        self.forget()
        self._phase = self._head
        return ""

    def _held(self) -> str | None:
        return None

    def _show(self, plain: str) -> str:
        """White space at either end is kept back: the final text is stripped."""
        if not plain or plain.isspace():
            if self.shown:
                self._spaces.append(plain)
            return ""
        text = "".join([*self._spaces, plain]) if self.shown else plain.lstrip()
        body = text.rstrip()
        self._spaces = [text[len(body) :]]
        self.shown += len(body)
        return body
