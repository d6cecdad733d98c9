"""What the consumers of the demo do, and when."""
