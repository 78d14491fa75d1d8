"""The harness around a model: observe, orient, decide, act, verify."""

__version__ = "0.1.0"
