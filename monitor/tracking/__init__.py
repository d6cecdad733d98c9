"""Fold events into states: pure functions, the same events in the same order always give the same state."""
