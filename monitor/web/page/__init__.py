"""The status page: overview, groups, map of partitions, what-if."""
