"""The house: imports run downwards only, and there are no circles."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STOREYS = [
    {"rules", "knowledge"},
    {"harness.errors"},
    {"harness.config", "harness.journal"},
    {"harness.rulebook"},
    {"harness.workspace"},
    {"harness.process"},
    {"harness.model"},
    {"harness.code"},
    {"harness.tools"},
    {"harness.gates"},
    {"harness.ooda"},
    {"harness.reports", "harness.resume", "harness.backends"},
    {"harness.connection"},
    {"harness.startup", "harness.governance"},
    {"harness.parts"},
    {"harness.session"},
    {"harness.terminal"},
    {"harness.demo", "harness.doctor", "harness.flags", "harness.usage"},
    {"harness.rules_command", "harness.models_command", "harness.serve_model"},
    {"harness.cli"},
    {"mini_coding_agent"},
]
HEIGHT = {room: height for height, storey in enumerate(STOREYS) for room in storey}
STOREYS_OF_RULES = [
    {"rules.source", "rules.terms", "rules.patterns"},
    {"rules.errors", "rules.builtins"},
    {"rules.statements"},
    {"rules.syntax", "rules.analysis"},
    {"rules.program"},
    {"rules.engine", "rules.answers"},
    {"rules.database_view"},
    {"rules.database"},
    {"rules"},
]
HEIGHT_IN_RULES = {
    room: height for height, storey in enumerate(STOREYS_OF_RULES) for room in storey
}
FOR_TYPES_ALONE = {("rules.errors", "rules.statements")}
"""What may be imported upwards where nothing but a type checker reads it."""
FILES = sorted(
    path.relative_to(ROOT)
    for base in ("rules", "knowledge", "harness")
    for path in (ROOT / base).rglob("*.py")
    if path.parent.name != "runner"
)


def room(module: str) -> str:
    """The room a dotted module belongs to."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "harness" and len(parts) > 1 else parts[0]


def module_of(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> Iterator[str]:
    """Our own modules that a file imports, also inside functions."""
    for node in ast.walk(ast.parse((ROOT / path).read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            below = [f"harness.{alias.name}" for alias in node.names if alias.name[0] != "_"]
            names = below if node.module == "harness" else [node.module]
        elif isinstance(node, ast.ImportFrom):
            raise AssertionError(f"{path}: relative imports hide the room")
        else:
            continue
        yield from (
            name for name in names if name.split(".")[0] in ("rules", "knowledge", "harness")
        )


@pytest.mark.parametrize("path", FILES, ids=str)
def test_imports_run_downwards(path: Path) -> None:
    own = room(module_of(path))
    if own == "harness":
        return
    for name in imported(path):
        other = room(name)
        assert other in HEIGHT, f"{path} imports {name}, which has no storey"
        assert other == own or HEIGHT[other] < HEIGHT[own], f"{path} imports {name} upwards"


@pytest.mark.parametrize("path", [path for path in FILES if path.parts[0] == "rules"], ids=str)
def test_imports_run_downwards_within_rules(path: Path) -> None:
    own = room_of_rules(module_of(path))
    for name in imported_modules(path):
        other = room_of_rules(name)
        assert other in HEIGHT_IN_RULES, f"{path} imports {name}, which has no storey"
        downwards = HEIGHT_IN_RULES[other] < HEIGHT_IN_RULES[own]
        assert other == own or downwards or (own, name) in FOR_TYPES_ALONE, (
            f"{path} imports {name} upwards"
        )


def room_of_rules(module: str) -> str:
    if module in HEIGHT_IN_RULES:
        return module
    return ".".join(module.split(".")[:2])


def imported_modules(path: Path) -> Iterator[str]:
    """The modules of `rules` that a file imports, also inside functions and for types."""
    for node in ast.walk(ast.parse((ROOT / path).read_bytes())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rules":
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                yield below if is_module(below) else str(node.module)
        elif isinstance(node, ast.Import):
            names = (alias.name for alias in node.names)
            yield from (name for name in names if name.split(".")[0] == "rules")


def is_module(name: str) -> bool:
    place = ROOT / name.replace(".", "/")
    return place.is_dir() or place.with_suffix(".py").exists()


def test_no_module_circles() -> None:
    """Within a room, too, no module imports itself by way of others when it is loaded."""
    graph = {module_of(path): set(load_time_imports(path)) for path in FILES}
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join([*trail, module])
        if module not in done:
            for other in sorted(graph.get(module, ())):
                visit(other, (*trail, module))
            done.add(module)

    for module in sorted(graph):
        visit(module, ())


def load_time_imports(path: Path) -> Iterator[str]:
    tree = ast.parse((ROOT / path).read_bytes())
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                exists = (ROOT / (below.replace(".", "/") + ".py")).exists()
                yield below if exists else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_architecture_names_every_room() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    for name in HEIGHT:
        last = name.removeprefix("harness.")
        assert last in text, f"docs/architecture.md does not name {last}"


def test_architecture_shows_the_order_of_the_rooms_of_rules() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    table = text.partition("### Inside `rules/`")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    shown = [{room_of_rules(module_at(place)) for place in re.findall(r"`(.*?)`", r)} for r in rows]
    assert shown == STOREYS_OF_RULES[::-1]


def module_at(place: str) -> str:
    """`syntax/lexer.py` -> `rules.syntax.lexer`"""
    return module_of(Path("rules", place))
