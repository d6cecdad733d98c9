"""Requests to ZooKeeper, and to the brokers that it names: Kafka 0.8 to 0.10, and MetaQ."""
