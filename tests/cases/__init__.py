"""Folders of cases with known answers: `python -m tests.cases KIND PATH`."""
