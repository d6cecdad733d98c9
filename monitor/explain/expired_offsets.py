"""The last committed offsets of a group that are gone, and how to commit them again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import islice, starmap
from typing import Final

from monitor.detection.lag.uncommitted import last_offset
from monitor.detection.ownership.catalog_view import Topics
from monitor.explain.statements import About, Judged, Statement
from monitor.kinds.offset_expiry import known_kind
from monitor.messages.formatting import counted
from monitor.messages.names import shown
from monitor.messages.notification import utc
from monitor.messages.units import unit_of
from monitor.model import KINDS, GroupState, InvalidCommit, ListedOffset, TopicPartition
from monitor.model.escaping import escaped
from monitor.model.expiry import ExpiredOffset

BROKER: Final = "BROKER:9092"
"""What a person replaces by an address of the cluster."""

FILE: Final = "offsets.csv"

MOST_LINES: Final = 1_000
"""The API has all."""


def expired_statements(known: Judged) -> Iterator[Statement]:
    """What remains of the deleted offsets, one line a partition, and the command that restores them."""
    found = known.verdict.expired_offsets
    if not found:
        return
    how = "expired" if all(each.is_certain for each in found) else "expired or were deleted"
    first_ms = min(each.deleted_ms for each in found)
    yield Statement(
        about=About.OFFSETS,
        sentence=f"The committed offsets of {counted(len(found), 'partition')} {how}, the first at {utc(first_ms)}.",
        since_ms=first_ms,
        evidence=(*_rows(known, found), *_restore_commands(known.group, found)),
    )


def _rows(known: Judged, found: Sequence[ExpiredOffset]) -> Iterator[str]:
    unit = unit_of(known.group.kind)
    for each in found[:MOST_LINES]:
        yield (
            f"partition {each.partition} of {shown(each.topic)}: the last one was {each.offset:,}, committed at "
            f"{utc(each.committed_ms)}, with a lag of {counted(each.lag, unit)} now"
        )


def invalid_statements(known: Judged) -> Iterator[Statement]:
    """Which offsets below 0 clients have committed, one line a partition, and the command that restores the last."""
    topics = Topics(known.catalog)
    found = [
        (each, state)
        for each in known.group.invalid_commits
        if (state := topics.places(each.topic).get(TopicPartition(each.topic, each.partition))) is not None
    ]
    if not found:
        return
    last = {each: last_offset(each, state, known.catalog) for each, state in found}
    offsets = [ListedOffset(each.topic, each.partition, offset) for each, offset in last.items() if offset is not None]
    since_ms = min(each.since_ms for each in last)
    yield Statement(
        about=About.OFFSETS,
        sentence=f"Clients committed offsets below 0 in {counted(len(last), 'partition')}, first at {utc(since_ms)}. "
        "To Kafka, nothing is committed there.",
        since_ms=since_ms,
        evidence=(*starmap(_invalid_row, islice(last.items(), MOST_LINES)), *_restore_commands(known.group, offsets)),
    )


def _invalid_row(each: InvalidCommit, last: int | None) -> str:
    before = "no offset before it is known"
    if each.last is not None and last is not None:
        before = f"the last one before was {last:,}, committed at {utc(each.last.committed_ms)}"
    return f"partition {each.partition} of {shown(each.topic)}: {each.offset} at {utc(each.committed_ms)}; {before}"


def _restore_commands(group: GroupState, found: Sequence[ExpiredOffset | ListedOffset]) -> Iterator[str]:
    """The lines of the file that ``--from-file`` reads, and the command; none if a name cannot be in them."""
    if not found:
        return
    if len(found) > MOST_LINES:
        yield f"to restore them, write a file with the offsets of all {len(found):,} partitions: the API has them"
        return
    names = {group.group, *[each.topic for each in found]}
    if any(escaped(name) != name or "," in name for name in names) or group.group.startswith("-"):
        return
    lines = " ".join(shlex.quote(f"{each.topic},{each.partition},{each.offset}") for each in found[:MOST_LINES])
    by_tasks = KINDS[known_kind(group)].broker_assigns_tasks
    tool = "kafka-streams-groups.sh" if by_tasks else "kafka-consumer-groups.sh"
    command = f"{tool} --bootstrap-server {BROKER} --reset-offsets --group {shlex.quote(group.group)}"
    yield "to restore them, before its consumers start (without --execute, the tool only shows what it would do):"
    yield f"printf '%s\\n' {lines} > {FILE}"
    yield f"{command} --from-file {FILE} --execute"
