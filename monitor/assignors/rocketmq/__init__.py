"""The strategies by which RocketMQ's clients share the queues of a topic; each client works out its own part."""
