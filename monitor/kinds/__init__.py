"""What follows from the state of a share, Streams or Connect group: its lag, its tasks, and which do not run."""
