"""Commits: from which source they count, of which topic they are, and what changed."""
