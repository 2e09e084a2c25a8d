"""Processes that work in the background: the scheduler's nudge and the hands that follow it."""
