"""Groupwatch's scaling signal beside KEDA's Kafka scaler: the same loop of an autoscaler, real consumers, six loads."""
