"""The ledger: which findings have been told as open, and what is to be told next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import accumulate, groupby
from operator import attrgetter
from typing import Final, TypeVar

import msgspec

from monitor.findings.notification import finding_text
from monitor.findings.table import spec_of
from monitor.model import (
    Finding,
    FindingNews,
    FindingOutdated,
    FindingRecord,
    GroupSummary,
    TopicPartitions,
)

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


Listed = TypeVar("Listed", str, TopicPartitions)


class Ledger:
    """What others have been told of a cluster's findings.

    Two findings of a group are the same if they have the same kind and reason. That is all that an id is made of, so
    nothing has to be remembered for it to be the same after a restart.
    """

    def __init__(self, told: Iterable[FindingRecord] = ()) -> None:
        """A ledger that knows the newest record of each finding that was told before."""
        self._open: dict[str, dict[str, FindingRecord]] = {}
        self._closed: dict[str, int] = {}
        self._seen: dict[str, GroupSummary] = {}
        for record in told:
            self._note(record)

    def news(self, groups: Iterable[GroupSummary], now_ms: int) -> list[FindingRecord]:
        """What has to be told, now that these are all groups; the ledger takes it for told.

        Of most groups nothing has changed, and most of the others have the same findings: neither are looked at. Nor is
        a group that could not be judged: what was told of it stands.
        """
        found: list[FindingRecord] = []
        present: set[str] = set()
        for summary in groups:
            present.add(summary.group)
            if summary.unjudged is not None:
                continue
            before = self._seen.get(summary.group)
            self._seen[summary.group] = summary
            if before is None or (before is not summary and before.findings != summary.findings):
                found += self._of_group(summary, now_ms)
        for group in self._open.keys() - present:
            found += [_closed(record, now_ms) for record in self._open[group].values()]
        for group in self._seen.keys() - present:
            del self._seen[group]
        for record in found:
            self._note(record)
        return found

    def take_outdated(self, now_ms: int) -> list[FindingOutdated]:
        """The findings that were closed so long ago that they need not be kept; the ledger forgets them."""
        outdated = [name for name, at_ms in self._closed.items() if now_ms - at_ms > KEPT_CLOSED_MS]
        for name in outdated:
            del self._closed[name]
        return [FindingOutdated(name) for name in outdated]

    def _of_group(self, summary: GroupSummary, now_ms: int) -> Iterator[FindingRecord]:
        before = self._open.get(summary.group, {})
        now = {record.id: record for record in self._records(summary, before, now_ms)}
        for name, record in before.items():
            if name not in now:
                yield _closed(record, now_ms)
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
        of_group = self._open.setdefault(record.group, {})
        if record.event is FindingNews.CLOSED:
            self._closed[record.id] = record.at_ms
            of_group.pop(record.id, None)
        else:
            self._closed.pop(record.id, None)
            of_group[record.id] = record
        if not of_group:
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
    )


def finding_id(cluster: str, group: str, finding: Finding) -> str:
    """What a finding is told apart by, as 32 hexadecimal digits."""
    return hashed_id(cluster, group, finding.kind.value, finding.reason)


def hashed_id(cluster: str, group: str, kind: str, reason: str) -> str:
    """The id by what it is made of: docs/findings.md."""
    told_apart = msgspec.json.encode([cluster, group, kind, reason])  # no two lists are alike so
    return blake2b(told_apart, digest_size=16).hexdigest()


def _closed(record: FindingRecord, now_ms: int) -> FindingRecord:
    return msgspec.structs.replace(record, event=FindingNews.CLOSED, at_ms=now_ms)


def _began_as(finding: Finding, known: FindingRecord) -> bool:
    """Whether the beginning of the finding is no news: see VAGUE_MS, and what its row says."""
    later_ms, spec = finding.since_ms - known.since_ms, spec_of(finding.kind, finding.reason)
    return abs(later_ms) <= VAGUE_MS or (later_ms > 0 and spec.jitters) or spec.remembered


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
