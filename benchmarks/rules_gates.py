"""Rules as teams write them: who may do what to which file, and which checks a change needs."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.rules_workloads import Facts

Request = tuple[str, str, str]
"""Number of the call, tool, path."""
Lookup = dict[str, str]
"""Path to its owner, or to the generator that wrote it."""
FILES = 9_000
PACKAGES = 100
TEAMS = 40
GENERATORS = 30


@dataclass(frozen=True)
class Permission:
    """One rule: the decision, the rest of its body, and the same condition in Python."""

    tool: str
    decision: str
    reason: str
    condition: str
    holds: Callable[[str, Lookup, Lookup], bool]

    @property
    def text(self) -> str:
        return (
            f"{self.reason}: permission(Id, '{self.decision}', '{self.reason}') :- "
            f"tool_requested(Id, '{self.tool}', F), {self.condition}."
        )


def package(number: int) -> str:
    return f"src/pkg{number:03}"


def permissions() -> list[Permission]:
    """198 rules: folders, globs, owners, generated files; DECISION adds two."""
    rules = []
    for n in range(80):
        tool, folder = ("edit", "delete")[n % 2], package(n)
        rules.append(
            Permission(tool, "ask", f"folder_{n}", f"path_in('{folder}', F)", _within(folder))
        )
    for n in range(40):
        pattern, folder = f"{package(n)}/api/*.py", f"{package(n)}/api"
        rules.append(
            Permission("edit", "ask", f"api_{n}", f"glob('{pattern}', F)", _within(folder))
        )
    for n in range(TEAMS):
        condition = f"owner(F, 'team_{n}'), not role('agent', 'team_{n}')"
        rules.append(Permission("edit", "ask", f"owner_{n}", condition, _owned(f"team_{n}")))
    for n in range(GENERATORS):
        condition = f"generated(F, 'generator_{n}')"
        rules.append(
            Permission("edit", "deny", f"generated_{n}", condition, _made(f"generator_{n}"))
        )
    for tool in ("read", "edit", "delete", "run"):
        condition = "not file(F)"
        rules.append(Permission(tool, "deny", f"unknown_{tool}", condition, _never))
        rules.append(Permission(tool, "deny", f"secret_{tool}", "ends_with(F, '.pem')", _never))
    return rules


DECISION = """
decided: decided(Id) :- permission(Id, _, _).
allowed: allowed(Id) :- tool_requested(Id, _, _), not decided(Id).
"""


def _within(folder: str) -> Callable[[str, Lookup, Lookup], bool]:
    return lambda path, owners, makers: path.startswith(folder + "/")


def _owned(team: str) -> Callable[[str, Lookup, Lookup], bool]:
    return lambda path, owners, makers: owners.get(path) == team


def _made(generator: str) -> Callable[[str, Lookup, Lookup], bool]:
    return lambda path, owners, makers: makers.get(path) == generator


def _never(path: str, owners: Lookup, makers: Lookup) -> bool:
    return False


def permission_text() -> str:
    return "\n".join(rule.text for rule in permissions()) + DECISION


def permission_facts() -> Facts:
    """About 20,000 facts on 9,000 files: nearly all owned, some generated."""
    chance = random.Random(41)
    names = [
        f"{package(n % PACKAGES)}/{('api', 'core', 'store')[n // PACKAGES % 3]}/module{n:05}.py"
        for n in range(FILES)
    ]
    owned = chance.sample(names, FILES * 9 // 10)
    made = chance.sample(names, FILES // 3)
    return {
        "file": [(name,) for name in names],
        "owner": [(name, f"team_{chance.randrange(TEAMS)}") for name in owned],
        "generated": [(name, f"generator_{chance.randrange(GENERATORS)}") for name in made],
        "role": [("agent", "helper")],
    }


def requests(facts: Facts, count: int) -> list[Request]:
    chance = random.Random(43)
    names = [str(row[0]) for row in facts["file"]]
    tools = ("read", "edit", "edit", "edit", "delete", "run")
    return [
        (f"call_{number}", chance.choice(tools), chance.choice(names)) for number in range(count)
    ]


def expected(facts: Facts, asked: list[Request]) -> list[set[tuple[str, str]]]:
    """For each request the decisions and reasons, worked out rule by rule in Python."""
    owners = {str(row[0]): str(row[1]) for row in facts["owner"]}
    makers = {str(row[0]): str(row[1]) for row in facts["generated"]}
    rules = permissions()
    return [
        {
            (rule.decision, rule.reason)
            for rule in rules
            if rule.tool == tool and rule.holds(path, owners, makers)
        }
        for _, tool, path in asked
    ]


GATES = (
    "gate_{n}: file_modified(?file) + path_in('src/pkg{n:03}', ?file) + "
    "not waived('review_{n}', ?file) "
    "-> verify_gate('review_{n}')",
    "security_{n}: verify_gate('security_{n}') :- file_modified(F), file(F, 'python'), "
    "glob('src/pkg{n:03}/api/*.py', F).",
    "target_{n}: file_modified(?file) + test_covers(?test, ?file) + owner(?file, 'team_{n}') "
    "-> gate_target('run_tests_{n}', ?test)",
    "missing_{n}: missing_test(F, 'area_{n}') :- file_created(F), path_in('lib/area{n}', F), "
    "not test_covers(_, F).",
    "limit_{n}: verify_gate('split_{n}') :- owner(_, 'team_{n}'), "
    "N = count : {{ file_modified(F), owner(F, 'team_{n}') }}, N > {n} + 10.",
    "changes_{n}: verify_gate('changelog_{n}') :- file_modified(F), starts_with(F, 'pkg{n}/'), "
    "not file_modified('pkg{n}/CHANGELOG.md').",
    "deny_{n}: permission(Id, 'deny', 'generated_{n}') :- tool_requested(Id, 'edit', F), "
    "generated(F, 'generator_{n}').",
    "reach_{n}: affected_{n}(G) :- imports(G, F), affected_{n}(F), path_in('src/pkg{n:03}', G).",
    "start_{n}: affected_{n}(F) :- file_modified(F), F != 'src/pkg{n:03}/__init__.py'.",
    "size_{n}: large_change('team_{n}', N) :- N = sum X : {{ changed_lines(F, X), "
    "owner(F, 'team_{n}') }}, N >= {n} * 10.",
)


def gate_text(rules: int) -> str:
    """That many rules of ten kinds, each with a comment before it."""
    lines = []
    for number in range(rules):
        area, kind = divmod(number, len(GATES))
        lines += [f"# area {area}, rule {kind}", GATES[kind].format(n=area), ""]
    return "\n".join(lines)
