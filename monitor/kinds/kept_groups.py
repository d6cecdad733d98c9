"""Groups that MirrorMaker 2 keeps: it copies their offsets into a cluster in which they have no members.

MirrorCheckpointTask of connect-mirror 4.3 writes them by an administrator's request, without a leader epoch, and only
when they move forward (``sync.group.offsets``). Its checkpoints are in ``ALIAS.checkpoints.internal``, and the topics
that it mirrors begin with that alias (DefaultReplicationPolicy). Under IdentityReplicationPolicy topics keep their
names, and a kept group looks like a consumer that assigns its partitions itself.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Final

from monitor.model import CommittedOffset, GroupState, Phase, Source

SEPARATORS: Final = "._-"
"""What may stand between the parts of a name (``replication.policy.separator``): names of topics have no other."""

NO_EPOCH: Final = -1


def checkpoints_topic(group: GroupState, topics: Container[str]) -> str | None:
    """The topic of the checkpoints from which MirrorMaker 2 seems to keep the group; None: nothing shows that it does.

    No member has ever been seen, no commit has a leader epoch, none repeats its offset, and all are of mirrored topics.
    Java's consumer and librdkafka commit leader epochs, and Flink repeats offsets.
    """
    if not group.offsets or not _may_be_kept(group):
        return None
    if next(_candidates(group.offsets[0].topic, topics), None) is None or not _may_be_copies(group.offsets):
        return None
    candidates = [frozenset(_candidates(name, topics)) for name in {offset.topic for offset in group.offsets}]
    return min(frozenset.intersection(*candidates), default=None)


def _may_be_kept(group: GroupState) -> bool:
    return (
        group.phase is Phase.OFFSETS_ONLY
        and group.source is Source.LOG
        and not group.generation
        and not group.rebalances
        and group.unread is None
        and not group.unconfirmed
    )


def _may_be_copies(offsets: Iterable[CommittedOffset]) -> bool:
    return all(each.leader_epoch == NO_EPOCH and each.standstill is None for each in offsets)


def _candidates(topic: str, topics: Container[str]) -> Iterator[str]:
    """The topics of checkpoints of each alias with which this topic may begin."""
    for index, character in enumerate(topic):
        if index and character in SEPARATORS:
            for separator in SEPARATORS:
                name = f"{topic[:index]}{separator}checkpoints{separator}internal"
                if name in topics:
                    yield name
