"""Classic groups: their records, the causes of their rebalances, and what these moved."""
