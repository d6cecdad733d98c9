"""Commits that passed records which the group did not read, or perhaps not: also those too small for a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from monitor.explain.statements import About, Judged, Statement
from monitor.messages.formatting import counted, grouped
from monitor.messages.names import partition
from monitor.model import FindingKind, TopicPartition
from monitor.model.jumps import Skip

MOST_LINES: Final = 50
"""The API has all."""


def skip_statements(known: Judged) -> Iterator[Statement]:
    """What the group perhaps skipped in the last hour, and no finding says."""
    findings = [each for each in known.verdict.findings if each.kind is FindingKind.SKIPPED]
    told = {place for finding in findings for place in finding.partitions}
    found = [skip for skip in known.verdict.skips if _place(skip) not in told]
    if not found:
        return
    most = counted(sum(skip.at_most for skip in found), "record")
    where = counted(len(set(map(_place, found))), "partition")
    largest_first = sorted(found, key=lambda skip: (-skip.at_most, skip.topic, skip.partition))
    yield Statement(
        about=About.OFFSETS,
        sentence=f"In {where}, the group read or skipped up to {most} in the last hour: commits do not tell.",
        since_ms=min(skip.at_ms for skip in found),
        evidence=tuple(f"{partition(_place(each))}: {_words(known, each)}" for each in largest_first[:MOST_LINES]),
    )


def skips_there(known: Judged, place: TopicPartition) -> Iterator[Statement]:
    """Each commit of the last hour that passed records of a partition, the oldest first."""
    own: Iterable[Skip] = (skip for skip in known.verdict.skips if _place(skip) == place)
    for skip in sorted(own, key=lambda skip: skip.at_ms):
        words = _words(known, skip)
        yield Statement(about=About.OFFSETS, sentence=f"{words[0].upper()}{words[1:]}.", since_ms=skip.at_ms)


def _words(known: Judged, skip: Skip) -> str:
    most = counted(skip.at_most, "record")
    bounds = f"at least {grouped(skip.at_least)} and at most {most} were not read"
    unknown = f"the group read or skipped up to {most}: commits do not tell"
    went = f"from {grouped(skip.before)} to {grouped(skip.offset)}, {known.age_of(skip.at_ms)} ago"
    return f"the committed offset went {went}; {bounds if skip.at_least else unknown}"


def _place(skip: Skip) -> TopicPartition:
    return TopicPartition(skip.topic, skip.partition)
