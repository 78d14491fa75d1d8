"""What can go wrong, sorted by who must act.

AgentError
├── ToolError        the model must act: becomes the result of its tool call
│   ├── OutsideWorkspace, NoSuchFile, NoMatch    the path or text of the call
│   └── UnknownTool, InvalidArguments, MalformedCall   the call itself
├── UserError        the user must act: printed as one line, then exit
│   ├── UsageError   a wrong flag, path or id
│   └── ConfigError  a setting or rule file that cannot be used
└── TurnEnd          the turn cannot go on: becomes its outcome
    ├── LimitReached
    └── ModelFailure
"""


class AgentError(Exception):
    """Base of every error this program raises on purpose."""


class ToolError(AgentError):
    """A sentence for the model: what was wrong with its call and what to do instead."""

    error_class = ""
    """The name in the table of docs/model.md, where there is one."""


class OutsideWorkspace(ToolError):
    """A path that leads out of the workspace."""

    error_class = "path_outside_workspace"


class NoSuchFile(ToolError):
    """A path in the workspace where nothing is."""

    error_class = "file_not_found"


class NoMatch(ToolError):
    """A text to replace that is not in its file."""


class UnknownTool(ToolError):
    """A name that no tool has."""

    error_class = "unknown_tool"


class InvalidArguments(ToolError):
    """Arguments that do not fit the schema of their tool."""

    error_class = "invalid_arguments"


class MalformedCall(ToolError):
    """Arguments that are no JSON object."""

    error_class = "malformed_tool_call"


class UserError(AgentError):
    """One line for the user: what happened, where, what to do next."""

    exit_code = 2


class UsageError(UserError):
    """A flag, path or session id that cannot be used."""


class ConfigError(UserError):
    """A configuration or rule file that cannot be used."""


class TurnEnd(AgentError):
    """Ends the running turn."""


class LimitReached(TurnEnd):
    """A bound on steps, seconds or tokens was met before a request was sent."""


class ModelFailure(TurnEnd):
    """The model or its server cannot be used.

    `error_class` is one of the names in docs/model.md, for example
    `backend_unavailable` or `context_overflow`; `context_length` what an overflow told of the
    model's context, in tokens; `text` what had been shown of a reply that broke off, which is no
    answer.
    """

    def __init__(
        self,
        error_class: str,
        message: str,
        context_length: int | None = None,
        text: str = "",
    ) -> None:
        super().__init__(message)
        self.error_class = error_class
        self.context_length = context_length
        self.text = text
