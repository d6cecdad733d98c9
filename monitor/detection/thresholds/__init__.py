"""Thresholds: the settings, their overrides for groups and topics, and the rules of Burrow."""
