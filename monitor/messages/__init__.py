"""What a person reads: sentences of findings, made from their evidence, and the names and numbers in them."""
