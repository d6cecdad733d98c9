"""Servers that run here for a while: Kafka, RocketMQ, MetaQ, ZooKeeper, Prometheus."""
