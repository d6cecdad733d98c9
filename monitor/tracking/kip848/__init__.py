"""KIP-848 and share groups: their records, the causes of their rebalances, what these moved, and handovers."""
