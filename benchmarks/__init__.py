"""Measurements; each prints a table and, last, one JSON line with its figures."""
