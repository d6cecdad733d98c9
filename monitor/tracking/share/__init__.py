"""Share groups: the state of each partition's records, folded from the log of share state."""
