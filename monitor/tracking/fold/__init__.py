"""The command ``python -m monitor.tracking.fold``: what is known of the groups at points of captured logs."""
