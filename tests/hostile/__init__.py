"""Hostile records beside healthy groups."""
