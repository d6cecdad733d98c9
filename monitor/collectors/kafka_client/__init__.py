"""kafka-python's client, made from a cluster's settings, and batches of requests to its brokers."""
