"""`models`: the servers that were found, what they have, and which model would be taken."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TextIO

from harness.config import Options
from harness.errors import ModelFailure, UsageError
from harness.model.models import context_shown
from harness.model.named import api_key, named_server
from harness.model.servers import (
    ALL_SHOWN,
    KNOWN,
    Choice,
    Model,
    Server,
    choose,
    look_around,
    nobody_found,
    resolve,
    taken,
)
from harness.terminal.layout import NARROW, cells, shorten
from harness.terminal.safe import one_line
from harness.terminal.screen import Screen

_SERVED = ("auto", "openai", "ollama")
_HEADS = ("model", "context", "tools", "loaded")
_SHORTEST_NAME = 12
_WORDS = {True: "yes", False: "no", None: "?"}


def models_command(
    options: Options, out: TextIO, as_json: bool = False, known: Mapping[int, str] = KNOWN
) -> int:
    """Print them: a table, or a JSON object a line for each server.

    Raises ModelFailure when none was found and UsageError for a backend that lists no models.
    """
    servers = _servers(options, known)
    used = taken(servers)
    if used is None:
        raise nobody_found(known)
    choice, sentence = _choice(used, options.model)
    if as_json:
        for server in servers:
            chosen = choice if server is used else None
            out.write(json.dumps(_record(server, chosen, sentence if chosen else "")) + "\n")
        return 0
    screen = Screen(out)
    for server in servers:
        _show(screen, server, choice.model.name if choice and server is used else None)
    screen.message("->", sentence)
    return 0


def _servers(options: Options, known: Mapping[int, str]) -> list[Server]:
    if options.backend not in _SERVED:
        raise UsageError(
            f"models lists what servers have, which --backend {options.backend} does not look "
            "for: name the model with --model"
        )
    if named_server(options.host, options.backend) is not None:
        return [resolve(options.host, options.backend, shown=ALL_SHOWN)]
    found = look_around(api_key(for_openai=False), known)
    return [place.server for place in found if place.server]


def _choice(server: Server, wanted: str | None) -> tuple[Choice | None, str]:
    """What would be taken, if anything, and the sentence that says so."""
    try:
        choice = choose(server, wanted)
    except ModelFailure as failure:
        return None, str(failure)
    why = "it was named" if wanted else "nothing else there can chat"
    name = choice.model.name
    return choice, choice.reason or f"takes {name!r} at {server.base_url}: {why}"


def _record(server: Server, choice: Choice | None, sentence: str) -> dict[str, object]:
    return {
        "server": None if server.kind == "openai" else server.kind,
        "address": server.base_url,
        "wants_key": server.wants_key,
        "models": [asdict(model) for model in server.entries],
        "taken": choice.model.name if choice else None,
        "reason": sentence,
    }


def _show(screen: Screen, server: Server, chosen: str | None) -> None:
    kind = "OpenAI-compatible server" if server.kind == "openai" else server.kind
    screen.line(("", f"{kind} at {one_line(server.base_url)}"))
    if not server.entries:
        wants = "it wants a key: set MCA_API_KEY" if server.wants_key else "it lists no models"
        screen.message(" ", wants)
        return
    rows = [(_mark(model, chosen), *_cells(model)) for model in server.entries]
    if screen.width is not None and screen.width < NARROW:
        _show_narrow(screen, rows)
    else:
        _show_table(screen, [("  ", *_HEADS), *rows])


def _mark(model: Model, chosen: str | None) -> str:
    return "> " if chosen in (model.name, model.name.removesuffix(":latest")) else "  "


def _cells(model: Model) -> tuple[str, str, str, str]:
    if model.kind != "chat":
        return one_line(model.name), "embeds" if model.kind == "embedding" else "no chat", "", ""
    words = _WORDS[model.tools], _WORDS[model.loaded]
    return one_line(model.name), context_shown(model), *words


def _show_table(screen: Screen, rows: Sequence[Sequence[str]]) -> None:
    _, names, *others = ([cells(cell) for cell in column] for column in zip(*rows, strict=True))
    widths = [max(column) for column in others]
    room = max(names)
    if screen.width is not None:
        room = min(room, max(_SHORTEST_NAME, screen.width - 3 - sum(widths) - 2 * len(widths)))
    for mark, name, *rest in rows:
        shown = shorten(name, room, screen.glyphs.dots, "middle")
        columns = [shown + " " * (room - cells(shown)), *map(str.ljust, rest, widths)]
        screen.line(("", (mark + "  ".join(columns)).rstrip()))


def _show_narrow(screen: Screen, rows: Iterable[Sequence[str]]) -> None:
    for mark, name, context, tools, loaded in rows:
        width = (screen.width or NARROW) - 3
        screen.line(("", mark + shorten(name, width, screen.glyphs.dots, "middle")))
        words = f"{context}; tools: {tools}; loaded: {loaded}" if tools else context
        screen.line(("", "    " + shorten(words, width - 2, screen.glyphs.dots, "end")))
