"""How much of each request of a scripted turn was already in the one before it.

What counts is what a server's cache can use: each request is written out as a chat template does
it (ChatML, the tools in the system message), and the bytes up to the first difference from the
request before are shared. The share of the turn is the sum of the shared tokens over the sum of
all prompt tokens, from the second request on; tokens are estimated from the bytes, as everywhere.
"""

import argparse
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from harness.config import Options, places
from harness.journal import Event
from harness.model.script import Script
from harness.model.scripted import ScriptedServer
from harness.model.tokens import BYTES_PER_TOKEN
from harness.session import Session
from harness.tools.approval import Answer

ROOT = Path(__file__).resolve().parent.parent
STEPS = 20
AT_LEAST = 0.95
REQUEST = "Let people change their password, and lock them out after five attempts."

METHOD = """
    def change_password(self, username, old, new):
        if len(new) < 8 or not any(character.isdigit() for character in new):
            raise ValueError("at least 8 characters and a digit")
        if not self.authenticate(username, old):
            return False
        self.users_db[username]["password"] = new
        return True
"""


def script() -> list[dict[str, Any]]:
    """Twenty replies: looking, editing, a verdict that is not passed, and a repair."""
    first = "    def is_locked(self, username):"
    return [
        _call("list_files", path="."),
        _call("read_file", path="auth.py"),
        _call("read_file", path="test_auth.py"),
        _call("search", pattern="max_attempts"),
        _call("find_references", name="authenticate"),
        _call("outline", path="auth.py"),
        _call("patch_file", path="auth.py", old_text=first, new_text=f"{METHOD[1:]}\n{first}"),
        _call("read_symbol", path="auth.py", name="AuthService.change_password"),
        _call("run_shell", command="python -m pytest -q test_auth.py"),
        _call("find_definitions", name="AuthService"),
        _call("patch_file", path="auth.py", old_text="attempts = 3", new_text="attempts = 5"),
        {"text": "People can change their password now, and have five attempts."},
        _call("read_file", path="test_auth.py"),
        _call("search", pattern="lockout"),
        _call("patch_file", path="auth.py", old_text="attempts = 5", new_text="attempts = 3"),
        _call("run_shell", command="python -m pytest -q test_auth.py"),
        _call("read_file", path="auth.py", start=1, end=20),
        _call("find_references", name="change_password"),
        _call("run_shell", command="git status --short"),
        {"text": "People can change their password. Five attempts would break a test."},
    ]


def _call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"text": "", "calls": [{"name": name, "arguments": arguments}]}


def run(context: int | None = None) -> tuple[list[Mapping[str, Any]], list[Event], str]:
    """The requests of the turn, its events, and how it ended; `context` is what the model's
    context is said to hold."""
    events: list[Event] = []
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder, "workspace")
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / "example_workspace", workspace, ignore=ignored)
        with ScriptedServer(Script.from_json({"replies": script()})) as server:
            options = Options(
                host=server.base_url,
                approval="auto",
                protocol="native",
                context_length=context,
            )
            where = places(workspace, home=Path(folder, "home"))
            session = Session(
                options,
                where,
                lambda request: Answer(False, by="mode"),
                version="benchmark",
                sinks=[events.append],
            )
            try:
                outcome = session.run(REQUEST)
            finally:
                session.close("end")
            return list(server.requests), events, outcome.kind


def written_out(body: Mapping[str, Any]) -> bytes:
    """A request as the model gets to see it."""
    parts: list[str] = []
    for message in body["messages"]:
        text = message["content"]
        if message["role"] == "system":
            text += "\n\n# Tools\n" + "\n".join(map(json.dumps, body.get("tools", ())))
        for call in message.get("tool_calls", ()):
            function = call["function"]
            made = f'{{"name": "{function["name"]}", "arguments": {function["arguments"]}}}'
            text += f"\n<tool_call>\n{made}\n</tool_call>"
        parts.append(f"<|im_start|>{message['role']}\n{text}<|im_end|>\n")
    return "".join([*parts, "<|im_start|>assistant\n"]).encode()


def shared(before: bytes, after: bytes) -> int:
    """How many bytes two requests begin with alike."""
    pairs = zip(before, after, strict=False)
    differ = (at for at, (one, other) in enumerate(pairs) if one != other)
    return next(differ, min(len(before), len(after)))


def tokens(size: int) -> int:
    return round(size / BYTES_PER_TOKEN)


def report(requests: Sequence[Mapping[str, Any]], events: Sequence[Event], kind: str) -> int:
    prompts = [written_out(body) for body in requests]
    names = [event.payload.get("name") for event in events if event.kind == "tool_call"]
    rows = [(len(after), shared(before, after)) for before, after in pairwise(prompts)]
    print(f"{'request':>7} {'prompt tokens':>14} {'known':>7} {'share':>7}")
    print(f"{1:>7} {tokens(len(prompts[0])):>14,} {0:>7} {0:>7.1%}")
    for number, (size, known) in enumerate(rows, 2):
        print(f"{number:>7} {tokens(size):>14,} {tokens(known):>7,} {known / size:>7.1%}")
    share = sum(known for _, known in rows) / sum(size for size, _ in rows)
    compactions = sum(event.kind == "compacted" for event in events)
    print(f"\n{share:.1%} of the prompt tokens from the second request on were known; ", end="")
    print(f"the conversation was shortened {compactions} times")
    figures = {
        "requests": len(requests),
        "calls": len(names),
        "outcome": kind,
        "compactions": compactions,
        "prompt_tokens": tokens(sum(size for size, _ in rows)),
        "known_tokens": tokens(sum(known for _, known in rows)),
        "share": round(share, 4),
        "at_least": AT_LEAST,
    }
    print(json.dumps(figures))
    enough = share >= AT_LEAST or bool(compactions)
    return 0 if enough and len(requests) == STEPS else 1


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks prefix", description=__doc__)
    parser.add_argument("--context", type=int, help="tokens of the model's context; none is known")
    return report(*run(parser.parse_args(words).context))
