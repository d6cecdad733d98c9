"""What both page and API show: the newest snapshot, its groups in order, their summaries and histories."""
