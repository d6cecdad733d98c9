"""The ledger: which findings have been told as open, and what is to be told next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate, groupby
from operator import attrgetter
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET

from monitor.findings.alike import AlikeBy, AlikeGroups, alike_by, alike_groups, alike_text
from monitor.findings.notification import cluster_finding_text, finding_text
from monitor.findings.table import spec_of
from monitor.model import (
    Finding,
    FindingNews,
    FindingOutdated,
    FindingRecord,
    FindingScope,
    GroupSummary,
    TopicPartitions,
)
from monitor.model.cluster_findings import ClusterFinding, ClusterFindingKind
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC

MOST_PARTITIONS: Final = 10_000
MOST_MEMBERS: Final = 1_000
MOST_BYTES: Final = 400_000
"""How many a record lists, and how long each of the two lists may be: a broker takes 1 MB by default, and names from
clusters can be long."""

VAGUE_MS: Final = 60_000
"""By how much a finding's beginning may move without being news: some are inferred from a few points in time, 20 s or a
pass of the collector apart, and move until the next point is there."""

KEPT_CLOSED_MS: Final = 7 * 86_400_000
"""How long a closed finding stays in the topic. Without an end, those of deleted groups would stay for good."""


CLUSTER_PAUSE_MS: Final = 60_000
"""The least time between two records of an open finding of a cluster: while brokers go away or come back, each poll
sees other partitions, and each micro-batch may count other groups."""

_ALIKE: Final = FindingScope.ALIKE

ALIKE_PAUSE_MS: Final = 3_600_000
"""The least time between two records of an open finding of alike groups: each process leaves one more group."""


Listed = TypeVar("Listed", str, TopicPartitions)


class Ledger:
    """What others have been told of a cluster's findings.

    Two findings of a group are the same if they have the same kind and reason. That is all that an id is made of, so
    nothing has to be remembered for it to be the same after a restart. Findings of the cluster itself, and those of
    alike groups, are apart: a group may have any name, also none.
    """

    def __init__(self, told: Iterable[FindingRecord] = ()) -> None:
        """A ledger that knows the newest record of each finding that was told before."""
        self._open: dict[str, dict[str, FindingRecord]] = {}
        self._own: dict[str, FindingRecord] = {}
        self._closed: dict[str, int] = {}
        self._seen: dict[str, GroupSummary] = {}
        self._together: set[str] = set()
        for record in told:
            self._note(record)

    def news(
        self,
        groups: Iterable[GroupSummary],
        now_ms: int,
        own: Sequence[FindingRecord] = (),
        together: Collection[AlikeBy] = (),
    ) -> list[FindingRecord]:
        """What has to be told, now that these are all groups; the ledger takes it for told.

        Of most groups nothing has changed, and most of the others have the same findings: neither are looked at. Nor is
        a group that could not be judged: its open findings stay open. ``own`` are the findings of the cluster, as
        :func:`cluster_records` makes them, and those of alike groups, as :func:`alike_records` does. They come first,
        as those of groups may follow from them. ``together`` is what alike groups have in common: they have no records.
        """
        groups = list(groups)
        doubtful = self._alike_in_doubt(groups)
        together = {*together, *doubtful.values()}
        found = list(self._cluster_changes(own, now_ms, doubtful))
        present: set[str] = set()
        for summary in groups:
            present.add(summary.group)
            if summary.unjudged is not None:
                continue
            before = self._seen.get(summary.group)
            self._seen[summary.group] = summary
            has_joined = self._has_joined(summary, together)
            if before is None or has_joined or (before is not summary and _differs(before, summary)):
                found += self._of_group(summary, now_ms)
        for group in self._open.keys() - present:
            found += [_closed(record, now_ms) for record in self._open[group].values()]
        for group in self._seen.keys() - present:
            del self._seen[group]
        self._together &= present
        for record in found:
            self._note(record)
        return found

    def _alike_in_doubt(self, groups: Iterable[GroupSummary]) -> dict[str, AlikeBy]:
        """The open records about alike groups, with what these have in common, while some groups are not evaluated yet.

        After a start, most groups are none for a moment: that does not end what they have in common.
        """
        known = self._alike_by_id()
        if known and any(group.unjudged is not None and not group.findings for group in groups):
            return known
        return {}

    def open_alike(self) -> Collection[AlikeBy]:
        """What the groups of the open records about alike groups have in common."""
        return self._alike_by_id().values()

    def _alike_by_id(self) -> dict[str, AlikeBy]:
        return {name: (each.reason, each.pattern) for name, each in self._own.items() if each.scope is _ALIKE}

    def _has_joined(self, summary: GroupSummary, together: Collection[AlikeBy]) -> bool:
        """Whether the group has just become one of alike ones, or has just ceased to be."""
        is_together = bool(together and summary.findings) and alike_by(summary) in together
        if is_together is (summary.group in self._together):
            return False
        (self._together.add if is_together else self._together.discard)(summary.group)
        return True

    def take_outdated(self, now_ms: int) -> list[FindingOutdated]:
        """The findings that were closed so long ago that they need not be kept; the ledger forgets them."""
        outdated = [name for name, at_ms in self._closed.items() if now_ms - at_ms > KEPT_CLOSED_MS]
        for name in outdated:
            del self._closed[name]
        return [FindingOutdated(name) for name in outdated]

    def _cluster_changes(
        self, own: Iterable[FindingRecord], now_ms: int, doubtful: Collection[str]
    ) -> Iterator[FindingRecord]:
        now = {record.id: record for record in own}
        for name, record in self._own.items():
            if name not in now and name not in doubtful:
                yield _closed(record, now_ms)
        for name, record in now.items():
            known = self._own.get(name)
            if known is None:
                yield record
            elif now_ms - known.at_ms >= _pause_ms(record) and not _is_unchanged(record, known):
                yield msgspec.structs.replace(record, event=FindingNews.CHANGED, opened_ms=known.opened_ms)

    def _of_group(self, summary: GroupSummary, now_ms: int) -> Iterator[FindingRecord]:
        before = self._open.get(summary.group, {})
        is_together = summary.group in self._together
        now = {} if is_together else {record.id: record for record in self._records(summary, before, now_ms)}
        ended = before.keys() - now.keys()
        follows = _causes_by_id(summary, is_together=is_together) if ended else {}
        for name in (name for name in before if name in ended):
            yield msgspec.structs.replace(_closed(before[name], now_ms), follows=follows.get(name))
        for name, record in now.items():
            known = before.get(name)
            if known is None:
                yield record
            elif not _says_the_same(record, known):
                yield msgspec.structs.replace(record, event=FindingNews.CHANGED, opened_ms=known.opened_ms)

    @staticmethod
    def _records(summary: GroupSummary, before: Mapping[str, FindingRecord], now_ms: int) -> Iterator[FindingRecord]:
        """The findings as records; what began about when it was told to have begun, began then."""
        for finding in summary.findings:
            known = before.get(finding_id(summary.cluster, summary.group, finding))
            if known is not None and _began_as(finding, known):
                finding = msgspec.structs.replace(finding, since_ms=known.since_ms)  # noqa: PLW2901 -- as it is told
            yield opened(summary, finding, now_ms)

    def _note(self, record: FindingRecord) -> None:
        is_own = record.scope is not FindingScope.GROUP
        beside = self._own if is_own else self._open.setdefault(record.group, {})
        if record.event is FindingNews.CLOSED:
            self._closed[record.id] = record.at_ms
            beside.pop(record.id, None)
        else:
            self._closed.pop(record.id, None)
            beside[record.id] = record
        if not beside and not is_own:
            del self._open[record.group]


def opened(summary: GroupSummary, finding: Finding, now_ms: int) -> FindingRecord:
    """The record of a finding that was not there before."""
    return FindingRecord(
        id=finding_id(summary.cluster, summary.group, finding),
        event=FindingNews.OPENED,
        cluster=summary.cluster,
        group=summary.group,
        kind=finding.kind.value,
        reason=finding.reason,
        since_ms=finding.since_ms,
        opened_ms=now_ms,
        at_ms=now_ms,
        sentence=finding_text(summary.group, finding, summary.kind, is_connect=summary.is_connect),
        partition_count=len(finding.partitions),
        partitions=_fitting(_by_topic(finding)),
        member_count=len(finding.members),
        members=_fitting(finding.members[:MOST_MEMBERS]),
        cause=finding.cause.value if finding.cause is not None else None,
        team=summary.team or UNSET,
    )


def cluster_records(
    cluster: str, findings: Iterable[ClusterFinding], now_ms: int, shard: int = 1
) -> tuple[FindingRecord, ...]:
    """The records of a cluster's own findings, as if they were not there before; of the groups of that shard."""
    return tuple([_cluster_record(cluster, each, now_ms, shard) for each in findings])


def _cluster_record(cluster: str, finding: ClusterFinding, now_ms: int, shard: int) -> FindingRecord:
    kind, reason = finding.kind.value, finding.reason
    is_placed = finding.kind is ClusterFindingKind.OFFSETS_TOPIC and finding.partitions
    return FindingRecord(
        id=hashed_id(cluster, "", kind, reason, shard),
        event=FindingNews.OPENED,
        cluster=cluster,
        group="",
        kind=kind,
        reason=reason,
        since_ms=finding.since_ms,
        opened_ms=now_ms,
        at_ms=now_ms,
        sentence=cluster_finding_text(cluster, finding),
        partition_count=len(finding.partitions),
        partitions=(TopicPartitions(OFFSETS_TOPIC, finding.partitions[:MOST_PARTITIONS]),) if is_placed else (),
        member_count=0,
        members=(),
        scope=FindingScope.CLUSTER,
        group_count=finding.groups,
        shard=shard,
    )


def alike_in(groups: Iterable[GroupSummary], known: Collection[AlikeBy] = ()) -> dict[AlikeBy, AlikeGroups]:
    """The groups that have one record together. A group that could not be evaluated stays among those it was with.

    ``known`` are those of the records that are open (:meth:`Ledger.open_alike`): they end when few groups are left.
    """
    judged = (each if each.unjudged is None else msgspec.structs.replace(each, unjudged=None) for each in groups)
    return alike_groups(judged, known)


def alike_records(cluster: str, alike: Iterable[AlikeGroups], now_ms: int, shard: int = 1) -> tuple[FindingRecord, ...]:
    """The records of groups that are alike in a finding, as if they were not there before."""
    return tuple([_alike_record(cluster, each, now_ms, shard) for each in alike])


def _alike_record(cluster: str, alike: AlikeGroups, now_ms: int, shard: int) -> FindingRecord:
    return FindingRecord(
        id=alike_id(cluster, alike.pattern, alike.kind.value, alike.reason, shard),
        event=FindingNews.OPENED,
        cluster=cluster,
        group="",
        kind=alike.kind.value,
        reason=alike.reason,
        since_ms=alike.since_ms,
        opened_ms=now_ms,
        at_ms=now_ms,
        sentence=alike_text(cluster, alike),
        partition_count=0,
        partitions=(),
        member_count=0,
        members=(),
        scope=FindingScope.ALIKE,
        group_count=alike.groups,
        shard=shard,
        pattern=alike.pattern,
    )


def finding_id(cluster: str, group: str, finding: Finding) -> str:
    """What a finding is told apart by, as 32 hexadecimal digits."""
    return hashed_id(cluster, group, finding.kind.value, finding.reason)


def id_of(record: FindingRecord) -> str:
    """The id that a record must have."""
    if record.scope is FindingScope.CLUSTER:
        return hashed_id(record.cluster, "", record.kind, record.reason, record.shard)
    if record.scope is FindingScope.ALIKE:
        return alike_id(record.cluster, record.pattern, record.kind, record.reason, record.shard)
    return hashed_id(record.cluster, record.group, record.kind, record.reason)


def hashed_id(cluster: str, group: str, kind: str, reason: str, shard: int = 1) -> str:
    """The id by what it is made of: docs/findings.md. Each shard has findings of the cluster for its own groups."""
    parts = [cluster, group, kind, reason, *([shard] if shard != 1 else [])]
    return blake2b(msgspec.json.encode(parts), digest_size=16).hexdigest()  # no two lists are alike so


def alike_id(cluster: str, pattern: str, kind: str, reason: str, shard: int) -> str:
    """The id of a finding of alike groups. It is that of no group: a group may be named like the pattern."""
    return hashed_id(cluster, pattern, f"alike {kind}", reason, shard)


def _differs(before: GroupSummary, summary: GroupSummary) -> bool:
    """Whether a group may have news."""
    return before.findings != summary.findings or before.team != summary.team


def _closed(record: FindingRecord, now_ms: int) -> FindingRecord:
    return msgspec.structs.replace(record, event=FindingNews.CLOSED, at_ms=now_ms)


def _causes_by_id(summary: GroupSummary, *, is_together: bool) -> dict[str, str]:
    """Which finding of the cluster, or of alike groups, each one of the group follows, by id."""
    causes = {finding_id(summary.cluster, summary.group, each): each.follows for each in summary.subordinate}
    for each in summary.findings if is_together else ():
        causes[finding_id(summary.cluster, summary.group, each)] = f"{each.kind.value}/{each.reason}"
    return causes


def _pause_ms(record: FindingRecord) -> int:
    return ALIKE_PAUSE_MS if record.scope is FindingScope.ALIKE else CLUSTER_PAUSE_MS


def _began_as(finding: Finding, known: FindingRecord) -> bool:
    """Whether the beginning of the finding is no news: see VAGUE_MS, and what its row says."""
    later_ms, spec = finding.since_ms - known.since_ms, spec_of(finding.kind, finding.reason)
    return abs(later_ms) <= VAGUE_MS or (later_ms > 0 and spec.jitters) or spec.remembered


def _is_unchanged(record: FindingRecord, known: FindingRecord) -> bool:
    """Whether an open finding of the cluster is as its newest record has it."""
    kept = {"event": known.event, "opened_ms": known.opened_ms, "at_ms": known.at_ms, "version": known.version}
    return msgspec.structs.replace(record, **kept) == known


def _says_the_same(record: FindingRecord, known: FindingRecord) -> bool:
    kept = ["event", "opened_ms", "at_ms", "version"]
    if spec_of(record.kind, record.reason).jitters:
        kept += ["partitions", "partition_count", "members", "member_count", "sentence"]
    return msgspec.structs.replace(record, **{name: getattr(known, name) for name in kept}) == known


def _fitting(listed: tuple[Listed, ...]) -> tuple[Listed, ...]:
    """The first of them, as many as fit."""
    sizes = accumulate(len(msgspec.json.encode(each)) + 1 for each in listed)
    return tuple([each for each, size in zip(listed, sizes, strict=True) if size <= MOST_BYTES])


def _by_topic(finding: Finding) -> tuple[TopicPartitions, ...]:
    return tuple(
        TopicPartitions(topic, tuple([place.partition for place in places]))
        for topic, places in groupby(finding.partitions[:MOST_PARTITIONS], attrgetter("topic"))
    )
