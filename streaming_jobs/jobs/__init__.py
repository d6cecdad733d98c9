"""The jobs: one that watches clusters, and one that only collects."""
