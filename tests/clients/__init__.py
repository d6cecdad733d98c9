"""Real groups of the client libraries that are not Java's, beside a real job."""
