"""What the readers of MetaQ's and of Kafka's groups in ZooKeeper have in common.

While a group rebalances, its members release its partitions and claim them again, which takes a moment. An empty tree
was seen for 0.15 s, and for some seconds where two consumers' claims collide. Such a moment is no state of the group. A
group that changes is read again for up to three seconds. If it still changes then, its last state is reported again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from msgspec.structs import replace

from monitor.collectors.clock import wall_clock_ms
from monitor.collectors.snapshot import SourceSnapshot
from monitor.collectors.zookeeper.session import ZooKeeperSession
from monitor.config.systems import ZooKeeperSettings
from monitor.model import (
    GroupKind,
    GroupObserved,
    PartitionObserved,
    Source,
    TopicObserved,
    TopicPartition,
    Value,
)
from monitor.model.patterns import NamePattern
from monitor.protocol.zookeeper.groups import CONSUMERS, SeenGroup, SeenTopic, SeenTree
from monitor.protocol.zookeeper.tree import Node, Tree, describe_problems, join_path

_BROKERS_PREFIX: Final = "brokers/"


class LastKnownTree:
    """Decodes tree after tree; what brokers have written and cannot be read now counts as when it last could be.

    Such a node proves nothing, not even that anything is gone, so partitions must not vanish from under their owners.
    It may stay as it is for ever: the poll is complete all the same, and its problems name the node. What could never
    be read, as after a restart of the collector, is not known, and everything else is reported without it.
    """

    def __init__(self, decode: Callable[[Tree], SeenTree]) -> None:
        """Remember nothing yet; ``decode`` decodes a tree."""
        self._decode = decode
        self._readable: dict[str, Node] = {}

    def decode(self, tree: Tree) -> SeenTree:
        """What is in the tree. Problems are of the nodes as they are now; one that is gone is forgotten."""
        seen = self._decode(tree)
        present = {path: node for path, node in tree.nodes.items() if path.startswith(_BROKERS_PREFIX)}
        garbled = {each.path: each for each in seen.problems if each.path in present}
        known = {path: self._readable[path] for path in garbled if path in self._readable}
        self._readable = {path: node for path, node in present.items() if path not in garbled} | known
        if not known:
            return seen
        seen = self._decode(replace(tree, nodes=tree.nodes | known))
        return replace(seen, problems=(*(garbled[path] for path in known), *seen.problems))


SETTLE_S: Final = 3.0
"""So long groups that change are read again within one reading."""

QUIET_S: Final = 0.3
"""A group without a notification of a change for so long does not change at the moment."""

CLAIMED_S: Final = 10.0
"""Longer than this after the last change, no consumer claims free partitions any more: four tries, two seconds apart
(``rebalance.max.retries``, ``rebalance.backoff.ms``)."""

HOLD_S: Final = 30.0
"""A group that changes all the time is reported as it is after that."""

BROKERS: Final = "brokers"
"""A node that the first broker makes, and that stays as long as the tree does."""

_STEP_S: Final = 0.2
_MAX_PROBLEMS: Final = 5
"""So many problems of a kind are reported."""


class PartitionEnds(Value):
    """The first offset of a partition's log and the next one to be written; None: not known."""

    earliest: int | None = None
    end: int | None = None


UNKNOWN_ENDS: Final = PartitionEnds()


class Ends(Value):
    """What brokers say of their partitions, and what kept some from it, in sentences."""

    ends: dict[TopicPartition, PartitionEnds]
    problems: tuple[str, ...] = ()


class EndOffsets(Protocol):
    """Asks the brokers of a tree for the ends of their partitions. A broker that does not answer is a problem only."""

    def of(self, seen: SeenTree) -> Ends:
        """The ends of the tree's topics."""

    def close(self) -> None:
        """Close what is open."""


class ZooKeeperReader:
    """Reads groups that are kept in ZooKeeper; see the module. For one thread."""

    def __init__(
        self,
        settings: ZooKeeperSettings,
        kind: GroupKind,
        session: ZooKeeperSession,
        decode: Callable[[Tree], SeenTree],
        ends: EndOffsets,
    ) -> None:
        """Prepare; nothing connects yet.

        Args:
            settings: what to read.
            kind: of the groups.
            session: reads the tree.
            decode: decodes it.
            ends: asks the brokers.
        """
        self._settings = settings
        self._kind = kind
        self._session = session
        self._decode = LastKnownTree(decode)
        self._ends = ends
        self._strategies = [(NamePattern(groups), strategy) for groups, strategy in settings.strategies.items()]
        self._told: dict[str, GroupObserved] = {}
        self._held_since_s: dict[str, float] = {}

    def read(self, pass_ms: int) -> SourceSnapshot:
        """Everything, now. See ``monitor.collectors.snapshot.SnapshotReader``."""
        seen = self._read_settled_tree()
        observed_ms = max(wall_clock_ms(), pass_ms)
        groups = tuple(self._group_observed(group, pass_ms, observed_ms) for group in seen.groups)
        self._told = {group.group: group for group in groups}
        self._held_since_s = {name: since_s for name, since_s in self._held_since_s.items() if name in self._told}
        ends = self._ends.of(seen)
        start = f"Cluster {self._settings.name}: "
        return SourceSnapshot(
            source=Source.SYSTEM,
            topics=tuple(self._topic(topic, ends, pass_ms, observed_ms) for topic in seen.topics),
            groups=groups,
            complete=all(each.what != "refused" or each.path.startswith(f"{CONSUMERS}/") for each in seen.problems),
            problems=tuple(
                start + sentence for sentence in (*describe_problems(seen.problems, _MAX_PROBLEMS), *ends.problems)
            ),
            source_id=self._session.birth(BROKERS),
        )

    def close(self) -> None:
        """Close what is open. The next poll opens it again. The last readable nodes of brokers are kept."""
        self._told, self._held_since_s = {}, {}
        self._session.close()
        self._ends.close()

    def _read_settled_tree(self) -> SeenTree:
        """The tree when nothing in it changes any more, or after ``SETTLE_S``."""
        deadline_s = time.monotonic() + SETTLE_S
        while True:
            seen = self._decode.decode(self._session.tree())
            is_steady = not any(self._is_changing(group, SETTLE_S) for group in seen.groups)
            if is_steady or time.monotonic() + _STEP_S > deadline_s:
                return seen
            time.sleep(_STEP_S)

    def _is_changing(self, group: SeenGroup, claimed_s: float) -> bool:
        """Whether the group changes, or has changed lately and has yet to claim what has no owner."""
        unit = join_path(CONSUMERS, group.group)
        quiet_s = self._session.quiet_s(unit)
        is_claiming = group.unowned > 0 and quiet_s < claimed_s
        return is_claiming or quiet_s < QUIET_S or unit in self._session.unsteady()

    def _group_observed(self, group: SeenGroup, pass_ms: int, observed_ms: int) -> GroupObserved:
        """The group as it is; as it was before, while it moves."""
        now = GroupObserved(
            cluster=self._settings.name,
            group=group.group,
            kind=self._kind,
            source=Source.SYSTEM,
            pass_ms=pass_ms,
            observed_ms=observed_ms,
            members=group.members,
            offsets=group.offsets,
            protocol=self._strategy(group.group),
        )
        before = self._told.get(group.group)
        if before is None or not self._is_changing(group, CLAIMED_S):
            self._held_since_s.pop(group.group, None)
            return now
        if time.monotonic() - self._held_since_s.setdefault(group.group, time.monotonic()) > HOLD_S:
            return now
        return replace(before, pass_ms=pass_ms, offsets=group.offsets)

    def _strategy(self, group: str) -> str | None:
        named = (strategy for groups, strategy in self._strategies if groups.matches(group))
        return next(named, None)

    def _topic(self, topic: SeenTopic, ends: Ends, pass_ms: int, observed_ms: int) -> TopicObserved:
        return TopicObserved(
            cluster=self._settings.name,
            topic=topic.topic,
            pass_ms=pass_ms,
            observed_ms=observed_ms,
            partitions=tuple(_partitions(topic, ends)),
        )


def _partitions(topic: SeenTopic, ends: Ends) -> Iterator[PartitionObserved]:
    for partition in topic.partitions:
        known = ends.ends.get(TopicPartition(topic.topic, partition), UNKNOWN_ENDS)
        yield PartitionObserved(partition=partition, earliest=known.earliest, end=known.end)
