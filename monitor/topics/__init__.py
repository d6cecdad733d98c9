"""What is known of a topic: who reads it, what comes in, and what could be deleted."""
