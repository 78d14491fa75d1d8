"""remember and forget: what should be known in later sessions too."""

from harness.errors import ToolError
from harness.tools.base import Arguments, Prepared, Result, Tool, ToolContext, parameters, string
from knowledge import KnowledgeError, needs_confirmation
from knowledge.entry import check

MOST = 50
"""Keys that are listed."""
_SCOPE = string("'workspace' (default) or 'global'", enum=["workspace", "global"])


def _prepare_remember(context: ToolContext, arguments: Arguments) -> Prepared:
    key, content = arguments["key"].strip(), arguments["content"]
    scope = arguments.get("scope", "workspace")
    try:
        check(key, content)
    except KnowledgeError as error:
        raise ToolError(str(error)) from error

    def run() -> Result:
        try:
            context.store.remember(key, content, scope, source_project=context.project)
        except KnowledgeError as error:
            raise ToolError(str(error)) from error
        return Result(f"remembered {key!r} ({scope})", scope)

    reason = needs_confirmation(key, content, scope) or ""
    return Prepared(run, preview=f"{key}: {content}", ask=reason)


def _prepare_forget(context: ToolContext, arguments: Arguments) -> Prepared:
    key, scope = arguments["key"].strip(), arguments.get("scope", "workspace")
    known = [entry.key for entry in context.store.all() if entry.scope == scope]
    if key not in known:
        listed = ", ".join(map(repr, known[:MOST])) or "none"
        raise ToolError(f"There is no {scope} entry {key!r}; known: {listed}.")

    def run() -> Result:
        try:
            there = context.store.forget(key, scope)
        except KnowledgeError as error:
            raise ToolError(str(error)) from error
        text = f"forgot {key!r} ({scope})" if there else f"{key!r} ({scope}) was gone already"
        return Result(text, scope)

    reason = "it removes an entry for every workspace" if scope == "global" else ""
    return Prepared(run, preview=f"forget {key!r} ({scope})", ask=reason)


REMEMBER = Tool(
    name="remember",
    description=(
        "Keep a convention, command or decision for later sessions. Use the key 'test_command' "
        "for the command that runs the tests."
    ),
    parameters=parameters(
        ("key", "content"),
        key=string("Short name, e.g. password_rules"),
        content=string("The convention in one or two sentences"),
        scope=_SCOPE,
    ),
    access="remember",
    shows="key",
    prepare=_prepare_remember,
)
FORGET = Tool(
    name="forget",
    description="Remove a remembered entry.",
    parameters=parameters(("key",), key=string("Its key"), scope=_SCOPE),
    access="remember",
    shows="key",
    prepare=_prepare_forget,
)
