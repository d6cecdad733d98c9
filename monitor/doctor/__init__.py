"""A first look at the groups of a Kafka cluster, without a job: read by the admin API, judged by the same rules."""
