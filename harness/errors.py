"""What can go wrong, sorted by who must act.

AgentError
├── ToolError        the model must act: becomes the result of its tool call
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
    `backend_unavailable` or `context_overflow`.
    """

    def __init__(self, error_class: str, message: str) -> None:
        super().__init__(message)
        self.error_class = error_class
