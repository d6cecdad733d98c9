"""``groupwatch check-config``: what a configuration would watch, what of it will not work, and whether it is let in."""
