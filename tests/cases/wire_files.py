"""The layer `tool`: one call of our real tools in a real workspace."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from harness.journal import Journal
from harness.model.values import Call
from harness.tools.approval import Answer, Approvals
from harness.tools.base import Result
from harness.tools.toolbox import Toolbox
from harness.workspace.changes import compare
from tests.cases.wire_classes import outside
from tests.cases.wire_course import Course, faults_of_deeds, faults_of_words
from tests.cases.wire_match import Seen, faults_of_reply
from tests.cases.wire_replies import decoded, seen
from tests.cases.wire_rules import Json
from tests.cases.wire_tools import CaseTools
from tests.cases.wire_turn import tool_context


def check_tool(case: Json) -> Iterator[str]:
    expect = case["expect"]
    reply = decoded(case)
    read = seen(reply, CaseTools(case))
    with tempfile.TemporaryDirectory(prefix="wire-") as base:
        workspace = Path(base).resolve() / "workspace"
        _fill(workspace, case.get("workspace") or {})
        results, modified = _run(workspace, reply.calls)
        after = _texts(workspace)
    said = "\n".join(result.text for result in results)
    error = next((result.error for result in results if result.error), "")
    taken = [text for text in expect.get("accept_result") or () if text in said]
    # the call itself is expected as the model made it; what became of it is the error
    yield from faults_of_reply(
        Seen(read.calls, read.text, outside(error), read.reasoning, read.finish),
        {**expect, "error": None} if taken and not error else expect,
    )
    yield from _files(case, expect, after)
    wanted = expect.get("result_contains")
    if wanted is not None and wanted not in said:
        yield f"the result is {said!r}, without {wanted!r}"
    course = Course(said=said, ran=read.calls, modified=modified)
    if not taken:
        yield from faults_of_words(expect, course)
    yield from faults_of_deeds(expect, course)


def _run(workspace: Path, calls: tuple[Call, ...]) -> tuple[list[Result], tuple[str, ...]]:
    """The results, and the paths that the facts would call modified."""
    with tool_context(workspace) as context:
        toolbox = Toolbox(context, Approvals("auto", lambda request: Answer(False)), Journal())
        before = context.tracker.snapshot()
        results = [toolbox.run(call) for call in calls]
        changes = compare(before, context.tracker.snapshot())
    return results, changes.paths


def _fill(workspace: Path, files: Mapping[str, str]) -> None:
    workspace.mkdir()
    for name, text in files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def _texts(workspace: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(workspace.rglob("*")):
        with suppress(IsADirectoryError):
            found[path.relative_to(workspace).as_posix()] = path.read_bytes().decode()
    return found


def _files(case: Json, expect: Json, after: Mapping[str, str]) -> Iterator[str]:
    before = case.get("workspace") or {}
    allowed = [expect.get("files") or {}, *(expect.get("accept_files") or ())]
    wanted = [{**before, **files} for files in allowed]
    wanted = [{name: text for name, text in files.items() if text is not None} for files in wanted]
    if dict(after) not in wanted:
        yield f"the files are {dict(after)}, not {wanted[0]}"
