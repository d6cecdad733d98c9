"""Who runs which task of Kafka Streams and Kafka Connect: tasks are what these assign, not partitions."""
