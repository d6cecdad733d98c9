"""Partitions that bring more than one member reads: no number of members helps, other keys or more partitions may."""

from __future__ import annotations

from math import ceil

from monitor.messages.formatting import counted, rate
from monitor.messages.names import partition
from monitor.model import PartitionId, TopicPartition, Value
from monitor.scaling.plan import Situation


class PartitionSkew(Value):
    """A partition that brings more than one member reads."""

    topic: str
    partition: PartitionId
    incoming_per_s: float
    """What comes in (records per second)."""
    ratio: float
    """That over what one member reads."""
    topic_partitions: int
    """The number of partitions of its topic that the group reads."""
    even_partitions: int
    """How many partitions the topic would need if its records were spread evenly, with the headroom."""

    def sentence(self) -> str:
        """What brings too much, and what would help."""
        place = TopicPartition(self.topic, self.partition)
        brings = f"{rate(self.incoming_per_s)} records/s come into {partition(place)}: "
        brings += f"{self.ratio:.0%} of what one member reads"
        if self.even_partitions <= self.topic_partitions:
            return f"{brings}. Keys that spread evenly over the {self.topic_partitions} partitions would help."
        need = counted(self.even_partitions, "partition")
        return f"{brings}. The topic needs {need}, and keys that spread evenly over them."


def skews_of(situation: Situation) -> tuple[PartitionSkew, ...]:
    """The partitions of this group that bring more than any member reads, the worst first."""
    return tuple([_skew(each.place, situation) for each in situation.crowded_partitions()])


def _skew(place: TopicPartition, situation: Situation) -> PartitionSkew:
    own = {other: load for other, load in situation.loads.items() if other.topic == place.topic}
    fastest, incoming = situation.fastest_per_s, own[place].incoming_per_s
    whole = sum([load.incoming_per_s for load in own.values()])
    return PartitionSkew(
        topic=place.topic,
        partition=place.partition,
        incoming_per_s=round(incoming, 3),
        ratio=round(incoming / fastest, 3),
        topic_partitions=len(own),
        even_partitions=ceil(whole / (fastest * situation.target.headroom)),
    )
