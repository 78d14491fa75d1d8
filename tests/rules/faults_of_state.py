"""Faults in what the engine keeps: indexes, what an update changed, and how to undo it."""

from tests.rules.mutants import Mutant

OF_STATE = (
    Mutant(
        "derived rows are not indexed",
        "    relation.enter(rows)\n",
        "",
        "a join does not find what another rule concluded",
    ),
    Mutant(
        "empty buckets, one by one",
        "    if len(bucket) == 1:\n        del index[value]",
        "    if len(bucket) == 1:\n        bucket.clear()",
        "a key without rows looks as if it had some",
    ),
    Mutant(
        "empty buckets, in bulk",
        "if len(gone) == len(bucket):\n            del index[value]",
        "if len(gone) == len(bucket):\n            bucket.clear()",
        "a key without rows looks as if it had some",
    ),
    Mutant(
        "long buckets take no more",
        "bucket[row] = None  # type: ignore[call-overload]",
        "pass",
        "a row that joins a long bucket is not found",
    ),
    Mutant(
        "long buckets lose nothing",
        "bucket = index[value] = dict.fromkeys(bucket)",
        "bucket = dict.fromkeys(bucket)",
        "a row that was taken from a long bucket is still found",
    ),
    Mutant(
        "back and yet told",
        "if row not in gone] if gone else rows",
        "]",
        "a row that went and came in one update is announced",
    ),
    Mutant(
        "gone and yet there",
        ".rows\n        went = [row for row in ranks if row not in held]",
        ".rows\n        went = list(ranks)",
        "a row that came back is announced as gone",
    ),
    Mutant(
        "derived rows are not undone",
        "engine.log.append((relation.remove, rows[:]))",
        "pass",
        "what an undone update derived stays",
    ),
    Mutant(
        "notes that change afterwards",
        "engine.log.append((relation.remove, rows[:]))",
        "engine.log.append((relation.remove, rows))",
        "the list of what to undo grows with the delta",
    ),
    Mutant(
        "origins are not undone",
        "\n        else:\n            asserted[row] = origin",
        "",
        "an undone update leaves its origin",
    ),
    Mutant(
        "marks are not undone",
        "engine.log.append((held.update, marked))",
        "pass",
        "rows that were about to go keep the mark",
    ),
    Mutant(
        "the first change is undone first",
        "for each in reversed(past):\n            _undo",
        "for each in past:\n            _undo",
        "a rollback over several updates undoes them in the wrong order",
    ),
    Mutant(
        "snapshots without history",
        "first = min((snapshot.at for snapshot in self._snapshots), default=end)",
        "first = end",
        "older snapshots lose their way back",
    ),
    Mutant(
        "what questions worked out stays",
        "_undo(engine.log)  # which notes",
        "# which notes",
        "a rollback leaves values of groups that were asked for since",
        "test_rules_snapshots.py",
    ),
    Mutant(
        "room is not given back",
        "engine.limits.room[0] = each.room",
        "pass",
        "after a rollback there is less room than before",
        "test_rules_limits.py",
    ),
    Mutant(
        "questions are work",
        "self.meter[0] = _UNMETERED",
        "pass",
        "after many questions one is refused",
        "test_rules_limits.py",
    ),
    Mutant(
        "work is never given back",
        "self.meter[0] = self.max_work",
        "pass",
        "many small updates are together too much work",
        "test_rules_limits.py",
    ),
    Mutant(
        "a broken update is half done",
        "self._broken = [origins]",
        "self._broken = []",
        "what Ctrl-C breaks off is not undone",
        "test_rules_interrupted.py",
    ),
)
