"""Rebalances: those remembered, how long each took, the one in progress, and what each did to consumption."""
