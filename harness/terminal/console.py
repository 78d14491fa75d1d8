"""The process's three streams, and what is shown on which."""

from dataclasses import dataclass
from typing import TextIO

from harness.journal import Sink
from harness.terminal.answer import Answers
from harness.terminal.ask import Ask
from harness.terminal.jsonl import JsonLines
from harness.terminal.render import Renderer
from harness.terminal.screen import Screen
from harness.terminal.style import choose_color, is_live


@dataclass(frozen=True)
class Console:
    """`sinks` belong in the journal's sinks before anything happens, in this order; `ask`
    answers approval questions. `talk` is where everything for people goes, `results` where the
    output of commands goes."""

    stdin: TextIO
    talk: Screen
    results: Screen
    sinks: tuple[Sink, ...]
    ask: Ask

    @property
    def can_edit(self) -> bool:
        """Whether a person sits at a terminal that can do more than show text."""
        return self.stdin.isatty() and is_live(self.talk.out)


def open_console(
    stdin: TextIO, stdout: TextIO, stderr: TextIO, *, trace: bool = False, json: bool = False
) -> Console:
    """Standard output gets the answers, or JSON Lines with `json`; the rest is on standard error.

    Where both are a terminal, the answer is streamed among the rest as it comes.
    """
    together = stdout.isatty() and stderr.isatty()
    streamed = stderr.isatty() if json else together
    renderer = Renderer(stderr, color=choose_color(stderr), trace=trace, stream_text=streamed)
    results = renderer.screen
    first: tuple[Sink, ...] = ()
    if json:
        first = (JsonLines(stdout),)
    elif not together:
        first = (Answers(stdout, told=False),)
        results = Screen(stdout, color=choose_color(stdout))
    return Console(stdin, renderer.screen, results, (*first, renderer), Ask(stdin, renderer.screen))
