"""Requests to a Kafka cluster (topics, groups, open transactions), and the topics that groupwatch writes there."""
