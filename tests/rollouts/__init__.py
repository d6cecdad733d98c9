"""Real rollouts, good and bad, and whether ``groupwatch verify --wait`` tells them apart."""
