"""Questions about one group that a person asks a running job or a saved snapshot: explain, what-if, snapshot."""
