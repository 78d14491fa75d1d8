"""Ids for calls that came without a usable one."""

import os


def fresh_id() -> str:
    """Nine letters and digits: what the strictest templates (Mistral's) accept."""
    return os.urandom(5).hex()[:9]
