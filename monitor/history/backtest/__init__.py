"""Backtests: what groupwatch would have reported, on a recording, with other thresholds than were in force."""
