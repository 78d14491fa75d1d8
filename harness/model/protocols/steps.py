"""A step as one JSON object: `{"tool": "read_file", "path": "auth.py"}`, the form of `constrained`.

The answer is a step too: `{"tool": "answer", "text": ".."}`. Servers whose schemas must not begin
with a choice get the object in another one, `{"step": {..}}`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.model.repair import parse_object
from harness.model.strict import strict_value

TOOL = "tool"
ANSWER = "answer"
TEXT = "text"
WRAPPER = "step"


@dataclass(frozen=True)
class Step:
    """`mended` tells that it was not quite the form, which an enforced reply always is."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    mended: bool = False

    @property
    def is_answer(self) -> bool:
        return self.tool == ANSWER

    @property
    def text(self) -> str:
        """What the answer says."""
        text = self.arguments.get(TEXT)
        return text if isinstance(text, str) else ""


def written(tool: str, arguments: Mapping[str, Any]) -> str:
    """A step as the model is to write it, the tool first."""
    return json.dumps({TOOL: tool, **arguments}, ensure_ascii=False)


def read(text: str) -> Step | None:
    """The one step that `text` is, or None."""
    try:
        value, mended = strict_value(text), False
    except ValueError:
        value, mended = parse_object(text), True
    if not isinstance(value, dict):
        return None
    inner = value.get(WRAPPER)
    if isinstance(inner, dict) and len(value) == 1:
        value = inner
    tool = value.get(TOOL)
    if not isinstance(tool, str) or not tool.strip():
        return None
    arguments = {key: each for key, each in value.items() if key != TOOL and each is not None}
    nested = arguments.get("arguments")
    if isinstance(nested, dict) and len(arguments) == 1:
        return Step(tool.strip(), nested, mended=True)
    return Step(tool.strip(), arguments, mended)
