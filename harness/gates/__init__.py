"""What must hold before "done" is accepted."""
