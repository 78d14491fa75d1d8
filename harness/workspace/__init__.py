"""The confined tree: opening, editing and detecting changes."""
