"""The one error of this library."""


class KnowledgeError(Exception):
    """An entry or its file cannot be used or written. The text is a sentence for a person."""
