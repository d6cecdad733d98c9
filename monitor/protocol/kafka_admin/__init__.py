"""Requests to Kafka's brokers about groups, and their responses, that kafka-python does not have."""
