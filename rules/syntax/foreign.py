"""What other languages write, and what is written here instead."""

from collections.abc import Iterator
from itertools import islice

from rules.errors import MAX_DIAGNOSTICS, Diagnostic, diagnose
from rules.source import Source, Span

_JOINED = "conditions are joined by ','"
_EITHER = "alternatives are rules of their own, with the same conclusion"

LABEL = "the name of a rule is a word in small letters; write any other as @name('...')"

WRITTEN_HERE = {
    "==": "equality is written with a single '='",
    ":=": "equality is written '='",
    "=<": "this is written '<='",
    "=>": "at least is written '>=', and a rule '... -> conclusion'",
    "<>": "this is written '!='",
    "\\=": "this is written '!='",
    "<-": "a rule is written 'conclusion :- conditions.' or 'conditions -> conclusion'",
    "%": "comments begin with '#' or '//'",
    "/*": "comments begin with '#' or '//' and end with their line",
    ";": _EITHER,
    "|": _EITHER,
    "and": _JOINED,
    "or": _EITHER,
    "is": "equality is written '='",
    "&": _JOINED,
    "~": "a negation is written 'not'",
    ":": LABEL,
}
"""Advice for what stands where it cannot be read."""

FRACTION = "values are integers and strings; there are no fractions"
DOTTED = "a name has no '.' in it; write any other text in quotes"
QUOTE = "a quote within a string is written \\'"

_DIRECTIVES = {
    "include": "write .include 'other.dl'",
    "const": "a value with a name is a fact, such as limit(3).",
    "show": "ask for what holds with a query, such as ?- p(X).",
}


def hidden_aggregate(text: str, start: int, end: int) -> str:
    """What to write for `#count { ... }` if the comment in this stretch begins so."""
    import re  # only what is faulty asks for it

    found = re.compile(r"[ \t]*#(count|sum|min|max)\b").match(text, start, end)
    return f"'#' begins a comment; write {found[1]} without it" if found else ""


def disguised_directives(source: Source) -> Iterator[Diagnostic]:
    """Warnings of comments that are directives elsewhere, such as `#include "x.dl"`."""
    text = source.text
    if any(f"#{name}" in text for name in _DIRECTIVES):
        import re

        pattern = re.compile(r"^#(?:(include)[ \t]*[\"'<]|(const|show)[ \t]).*", re.MULTILINE)
        for found in islice(pattern.finditer(text), MAX_DIAGNOSTICS):
            name = found[1] or found[2]
            span = Span(source, found.start(), found.end())
            message = f"'#{name}' is a comment here, as all that begins with '#'"
            yield diagnose(span, "disguised-directive", message, _DIRECTIVES[name], "warning")
