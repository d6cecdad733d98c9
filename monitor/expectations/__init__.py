"""What groups should look like, as their teams write it down, and whether they do: met, not met, or unknown."""
