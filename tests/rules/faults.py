"""Faults to plant in the engine; see `tests.rules.mutants`.

Not among them is what only costs time, since no answer shows it: doubting rows of any rank, or
settling doubted rows in another order, for a row that loses its support is doubted once more;
passing over what `_refuted` knows about removed rows; and one rank for all rules that run
together, since none of them sees rows of its own rank.
"""

from tests.rules.faults_of_state import OF_STATE
from tests.rules.mutants import Mutant

OF_DELETION = (
    Mutant(
        "no revival",
        "delta = deletion.revive(engine, component, dead)",
        "delta: Delta = {}",
        "rows that have another derivation do not come back",
    ),
    Mutant(
        "no ghosts",
        "if gone and _meet(leads):",
        "if False:",
        "what lost two premises at once is not doubted",
    ),
    Mutant(
        "doubts pass over the next rank",
        'low = "" if self._known_early else " or held <= above"',
        'low = "" if self._known_early else " or held <= above + 1"',
        "a row of the rank after that of a lost premise is not doubted",
    ),
    Mutant(
        "doubts pass over their own rank and early heads",
        'self.skip("held <= above")',
        'self.skip("held <= above + 1")',
        "the same for conclusions without variables",
    ),
    Mutant(
        "support of any rank",
        'return "limit" if scan.predicate in self.context.component else ""',
        'return ""',
        "rows support each other in a circle",
    ),
    Mutant(
        "support of the same rank",
        'self.skip(f"{rows}[{row}] >= {limit}")',
        'self.skip(f"{rows}[{row}] > {limit}")',
        "two rows of one round support each other",
    ),
    Mutant(
        "support of the same rank, whole rows",
        "{self.name('c', DEAD)}) >= {limit}",
        "{self.name('c', DEAD)}) > {limit}",
        "the same where all values of a premise are known",
    ),
    Mutant(
        "the first wave is the last",
        "            _doubt(engine, leads, doubts)\n    for name",
        "    for name",
        "what rested on a removed row stays",
    ),
    Mutant(
        "anew without assertions",
        "relation.replace(dict.fromkeys(relation.asserted, 0))\n        engine.limits",
        "relation.replace({})\n        engine.limits",
        "asserted rows are lost when a component is derived anew",
    ),
    Mutant(
        "anew and unannounced",
        "if row not in ranks or row in new]",
        "if row not in ranks]",
        "what was asserted in the same update is not told",
    ),
    Mutant(
        "revived rows of rank 0",
        "dict.fromkeys(alive, engine.tick())",
        "dict.fromkeys(alive, 0)",
        "ranks do not show what came before what",
    ),
    Mutant(
        "negation met from above is no loss",
        "leads += _refuted(engine, uses.of(rows), net.removed.get(name, ()))",
        "leads += ()",
        "what a new fact refutes stays",
    ),
    Mutant(
        "a refuted negation needs one fact alone",
        "== came[key(row)]]",
        "== 1]",
        "two new facts against one negation refute nothing",
    ),
    Mutant(
        "asserted rows can fall",
        "for row in group if row not in asserted]",
        "for row in group]",
        "an assertion does not count as a reason",
    ),
    Mutant(
        "retracted rows are not doubted",
        "doubts.setdefault(name, {}).update(dict.fromkeys(rows))",
        "doubts.setdefault(name, {})",
        "a retracted fact of a concluded predicate stays",
    ),
)

OF_INSERTION = (
    Mutant(
        "a removed fact enables nothing",
        "others += uses.of(rows)",
        "others += ()",
        "a negation that begins to hold concludes nothing",
    ),
    Mutant(
        "every lead covers all",
        "if len(rows) == len(engine.relation(name).rows):",
        "if True:",
        "of several leads of one clause only one runs",
    ),
    Mutant(
        "own rows at once",
        "if not limit and self.snapshot(scan):",
        "if not limit and False:",
        "a premise may have the rank of its conclusion",
    ),
    Mutant(
        "a bundle takes rows as they are",
        "checks.append((column, term))",
        "pass",
        "rules that run together do not look at constants and repeated variables",
        "test_rules_bundles.py",
    ),
    Mutant(
        "removals stay below",
        "if name in net.added or name in net.removed:",
        "if name in net.added:",
        "components above hear of additions alone",
    ),
    Mutant(
        "a constant of several",
        "uses.setdefault(min(constants, key=shared.__getitem__), []).append(use)",
        "uses.setdefault(min(constants, key=shared.__getitem__), [use])",
        "of the uses that share a constant only one is found",
    ),
    Mutant(
        "the uses of another row",
        "key = tuple([row[at] if row[at] in table else None for at, table in tables.items()])",
        "key = tuple([row[at] in table for at, table in tables.items()])",
        "rows with different constants get the same uses",
    ),
    Mutant(
        "a piece keeps two values",
        "args = tuple(variable for variable in had if variable in needed)",
        "args = tuple(variable for variable in had if variable in needed)[:2]",
        "a long body loses the values between its pieces",
    ),
    Mutant(
        "a piece counts once",
        "_split([self._named(step) for step in body])",
        "_split(body)",
        "between braces of many conditions `_` does not multiply",
        "test_rules_aggregates.py",
    ),
    Mutant(
        "subtraction the wrong way",
        'side, value = right, Expression("-", left, value)',
        'side, value = right, Expression("-", value, left)',
        "`3 - X = Y` is solved as if it were `X - 3 = Y`",
    ),
    Mutant(
        "addition the wrong way",
        'Expression("-" if operator == "+" else "+", value, right)',
        'Expression("+" if operator == "+" else "-", value, right)',
        "`X + 1 = Y` is solved as if it were `X - 1 = Y`",
    ),
)

OF_AGGREGATES = (
    Mutant(
        "one row touches its group",
        "None) for row in rows)",
        "None) for row in list(rows)[:1])",
        "of several changed rows the first alone touches a group",
    ),
    Mutant(
        "groups of a broken body",
        "groups = self._groups(place) if len(changed) == 1 else None",
        "groups = self._groups(place)",
        "two steps that changed at once do not find their groups",
    ),
    Mutant(
        "untouched by others",
        "                return list(self.memo)",
        "                continue",
        "changes that do not name their group touch none",
    ),
    Mutant(
        "former values are forgotten",
        "values = self.changed.get(key) or (self.memo.get(key),)",
        "values = (self.memo.get(key),)",
        "what followed from a former value and lost another premise is not doubted",
    ),
    Mutant(
        "a changed group stays changed",
        "self._log.append((self.memo.update, {key: before}))",
        "pass",
        "a value is not undone",
    ),
    Mutant(
        "a new group stays",
        "self._log.append((self.memo.pop, key))",
        "pass",
        "a group that was first asked for in an update that is undone has a value that is stale",
    ),
    Mutant(
        "any is one",
        "counts_existence = True",
        "counts_existence = False",
        "`_` does not multiply",
    ),
    Mutant(
        "every value counts",
        'self._distinct = fold.function == "count" and fold.term is not None',
        "self._distinct = False",
        "`count X` is not of different values",
    ),
    Mutant(
        "rows are counted whatever is in them",
        "return len(set(inner)) == len(inner)",
        "return True",
        "`count : { e(X, X) }` counts all of `e`",
    ),
    Mutant(
        "aggregates hear of additions alone",
        "for changes in (net.added, net.removed):\n                if",
        "for changes in (net.added,):\n                if",
        "a group that lost something keeps its value",
    ),
    Mutant(
        "inner aggregates stand still",
        "self.folds += [(inner, (number, INNER)) for inner in _nested(step)]",
        "pass",
        "an aggregate within another keeps its first value",
    ),
)

MUTANTS = (*OF_DELETION, *OF_INSERTION, *OF_AGGREGATES, *OF_STATE)
