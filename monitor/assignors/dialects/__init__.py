"""The strategies of client libraries other than Kafka's own, by library: the same names often hide other rules."""
