"""What follows from the state of a share, Streams or Connect group: its lag, who runs which task, what nobody runs."""
