"""Requests to the name servers and brokers of RocketMQ."""
