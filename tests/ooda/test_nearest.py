"""The order in which tests run that a change merely affects."""

from harness.ooda.nearest import nearest_first
from rules import Database, kernel


def test_the_fewest_imports_come_first_and_what_is_not_reached_last() -> None:
    database = Database(kernel())
    for importer, imported in [("b", "a"), ("c", "b"), ("b", "c"), ("z_b", "b"), ("y_c", "c")]:
        database.assert_fact("imports", importer, imported)
    database.assert_fact("file_modified", "a")
    assert nearest_first({"y_c", "z_b", "a_x", "a_d"}, database) == ("z_b", "y_c", "a_d", "a_x")
    assert nearest_first(set(), database) == ()
