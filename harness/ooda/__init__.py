"""Observe, orient, decide, act, verify: a request becomes an outcome that is true."""
