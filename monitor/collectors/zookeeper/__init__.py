"""What ZooKeeper, and the brokers that it names, are asked: Kafka 0.8 to 0.10, and MetaQ."""
