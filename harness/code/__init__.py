"""The code of a workspace: definitions, references, imports, tests, and what a text is about."""
