"""What a job runs on: Spark's session and JVM, checkpoints, the clock, and how it ends."""
