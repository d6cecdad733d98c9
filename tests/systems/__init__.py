"""Real servers and real consumers of the systems beside Kafka: see docs/systems-tests.md."""
