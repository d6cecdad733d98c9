"""On the driver: what the buckets found becomes the snapshot that is served, and findings that are published."""
