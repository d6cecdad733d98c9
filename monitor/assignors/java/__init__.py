"""What of Java's library decides an assignment: hashes, the order of hash maps, text, UUIDs."""
