"""The values that the phases take and return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from harness.gates.values import Verdict
    from harness.workspace.changes import Snapshot

OutcomeKind = Literal[
    "answered",
    "verified",
    "needs_review",
    "failed",
    "unverified",
    "limit",
    "denied",
    "model_error",
    "interrupted",
]

EXIT_CODES: Mapping[OutcomeKind, int] = {
    "answered": 0,
    "verified": 0,
    "failed": 1,
    "limit": 3,
    "model_error": 4,
    "unverified": 5,
    "needs_review": 6,
    "denied": 7,
    "interrupted": 130,
}


@dataclass(frozen=True)
class Turn:
    """One request as observed. `before` is the workspace at its start; `elsewhere` the paths
    that changed since the last turn ended; `branch` the git branch or ''; `began` epoch seconds."""

    number: int
    request: str
    before: Snapshot
    elsewhere: tuple[str, ...] = ()
    branch: str = ""
    began: float = 0.0


@dataclass(frozen=True)
class Pick:
    """A piece of context and why it was picked. `kind` is `entry` or `code`; `name` a key or a
    path; `tokens` an estimate."""

    kind: Literal["entry", "code"]
    name: str
    reason: str
    score: float
    text: str
    tokens: int


@dataclass(frozen=True)
class Context:
    """What orient found: `text` is appended to the request; `left_out` counts picks over budget."""

    picks: tuple[Pick, ...] = ()
    text: str = ""
    left_out: int = 0


@dataclass(frozen=True)
class DueGate:
    """A gate the rules made due, what it is about, and the proof as text; `further` is what it
    looks at besides as far as there is time, in this order."""

    name: str
    targets: tuple[str, ...]
    why: str
    further: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verification:
    """All verdicts of one attempt."""

    verdicts: tuple[Verdict, ...] = ()

    def having(self, *statuses: str) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.status in statuses)

    @property
    def failed(self) -> bool:
        return bool(self.having("failed"))


@dataclass(frozen=True)
class Outcome:
    """How a turn ended. `message` is one line; `answer` the model's last text; tokens are of the
    whole turn, `estimated` when the server did not count all of them; `cost` is in US dollars, None
    when the price of any part is not known."""

    kind: OutcomeKind
    message: str
    answer: str = ""
    changed: tuple[str, ...] = ()
    steps: int = 0
    attempts: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    estimated: bool = False
    cost: float | None = None
    seconds: float = 0.0
    verdicts: tuple[Verdict, ...] = field(default=(), repr=False)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.kind]
