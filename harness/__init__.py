"""The harness around a model: observe, orient, decide, act, verify."""
