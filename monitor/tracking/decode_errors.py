"""Fold the records of a source log that could not be read into counts by reason."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.model import DecodeFailed, ErrorCount, SourceState


def fold_decode_errors(
    cluster: str, source: str, state: SourceState | None, events: Iterable[DecodeFailed]
) -> SourceState:
    """The source after the events, in the order given: each reason with its count and the place of its newest record.

    Returns:
        The new state, its errors sorted by reason; the same object if there was no event.
    """
    before = state or SourceState(cluster=cluster, source=source)
    counts = {error.reason: error for error in before.errors}
    for event in events:
        known = counts.get(event.reason)
        counts[event.reason] = ErrorCount(
            reason=event.reason,
            count=(known.count if known else 0) + 1,
            log_partition=event.log_partition,
            log_offset=event.log_offset,
        )
    after = SourceState(cluster=cluster, source=source, errors=tuple(counts[reason] for reason in sorted(counts)))
    return before if after == before else after
