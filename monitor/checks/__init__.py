"""``groupwatch check-config``: what a job would refuse, what it would watch, and whether that can be reached."""
