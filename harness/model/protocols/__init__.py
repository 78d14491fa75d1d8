"""Ways in which a model says what it does: see docs/protocols.md."""
