"""From the topics to rows: sources, decoding, and which bucket a group is in."""
