"""Deriving what follows, and keeping it up to date; read `normal`, `strata`, `relation`, then
`insertion`, `deletion` and `maintenance`."""
