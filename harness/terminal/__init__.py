"""The face for people: the prompt, the commands, and what is shown of a run."""
