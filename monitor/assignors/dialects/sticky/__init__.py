"""What the sticky strategies of the libraries share: claims, checks of answers, and KIP-54's algorithm."""
