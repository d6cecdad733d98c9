"""The job of ``groupwatch demo``, with its alerting and its transcript."""
