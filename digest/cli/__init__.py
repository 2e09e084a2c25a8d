"""The terminal's edge: commands that read the clock, call a step and print what happened."""
