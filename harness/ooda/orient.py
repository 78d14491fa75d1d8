"""Orient: the conventions and the code that matter for a request, each with its reason."""

from collections.abc import Callable, Mapping, Sequence

from harness.code.index import CodeIndex
from harness.code.records import Symbol
from harness.errors import ToolError
from harness.model.tokens import estimate_tokens
from harness.ooda import prompts
from harness.ooda.turn import Context, Pick, Turn
from harness.workspace.edits import decode
from harness.workspace.root import Root
from knowledge import Entry, Store, select

ENTRY_TOKENS = 600
CODE_TOKENS = 2000
MOST_FILES = 4
TEST_COMMAND = "test_command"
"""The entry that the test gate runs; it is always shown."""


class Orient:
    """Picks context anew at each turn, from what is on disk."""

    def __init__(
        self,
        root: Root,
        index: Callable[[], CodeIndex],
        store: Store,
        withheld: Callable[[Sequence[str]], Mapping[str, str]] = lambda paths: {},
        code_room: Callable[[int], int] = lambda usual: usual,
    ) -> None:
        """`withheld` gives those of the paths that rules do not let be read unasked; `code_room`
        makes the tokens for code fewer where the model's context is small."""
        self._withheld = withheld
        self._code_room = code_room
        self._root = root
        self._index = index
        self._store = store

    def __call__(self, turn: Turn) -> Context:
        entries = self._entries(turn.request)
        code, left_out = self._code(turn.request)
        picks = (*entries, *code)
        return Context(picks, prompts.context(picks), left_out)

    def _entries(self, request: str) -> list[Pick]:
        known = self._store.entries()
        chosen = select(known, request, limit=5, token_budget=ENTRY_TOKENS)
        picks = [_entry_pick(s.entry, s.reason, s.score) for s in chosen]
        always = [entry for entry in known if entry.key == TEST_COMMAND]
        missing = [entry for entry in always if entry not in [s.entry for s in chosen]]
        return picks + [_entry_pick(e, "always: the test gate runs it", 1.0) for e in missing]

    def _code(self, request: str) -> tuple[list[Pick], int]:
        index = self._index()
        picks: list[Pick] = []
        budget, left_out = self._code_room(CODE_TOKENS), 0
        matches = list(index.search(request, limit=MOST_FILES))
        withheld = self._withheld([match.path for match in matches])
        for match in matches:
            if match.path in withheld:
                left_out += 1
                continue
            text = self._render(index, match.path, match.symbols, budget)
            tokens = estimate_tokens(text)
            if not text or tokens > budget:
                left_out += 1
                continue
            budget -= tokens
            picks.append(Pick("code", match.path, match.reason, match.score, text, tokens))
        return picks, left_out

    def _render(self, index: CodeIndex, path: str, matched: tuple[Symbol, ...], budget: int) -> str:
        """The whole file when it is short, else its outline and the bodies that matched."""
        try:
            text = decode(self._root.read(path), path).text.replace("\r\n", "\n")
        except ToolError:
            return ""
        if estimate_tokens(text) <= budget // 2:
            return f"{path}:\n```python\n{text.rstrip()}\n```"
        parts = [f"{path} (outline):"]
        for symbol in index.outline(path)[:80]:
            indent = "  " * symbol.qualified.count(".")
            parts.append(f"{indent}{symbol.start_line}: {symbol.signature or symbol.name}")
        lines = text.split("\n")
        for symbol in matched[:3]:
            body = "\n".join(lines[symbol.start_line - 1 : symbol.end_line])
            if symbol.kind != "class" and estimate_tokens("\n".join([*parts, body])) <= budget:
                parts.append(f"{symbol.qualified}:\n```python\n{body}\n```")
        return "\n".join(parts)


def _entry_pick(entry: Entry, reason: str, score: float) -> Pick:
    text = f"- {entry.key} ({entry.scope}): {entry.content}"
    return Pick("entry", entry.key, reason, score, text, estimate_tokens(text))
