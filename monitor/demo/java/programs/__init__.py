"""Java programs from source, compiled in memory when they start: real clients that only exist in Java."""
