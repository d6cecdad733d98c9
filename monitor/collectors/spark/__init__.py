"""What the checkpoints of Spark queries tell: they are the offsets of groups that commit nothing."""
