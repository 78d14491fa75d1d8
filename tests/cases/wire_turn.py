"""A whole turn of our agent, from the request to its end, against the server of a wire case."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.code.index import CodeIndex
from harness.errors import LimitReached, ModelFailure
from harness.journal import Journal
from harness.model.client import Client
from harness.model.history import History
from harness.model.protocols.speaking import Served, Speaker, speaker
from harness.model.servers import Server
from harness.model.values import Asked, Call, Known, Reply, RetryNote, Sampling, Timeouts
from harness.ooda.act import Act, Model
from harness.ooda.limits import Limits, Meter
from harness.tools.approval import Answer, ApprovalRequest, Approvals
from harness.tools.base import ToolContext
from harness.tools.toolbox import Toolbox
from harness.workspace.changes import Tracker
from harness.workspace.root import Root
from knowledge import Store
from tests.cases.wire_course import Course
from tests.cases.wire_replies import known
from tests.cases.wire_rules import Json
from tests.cases.wire_server import Replay
from tests.cases.wire_tools import CaseTools

SYSTEM = "You are a coding agent."
REQUEST = "Look at the project and do what is to be done."
LIMITS = Limits(steps=40, attempts=1, seconds=120.0)
Failure = ModelFailure | LimitReached


@dataclass
class Watched:
    """What answers requests, and all that came of them; `shown` is the streamed text of each."""

    client: Model
    known: Known = field(default_factory=Known)
    replies: list[Reply | ModelFailure] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    notes: list[RetryNote] = field(default_factory=list)

    def complete(
        self,
        asked: Asked,
        on_text: Callable[[str], None],
        on_retry: Callable[[RetryNote], None],
    ) -> Reply:
        def show(text: str) -> None:
            self.shown[-1] += text
            on_text(text)

        def noted(note: RetryNote) -> None:
            self.notes.append(note)
            self.shown[-1] = ""
            on_retry(note)

        self.shown.append("")
        known = replace(self.known, max_tokens=asked.known.max_tokens)
        try:
            reply = self.client.complete(replace(asked, known=known), show, noted)
        except ModelFailure as failure:
            self.replies.append(failure)
            raise
        self.replies.append(reply)
        return reply


@dataclass(frozen=True)
class Turn:
    """How a turn went: `answer`, or `failure`, and all replies before it."""

    answer: str
    failure: Failure | None
    model: Watched
    tools: CaseTools
    requests: list[Json]

    @property
    def course(self) -> Course:
        """What was added to the conversation after the first request, but not by the model, is
        what the harness told it."""
        first = self.requests[0]["messages"] if self.requests else []
        later = [m for body in self.requests[1:] for m in body["messages"][len(first) :]]
        texts = [str(m["content"]) for m in later if m["role"] in ("user", "tool")]
        notes = self.model.notes
        return Course(
            requests=self.requests,
            tries=len(self.requests) or len(notes) + 1,
            waits=tuple(note.wait for note in notes),
            said="\n".join([*dict.fromkeys(texts), str(self.failure or "")]),
            ran=tuple(self.tools.ran),
        )


def client_for(case: Json, replay: Replay, timeouts: Timeouts | None = None) -> Client:
    server = Server(kind="openai", base_url=replay.base_url)
    sampling = Sampling(max_new_tokens=(case.get("request") or {}).get("max_tokens"))
    return Client(server, str(case.get("model") or "m"), sampling, timeouts or Timeouts())


def speaker_for(case: Json, replay: Replay) -> Speaker:
    """The same, asked in another way where the server wants that."""
    client = client_for(case, replay)
    served = Served("openai", replay.base_url, client.model)
    return speaker(client, served, "auto", None, lambda protocol, why: None)


def run_turn(case: Json, replay: Replay, history: History | None = None) -> Turn:
    """One turn, with the tools of the case."""
    tools = CaseTools(case)
    model = Watched(speaker_for(case, replay), known(case))
    journal = Journal()
    with tool_context() as context:
        toolbox = Toolbox(context, Approvals("auto", _refuse), journal, tools=tools.tools)
        act = Act(model, history or History(SYSTEM), toolbox, journal)
        act.say(REQUEST, "request")
        answer, failure = "", None
        try:
            answer = act(Meter(LIMITS), lambda call: None, _writes(tools))
        except (ModelFailure, LimitReached) as error:
            failure = error
        return Turn(answer, failure, model, tools, replay.requests)


def long_history(results: int = 8, lines: int = 120) -> History:
    """A conversation with old results that could be left out."""
    messages: list[Json] = [{"role": "system", "content": SYSTEM}]
    messages.append({"role": "user", "content": "Read all of it."})
    for number in range(results):
        name = f"part{number}.py"
        call = {"name": "read_file", "arguments": f'{{"path": "{name}"}}'}
        entry = {"id": f"old_{number}", "type": "function", "function": call}
        text = "\n".join(f"{name} line {line}: value = {line * number}" for line in range(lines))
        messages.append({"role": "assistant", "content": "", "tool_calls": [entry]})
        messages.append({"role": "tool", "tool_call_id": f"old_{number}", "content": text})
    messages.append({"role": "assistant", "content": "I have read it."})
    return History.from_messages(messages)


@contextmanager
def tool_context(workspace: Path | None = None) -> Iterator[ToolContext]:
    """What real tools work with, around a workspace or an empty folder."""
    with tempfile.TemporaryDirectory(prefix="wire-") as base:
        folder = workspace or Path(base) / "workspace"
        private = Path(base) / "private"
        for path in (folder, private):
            path.mkdir(exist_ok=True)
        root = Root(folder)
        index = CodeIndex(root.read, private)
        try:
            yield ToolContext(
                root=root,
                tracker=Tracker(root, private / "files.json"),
                index=lambda: index,
                store=Store(private / "workspace.json", private / "global.json"),
                private=private,
                shell_timeout=30.0,
                project=folder.name,
            )
        finally:
            index.close()


def _writes(tools: CaseTools) -> Callable[[Call], bool]:
    def after(call: Call) -> bool:
        tool = tools[call.name]
        return tool is not None and tool.access == "write"

    return after


def _refuse(request: ApprovalRequest) -> Answer:
    raise AssertionError(f"nobody is there to be asked about {request.tool}")
