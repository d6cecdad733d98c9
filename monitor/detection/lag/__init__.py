"""How far behind a group is, how fast it consumes, and how often it commits."""
