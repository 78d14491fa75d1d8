"""An engine with a fault in it does not pass the random programs, or the tests that are named.

`python -m tests.rules.mutants` tries all faults; here are a few that are found soon.
"""

import pytest

from tests.rules.faults import MUTANTS
from tests.rules.mutants import ROOT, run_module, trial, verdict

QUICK = (
    "no revival",
    "no ghosts",
    "support of any rank",
    "the first wave is the last",
    "a removed fact enables nothing",
    "any is one",
    "empty buckets, one by one",
    "back and yet told",
    "derived rows are not undone",
    "the first change is undone first",
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_can_still_be_made(mutant):
    assert not mutant.stale()


def test_the_names_of_mutants_differ():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 16


@pytest.mark.parametrize("module", sorted({mutant.tests for mutant in MUTANTS} - {""}))
def test_the_modules_that_mutants_are_tried_on_exist(module):
    assert (ROOT / "tests" / "rules" / module).is_file()


def test_without_a_fault_nothing_fails():
    control = trial(None, turns=1, small=10, large=3)
    assert not control.killed, control.output
    assert (control.runs, control.large) == (10, 3)
    assert run_module(ROOT, "test_rules_aggregates.py") == (False, "")


@pytest.mark.parametrize("name", QUICK)
def test_a_fault_in_the_engine_is_found(name):
    (mutant,) = (mutant for mutant in MUTANTS if mutant.name == name)
    fault, _ = verdict(mutant, turns=1)
    assert not fault
