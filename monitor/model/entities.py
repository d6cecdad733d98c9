"""What events and states are about. Each entity of a cluster has an event log of its own, and most have a state."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Entity(StrEnum):
    """What a row of events or of state is about."""

    GROUP = "group"
    OFFSETS = "offsets"
    """Of a group, only the committed offsets that have moved; what else is known of it stays."""
    TOPIC = "topic"
    SOURCE = "source"
    PASS = "pass"
    """A pass of a collector over all topics. Its state is the newest completed one; it has no name."""
    PASSES = "passes"
    """The passes so far (PassHistory). It has no name and no events of its own."""
    LISTING = "listing"
    """No state: which groups a collector's source has, and so which have gone."""
    CONNECT = "connect"
    """The connectors of a Connect cluster, by the name of its topic of configurations."""
    PLACES = "places"
    """By how many partitions of the offsets topic the groups of a bucket are placed (GrownLog); without a name."""
    TICK = "tick"


RECORDED: Final = (Entity.GROUP, Entity.TOPIC, Entity.PASS, Entity.LISTING, Entity.CONNECT)
"""The entities whose events a recording has. What could not be read is not recorded."""
