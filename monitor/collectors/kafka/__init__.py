"""What a Kafka cluster is asked: topics, groups, open transactions; and the topics that groupwatch writes there."""
