"""The rule files of a workspace: which there are, which are in force, and how one is changed."""
