"""Java programs that run against those servers: clients of each system."""
