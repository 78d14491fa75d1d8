"""The shape of a tool: what the model is told, and code that prepares a call before it runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.workspace.changes import Tracker
from harness.workspace.root import Root

if TYPE_CHECKING:
    from harness.code.index import CodeIndex
    from knowledge import Store

Access = Literal["read", "write", "execute", "remember"]
Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """What came of a call: `text` for the model, `note` (a few words) and `diff` for people.

    `malformed` marks a call that could not be understood, `denied` one that was not allowed;
    `error` is the error class of what went wrong, where it has one.
    """

    text: str
    note: str = ""
    ok: bool = True
    diff: str = ""
    denied: bool = False
    malformed: bool = False
    error: str = ""


@dataclass(frozen=True)
class Prepared:
    """A checked call that may run. `preview` is the diff or command to show before asking;
    `ask` is a reason to ask also where the tool alone would not be asked about; `path` is the
    canonical path it is about, or empty."""

    run: Callable[[], Result]
    preview: str = ""
    ask: str = ""
    path: str = ""


Withheld = Callable[[str, Sequence[str]], Mapping[str, str]]
"""Asked with a tool's name and paths that it would show text of: those that rules do not let be
read unasked, each with the reason."""


def _nothing_withheld(tool: str, paths: Sequence[str]) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class ToolContext:
    """What tools work with. `index` gives the code index as the files are now; `private` is a
    folder of ours outside the workspace; `remaining` the seconds that the turn has left."""

    root: Root
    tracker: Tracker
    index: Callable[[], "CodeIndex"]
    store: "Store"
    private: Path
    shell_timeout: float
    project: str
    remaining: Callable[[], float] = lambda: float("inf")
    withheld: Withheld = _nothing_withheld


@dataclass(frozen=True)
class Tool:
    """One tool. `parameters` is a JSON schema; `shows` names the argument worth showing.

    `prepare` raises ToolError for a call that cannot work, before anybody is asked.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    access: Access
    shows: str
    prepare: Callable[[ToolContext, Arguments], Prepared]

    def schema(self) -> dict[str, Any]:
        """The tool in the shape of a chat completion request."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        return {"type": "function", "function": function}


def parameters(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def string(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def integer(description: str) -> dict[str, Any]:
    return {"type": "integer", "description": description}


def left_out(withheld: Mapping[str, str]) -> Iterable[str]:
    """A line for what was withheld, so that nobody takes it for nothing."""
    if withheld:
        names = ", ".join(list(withheld)[:5]) + (" and more" if len(withheld) > 5 else "")
        reasons = "; ".join(dict.fromkeys(withheld.values()))
        yield f"({plural(len(withheld), 'file')} left out by a rule, {names}: {reasons})"


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
