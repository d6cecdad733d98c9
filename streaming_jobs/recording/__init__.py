"""The recording: a query beside each cluster's own writes what it reads to tables; upkeep keeps these quick to read."""
