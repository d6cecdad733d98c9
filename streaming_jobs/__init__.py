"""Spark carries here what monitor decides: sources, the stateful stage, the sink, and the job around them."""
