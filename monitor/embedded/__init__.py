"""Real servers from jars for the demo and the tests, and the demo's workload."""
