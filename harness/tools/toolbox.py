"""The one place where a call is prepared, approved, run and finished."""

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from harness.errors import MalformedCall, ToolError, TurnEnd, UnknownTool
from harness.journal import Journal
from harness.model.arguments import ALIASES
from harness.model.history import INTERRUPTED
from harness.model.values import Call
from harness.tools.approval import Answer, Approvals, Judge, Requested, Ruling, no_ruling
from harness.tools.arguments import check
from harness.tools.base import Arguments, Prepared, Result, Tool, ToolContext
from harness.workspace.paths import locate

MOST_CHARACTERS = 24_000
"""Of one result that are sent to the model."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOTHING = Prepared(lambda: Result(""))


def all_tools() -> tuple[Tool, ...]:
    """Every tool, in the order the model is told of them."""
    from harness.tools import (
        find_definitions,
        find_references,
        list_files,
        outline,
        patch_file,
        read_file,
        read_symbol,
        remember,
        run_shell,
        search,
        write_file,
    )

    return (
        list_files.TOOL,
        read_file.TOOL,
        search.TOOL,
        find_definitions.TOOL,
        find_references.TOOL,
        outline.TOOL,
        read_symbol.TOOL,
        run_shell.TOOL,
        write_file.TOOL,
        patch_file.TOOL,
        remember.REMEMBER,
        remember.FORGET,
    )


class Toolbox:
    """Runs calls; whatever goes wrong becomes a sentence for the model."""

    def __init__(
        self,
        context: ToolContext,
        approvals: Approvals,
        journal: Journal,
        judge: Judge = no_ruling,
        tools: Iterable[Tool] | None = None,
    ) -> None:
        """`judge` is asked about each prepared call before anybody else is; `tools` are all
        there are unless given."""
        self._context = replace(context, remaining=self._remaining)
        self._judge = judge
        self._approvals = approvals
        self._journal = journal
        self._tools: Mapping[str, Tool] = {
            tool.name: tool for tool in (all_tools() if tools is None else tools)
        }
        self._started = 0.0
        self.deadline: float | None = None
        """In `time.monotonic()` seconds: when what runs has to stop."""
        self.denied = 0

    def _remaining(self) -> float:
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()

    def schemas(self) -> list[dict[str, Any]]:
        return [tool.schema() for tool in self._tools.values()]

    @property
    def access(self) -> Mapping[str, str]:
        """What each tool does: read, write, execute or remember."""
        return {name: tool.access for name, tool in self._tools.items()}

    def changes_files(self, name: str) -> bool:
        """Whether a call of this tool can change the workspace's files."""
        tool = self._tools.get(name)
        return tool is not None and tool.access in ("write", "execute")

    def path_of(self, call: Call) -> str:
        """The canonical path a call is about, or '' when it names none that can be used."""
        try:
            return self._path(self._checked(self._tools.get(call.name), call)[1])
        except ToolError:
            return ""

    def _path(self, arguments: Arguments) -> str:
        spelling = arguments.get("path")
        try:
            return locate(str(self._context.root.path), spelling).path if spelling else ""
        except ToolError:
            return ""

    def run(self, call: Call) -> Result:
        """Announce the call and run it; KeyboardInterrupt passes through after being journalled.

        The caller gives the result to `report`, since it may add a remark for the model.
        """
        tool = self._tools.get(call.name)
        summary = _summary(tool, call)
        shown = dict(call.arguments) if call.arguments is not None else call.raw
        self._journal.emit(
            "tool_call", id=call.id, name=call.name, arguments=shown, summary=summary
        )
        self._started = time.monotonic()
        try:
            return self._result(tool, call, summary)
        except KeyboardInterrupt:
            self.report(call, Result(INTERRUPTED, "interrupted", ok=False))
            raise

    def report(self, call: Call, result: Result, whole: str | None = None) -> None:
        """Journal a result as the model gets it; `whole` is the text of one that was cut."""
        self.denied += result.denied
        self._journal.emit(
            "tool_result",
            id=call.id,
            name=call.name,
            ok=result.ok,
            denied=result.denied,
            text=result.text,
            **({} if whole is None or whole == result.text else {"whole": whole}),
            note=result.note,
            diff=result.diff,
            seconds=round(time.monotonic() - self._started, 3),
        )

    def _result(self, tool: Tool | None, call: Call, summary: str) -> Result:
        try:
            tool, arguments = self._checked(tool, call)
        except ToolError as error:
            return _bounded(_failed(error, "malformed call", malformed=True))
        try:
            path = self._path(arguments)
            ruling = self._ruling(tool, call, arguments, path)
            prepared = _NOTHING  # for a refusal: the call's errors could tell what is in a file
            if ruling.decision != "deny":
                prepared = tool.prepare(self._context, arguments)
                if prepared.path not in ("", path):
                    ruling = self._ruling(tool, call, arguments, prepared.path)
            denial = self._denial(tool, prepared, call, summary, ruling)
            return denial or _bounded(prepared.run())
        except ToolError as error:
            return _bounded(_failed(error, "error"))
        except TurnEnd:
            raise
        except Exception as error:
            what = f"Error: {call.name} failed: {type(error).__name__}: {error}"
            return _bounded(Result(what, "error", ok=False))

    def _checked(self, tool: Tool | None, call: Call) -> tuple[Tool, dict[str, Any]]:
        if tool is None:
            raise UnknownTool(_unknown(call.name, self._tools))
        if call.arguments is None:
            raise MalformedCall(call.problem or "The arguments are not a JSON object.")
        return tool, check(tool, call.arguments)

    def _ruling(self, tool: Tool, call: Call, arguments: Arguments, path: str) -> Ruling:
        command = arguments["command"] if tool.access == "execute" else ""
        return self._judge(Requested(call.id, tool.name, path, command))

    def _denial(
        self, tool: Tool, prepared: Prepared, call: Call, summary: str, ruling: Ruling
    ) -> Result | None:
        answer = self._approvals.decide(tool, prepared, summary, ruling)
        self._started = time.monotonic()  # the time to think is the user's
        if tool.access != "read" or ruling.decision:
            self._journal.emit(
                "approval",
                id=call.id,
                tool=tool.name,
                decision="allow" if answer.allow else "deny",
                by=answer.by,
                comment=answer.comment,
            )
        return None if answer.allow else _refusal(tool, answer)


def _failed(error: ToolError, note: str, malformed: bool = False) -> Result:
    text = f"Error: {error}"
    return Result(text, note, ok=False, malformed=malformed, error=error.error_class)


def _refusal(tool: Tool, answer: Answer) -> Result:
    why = f" ({answer.comment})" if answer.comment else ""
    text = f"Denied{why}: {tool.name} was not run. Do not repeat it; say what you would change."
    note = answer.comment if answer.by == "rule" else "denied"
    return _bounded(Result(text, note, ok=False, denied=True))


def _summary(tool: Tool | None, call: Call) -> str:
    """The one argument worth seeing, on one line."""
    arguments = call.arguments or {}
    names = [tool.shows, *ALIASES.get(tool.shows, ())] if tool else list(arguments)
    values = [arguments[name] for name in names if arguments.get(name) is not None]
    return " ".join(str(values[0]).split())[:200] if values else ""


def _unknown(name: str, tools: Mapping[str, Tool]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, tools, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"There is no tool {name!r}.{hint} The tools are: {', '.join(tools)}."


def _bounded(result: Result) -> Result:
    # undecodable bytes and NUL have no place in a request
    text = _SURROGATE.sub("\ufffd", result.text.replace("\0", "\\0"))
    if len(text) > MOST_CHARACTERS:
        half = MOST_CHARACTERS // 2
        left_out = len(text) - 2 * half
        text = f"{text[:half]}\n... {left_out} characters left out ...\n{text[-half:]}"
    return replace(result, text=text)
