"""The assignors of the ZooKeeper consumers of Kafka 0.8 to 0.10; each consumer works out its own part.

What is assigned are partitions to *threads*: a consumer that asks for three streams of a topic has three of them.
"""
