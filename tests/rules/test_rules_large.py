"""Incremental maintenance where relations are large enough for plans, indexes and bulk deletion."""

import os
from random import Random

import pytest

from tests.rules.large import PAIRS, PROGRAMS, Graph

MORE = int(os.environ.get("RULES_EXAMPLES", "1"))


@pytest.mark.parametrize("kind", PAIRS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_updates_of_large_relations(name, kind):
    for seed in range(MORE):
        Graph(name, kind, Random(f"{name} {kind} {seed}")).run(12)
