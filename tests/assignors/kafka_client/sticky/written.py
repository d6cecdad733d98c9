"""Writes sticky's user data as kafka-clients does, independently of the code that reads it."""

from __future__ import annotations

import struct


def user_data(owned, generation=None):
    """Version 1; version 0, which has no generation, without one. ``owned``: the partitions of each topic."""
    parts = [struct.pack(">i", len(owned))]
    for topic, partitions in owned.items():
        name = topic.encode()
        parts.append(struct.pack(f">h{len(name)}si{len(partitions)}i", len(name), name, len(partitions), *partitions))
    return b"".join(parts) + (b"" if generation is None else struct.pack(">i", generation))
