"""A collector's passes: repeated, counted, and of one source only."""
