"""On the executors: the groups of a bucket are folded and judged in every micro-batch."""
