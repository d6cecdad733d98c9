"""Which client library each member of a group uses."""
