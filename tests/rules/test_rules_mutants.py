"""An engine with a fault in it does not pass the random programs.

`python -m tests.rules.mutants` tries all faults; here are a few that are found soon.
"""

import pytest

from tests.rules.faults import MUTANTS
from tests.rules.mutants import verdict

QUICK = ("no revival", "no ghosts")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_can_still_be_made(mutant):
    assert not mutant.stale()


def test_the_names_of_mutants_differ():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 16


def test_the_engine_as_it_is_passes():
    fault, _ = verdict(None, turns=1, small=30)
    assert not fault


@pytest.mark.parametrize(
    "mutant", [each for each in MUTANTS if each.name in QUICK], ids=lambda mutant: mutant.name
)
def test_a_fault_in_the_engine_is_found(mutant):
    fault, _ = verdict(mutant)
    assert not fault
