"""Questions to a database: queries, proofs, and why something does not hold."""
