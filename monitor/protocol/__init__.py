"""Bytes to values, without I/O: the records of Kafka's offsets topic and of our own events topic."""
