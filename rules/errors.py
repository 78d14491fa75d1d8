"""What the library has to complain about.

RuleError     a rule text that cannot be used: carries a Diagnostic for each fault
LimitError    the rules conclude more facts than the database may hold
DoesNotHold   a proof was asked for a fact that does not hold
"""

from dataclasses import dataclass

from rules.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rules.statements import Rule

MAX_DIAGNOSTICS = 100
"""A text with more faults than this is read no further."""


_EXCERPT = 160
_EDGE = 60


@dataclass(frozen=True, repr=False)
class Diagnostic:
    """One fault and its place. `line` and `column` count from 1, `width` in characters.

    `severity` is `error` or `warning`; `help` says what to do, or is empty.
    """

    code: str
    source: str
    line: int
    column: int
    message: str
    text_line: str
    help: str = ""
    width: int = 1
    severity: str = "error"

    @property
    def first_line(self) -> str:
        """`team.dl:3:14: error[unsafe-variable]: ...`"""
        place = f"{visible(self.source)}:{self.line}:{self.column}"
        return f"{place}: {self.severity}[{self.code}]: {visible(self.message)}"

    def __repr__(self) -> str:
        return f"<Diagnostic {self.first_line}>"

    def __str__(self) -> str:
        number = str(self.line).rjust(5)
        text, indent, width = self._excerpt()
        lines = [
            self.first_line,
            f"{number} | {text}",
            f"{' ' * len(number)} | {indent}{'^' * width}",
        ]
        if self.help:
            lines.append(f"  help: {visible(self.help)}")
        return "\n".join(lines)

    def _excerpt(self) -> tuple[str, str, int]:
        """The line or the part of a long one, what stands before the caret, its width."""
        text, at = visible(self.text_line), self.column - 1
        if len(text) > _EXCERPT:
            start = max(0, at - _EDGE)
            text, at = text[start : start + _EXCERPT], at - start
        indent = "".join("\t" if character == "\t" else " " for character in text[:at])
        return text, indent, max(1, min(self.width, len(text) - at))


def visible(text: str) -> str:
    """The text with every character a terminal might act on replaced, at the same length.

    Line breaks are among them: what is put into a line cannot begin another one.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in text)


def diagnose(
    span: Span, code: str, message: str, advice: str = "", severity: str = "error"
) -> Diagnostic:
    """A diagnostic for a stretch of text; a stretch over several lines is cut at the first."""
    line, column = span.source.position(span.start)
    text = span.source.line(line)
    width = max(1, min(span.end - span.start, len(text) - column + 1))
    note, advice = visible(_bounded(message)), visible(_bounded(advice))
    return Diagnostic(code, span.source.name, line, column, note, text, advice, width, severity)


def _bounded(text: str) -> str:
    """Without the middle of a very long name that is quoted in it."""
    if len(text) <= 2 * _EXCERPT:
        return text
    return f"{text[:_EXCERPT]} ... {text[-_EXCERPT:]}"


class RuleError(ValueError):
    """A rule text that cannot be used. `diagnostics` holds every fault that was found."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = diagnostics

    @property
    def first_line(self) -> str:
        return self.diagnostics[0].first_line

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))


class LimitError(RuntimeError):
    """The rules do more than allowed; `limit` names the bound that was met, in `rule`."""

    def __init__(self, limit: str, message: str, rule: "Rule | None" = None) -> None:
        super().__init__(visible(message))
        self.limit = limit
        self.rule = rule


class DoesNotHold(LookupError):
    """A proof or derivation was asked for a fact that has none."""
