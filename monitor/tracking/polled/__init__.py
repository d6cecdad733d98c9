"""Groups that a collector polls: a snapshot of the whole group, folded into the state."""
