"""What ZooKeeper holds of consumers: those of Kafka 0.8 to 0.10, and of MetaQ."""
