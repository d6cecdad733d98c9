"""How much detail the series show of which groups and topics. Judging, findings and the page do not ask here.

Names are matched as everywhere: expressions of RE2, for the whole name (docs/decisions/0007).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final

from monitor.model import CommittedOffset, GroupState, GroupVerdict, PartitionVerdict, TopicLag, Value
from monitor.model.cluster_label import CLUSTER_LABEL
from monitor.model.patterns import is_allowed, name_pattern

REMEMBERED: Final = 100_000
"""For how many groups and topics the answer is kept: they are asked for in every micro-batch."""


class Detail(StrEnum):
    """How far down series go. Each has those of the ones before it, but for the sums by topic: see TOPIC."""

    CLUSTER = "cluster"
    """A group only counts in the sums of its cluster."""
    GROUP = "group"
    TOPIC = "topic"
    """The sums of a topic, in place of its partitions'."""
    PARTITION = "partition"


class DetailOverride(Value):
    """Another detail for the groups, topics and clusters that all match. None: whichever."""

    detail: Detail
    cluster: str | None = None
    groups: str | None = None
    topics: str | None = None


class SeriesRules(Value, cache_hash=True):
    """Which series there are.

    Of ``overrides``, the first that matches counts. A group whose name a pattern of ``deny_groups`` matches, or none of
    ``allow_groups`` (empty: all are allowed), is shown as of Detail.CLUSTER; such a topic, as of Detail.GROUP.

    ``kafka_exporter``: also by the names of danielqsj/kafka_exporter, ``kafka_exporter_cluster`` with the label
    ``cluster``. ``member_info`` and ``owner_info``: also who the members are, and whose each partition is.
    ``commit_times``: also when each partition was last committed, and how often.
    ``max_series``: how many there may be; None: any number. ``cluster_label``: the name of the label ``cluster``.
    """

    detail: Detail = Detail.PARTITION
    overrides: tuple[DetailOverride, ...] = ()
    allow_groups: tuple[str, ...] = ()
    deny_groups: tuple[str, ...] = ()
    allow_topics: tuple[str, ...] = ()
    deny_topics: tuple[str, ...] = ()
    kafka_exporter: bool = False
    kafka_exporter_cluster: bool = False
    member_info: bool = False
    owner_info: bool = False
    commit_times: bool = False
    max_series: int | None = None
    cluster_label: str = CLUSTER_LABEL

    @property
    def is_whole(self) -> bool:
        """Whether every group and topic is shown in full, so that nobody need be asked by name."""
        lists = self.overrides or self.allow_groups or self.deny_groups or self.allow_topics or self.deny_topics
        return not lists and self.detail is Detail.PARTITION

    @property
    def asks_for_more(self) -> bool:
        """Whether there are to be series that are not there by default."""
        return self.member_info or self.owner_info or self.kafka_exporter

    def of_group(self, cluster: str, group: str) -> Detail:
        """How far down the series of a group go where nothing is said of the topic.

        >>> rules = SeriesRules(overrides=(DetailOverride(Detail.GROUP, groups="batch-.*"),), deny_groups=("tmp.*",))
        >>> [rules.of_group("prod", group).value for group in ("orders", "batch-1", "tmp-1")]
        ['partition', 'group', 'cluster']

        Raises:
            PatternError: an expression cannot be read.
        """
        return Detail.PARTITION if self.is_whole else _of_group(self, cluster, group)

    def of_topic(self, cluster: str, group: str | None, topic: str) -> Detail:
        """How far down the series of a topic of a group go (None: those of the topic itself, whoever reads it)."""
        return Detail.PARTITION if self.is_whole else _of_topic(self, cluster, group, topic)

    def shown_partitions(self, verdict: GroupVerdict) -> Sequence[PartitionVerdict]:
        """The partitions of the group that have series of their own."""
        if self.is_whole:
            return verdict.partitions
        shown = self._topics(verdict, {row.topic for row in verdict.partitions}, (Detail.PARTITION,))
        return [row for row in verdict.partitions if row.topic in shown]

    def shown_commits(self, group: GroupState) -> Sequence[CommittedOffset]:
        """The committed offsets of the group whose partitions have series of their own."""
        if self.is_whole:
            return group.offsets
        shown = self._topics(group, {offset.topic for offset in group.offsets}, (Detail.PARTITION,))
        return [offset for offset in group.offsets if offset.topic in shown]

    def summed_topics(self, verdict: GroupVerdict) -> Sequence[TopicLag]:
        """The topics of the group that have the sums of their partitions in place of these."""
        if self.is_whole:
            return ()
        shown = self._topics(verdict, {row.topic for row in verdict.topics}, (Detail.TOPIC,))
        return [row for row in verdict.topics if row.topic in shown]

    def _topics(self, own: GroupVerdict | GroupState, topics: set[str], details: tuple[Detail, ...]) -> set[str]:
        return {topic for topic in topics if self.of_topic(own.cluster, own.group, topic) in details}


ALL_SERIES: Final = SeriesRules()
"""Every group and topic in full, by groupwatch's own names, however many there are."""


@lru_cache(maxsize=REMEMBERED)
def _of_group(rules: SeriesRules, cluster: str, group: str) -> Detail:
    if not is_allowed(group, rules.allow_groups, rules.deny_groups):
        return Detail.CLUSTER
    return next((o.detail for o in rules.overrides if o.topics is None and _names(o, cluster, group)), rules.detail)


@lru_cache(maxsize=REMEMBERED)
def _of_topic(rules: SeriesRules, cluster: str, group: str | None, topic: str) -> Detail:
    if group is not None and _of_group(rules, cluster, group) is Detail.CLUSTER:
        return Detail.CLUSTER
    if not is_allowed(topic, rules.allow_topics, rules.deny_topics):
        return Detail.GROUP
    found = (o for o in rules.overrides if _names(o, cluster, group) and _matches(o.topics, topic))
    return next((override.detail for override in found), rules.detail)


def _names(override: DetailOverride, cluster: str, group: str | None) -> bool:
    is_of_cluster = override.cluster in (None, cluster)
    return is_of_cluster and (override.groups is None or (group is not None and _matches(override.groups, group)))


def _matches(expression: str | None, name: str) -> bool:
    """Whether the name matches; without an expression every name does."""
    return expression is None or name_pattern(expression).matches(name)
