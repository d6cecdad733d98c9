"""Fold what collectors saw of a topic into its state, with a short history of where its partitions ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from monitor.model import (
    END_GAP_MS,
    Catalog,
    EndOffsetAt,
    PartitionId,
    PartitionObserved,
    PartitionState,
    PassHistory,
    Release,
    TopicObserved,
    TopicState,
    may_be_replaced,
)
from monitor.model.expiry import OffsetsRetention
from monitor.tracking.truncation import truncations_of, until

MAX_POINTS: Final = 30
"""How many points of a partition's end are kept."""

LONG_TRANSACTION_MS: Final = 20_000
"""How long a transaction is seen open before its end is kept: who commits at all commits within that after the end of
a shorter one. Topics that are written in transactions have short ones all the time."""

MAX_OLDER_POINTS: Final = 6
"""How many points are kept from before those: 6 of them reach back a day, each about 2.3 times as old as the next."""

OLDER_SPACING_MS: Final = 300_000
"""How far apart they are at least."""

MAX_POINT_AGE_MS: Final = 86_400_000
"""How far they reach back. Of what has waited for longer, only that it has is known."""

MAX_STARTS: Final = 3
"""Of how many offsets it is kept that a log began there, besides the newest one: a commit that jumps is compared with
the beginning of the log before it (monitor.detection.lag.skips)."""

IDLE_MS: Final = 600_000
"""How long a log has to stand still for its going on to be kept. That is when the first record came for whoever had
read everything by then; after ten busy minutes, the points of the end no longer show it."""

CLOCK_SET_BACK_MS: Final = 60_000
"""An observation that is older than the one before it in the log by more than this is not late: the clock was set
back."""


def fold_topic(
    cluster: str, topic: str, state: TopicState | None, events: Iterable[TopicObserved]
) -> TopicState | None:
    """The topic after the events, which are all of this topic; they may come twice and a little out of order.

    - An event older than the newest one seen is left out; one that is much older (CLOCK_SET_BACK_MS) tells that the
      collector's clock was set back. It counts, and what is dated later than it is dated or forgotten anew.
    - A topic with another id (both known), or without a numbered partition that it had, was deleted and created anew:
      it starts anew, with ``first_seen_ms`` of that event and ``former_ms`` of the one before. Kafka never takes a
      partition away.
    - A partition that is named by text is a broker's part of the topic (RocketMQ, MetaQ). Without it, its broker is
      away or lets fewer queues be read: it is forgotten, and the others stay as they are.
    - A broker that did not answer (None) leaves the number before.
    - An end that goes backward (the log was truncated) clears the history of that partition. Whether it was truncated
      is known some seconds later (monitor.tracking.truncation).
    - An end that goes on after IDLE_MS is kept: where it stood, and when it was seen to go on.
    - A last stable offset that stays where it is keeps its date; one that moves on has left a marker in the topic, and
      after LONG_GAP_MS a Release.

    Returns:
        The new state; the same object if nothing changed; None if nothing was ever seen.
    """
    after = state
    for event in events:
        if after is not None and event.observed_ms < after.observed_ms - CLOCK_SET_BACK_MS:
            after = _with_clock_set_back(after, event)
        if after is None or event.observed_ms >= after.observed_ms:
            after = _observe(cluster, topic, after, event)
    return state if after == state else after


def expire_topic(state: TopicState, pass_ms: int, before_ms: int | None = None) -> TopicState | None:
    """The topic after a completed pass that began at ``pass_ms``; None if neither this nor the one before saw it.

    Anybody who may write events can write that a pass has ended. One that saw nothing must not cost every topic its
    history, so two in a row have to miss it. Between the two it is marked as missed, until it is seen again.

    ``before_ms`` is when the completed pass before it began, by the clock of its time: if the clock was set back since,
    what was last seen then or later was not seen by this one.
    """
    was_set_back = before_ms is not None and pass_ms < before_ms - CLOCK_SET_BACK_MS
    is_missed = state.pass_ms < pass_ms or (was_set_back and before_ms is not None and state.pass_ms >= before_ms)
    if state.missed:
        return None
    return replace(state, missed=True) if is_missed else state


def catalog_of(
    cluster: str,
    pass_ms: int,
    topics: Iterable[TopicState],
    passes: PassHistory = PassHistory(),  # noqa: B008 -- frozen
    offsets_retention: OffsetsRetention | None = None,
) -> Catalog:
    """The topics that the completed pass which began at ``pass_ms`` saw, or the one after it that is under way.

    It includes topics that only the newest pass has missed (:func:`expire_topic`), and excludes topics that an older
    pass saw last. A topic that is much older than the pass was seen since, by a clock that was set back.

    ``passes`` say when the first one ended; if that is not known (0), it is taken from the oldest topic.
    ``offsets_retention`` is what the newest pass says of it.
    """
    hidden: dict[str, TopicState] = {}
    existing: dict[str, TopicState] = {}
    for topic in topics:
        if topic.hidden:
            hidden[topic.topic] = topic
        elif topic.missed or not pass_ms - CLOCK_SET_BACK_MS <= topic.pass_ms < pass_ms:
            existing[topic.topic] = topic
    names = {topic.topic_id: topic.topic for topic in existing.values() if topic.topic_id is not None}
    seen = [partition.first_seen_ms for topic in existing.values() for partition in topic.partitions]
    watched_ms = passes.first_ms or min(seen, default=0)
    return Catalog(
        cluster=cluster,
        pass_ms=pass_ms,
        topics=existing,
        names=names,
        watched_ms=watched_ms,
        offsets_retention=offsets_retention,
        offsets_topic=passes.offsets_topic,
        hidden=hidden,
        brokers=passes.brokers,
    )


def add_end(ends: tuple[EndOffsetAt, ...], newest: EndOffsetAt) -> tuple[EndOffsetAt, ...]:
    """The history with one more point, the oldest first: always the newest exactly, the others about 20 s apart.

    The newest point replaces the one before it while that one is too close to its own predecessor
    (monitor.model.topics.may_be_replaced), unless that leaves a gap of END_GAP_MS; or while the end has not moved (of a
    run of equal ends the first and the last stay).

    >>> ends = ()
    >>> for at_ms in (0, 30_000, 60_000):
    ...     ends = add_end(ends, EndOffsetAt(at_ms=at_ms, offset=5))
    >>> [(point.at_ms, point.offset) for point in ends]
    [(0, 5), (60000, 5)]
    """
    if not ends or newest.offset < ends[-1].offset:
        return (newest,)
    if newest.at_ms == ends[-1].at_ms:
        return (*ends[:-1], newest)
    if len(ends) > 1 and (
        ends[-2].offset == ends[-1].offset == newest.offset
        or (newest.at_ms - ends[-2].at_ms < END_GAP_MS and may_be_replaced(ends))
    ):
        return (*ends[:-1], newest)
    return (*ends, newest)[-MAX_POINTS:]


def older_points(state: PartitionState, ends: tuple[EndOffsetAt, ...]) -> tuple[EndOffsetAt, ...]:
    """The older points beside these ends, which follow those of the state: what has left them may become one.

    An end that went back has cleared them, too. If there are too many, the one goes that tells least: that with the
    smallest distance between its neighbours, measured by its age; or the oldest, once the next one is old enough.
    """
    if state.ends and ends[-1].offset < state.ends[-1].offset:
        return ()
    if not state.ends or ends[0].at_ms == state.ends[0].at_ms:
        return state.older
    left, older, now_ms = state.ends[0], state.older, ends[-1].at_ms
    if older and left.at_ms - older[-1].at_ms < OLDER_SPACING_MS:
        return older
    points = (*older, left)
    if len(points) <= MAX_OLDER_POINTS:
        return points
    if now_ms - points[1].at_ms >= MAX_POINT_AGE_MS:
        return points[1:]
    least = min(range(1, MAX_OLDER_POINTS), key=lambda at: _information_of(points, at, now_ms))
    return points[:least] + points[least + 1 :]


def _information_of(points: tuple[EndOffsetAt, ...], at: int, now_ms: int) -> float:
    """The distance between the neighbours of a point, measured by its age."""
    return (points[at + 1].at_ms - points[at - 1].at_ms) / max(1, now_ms - points[at].at_ms)


def _observe(cluster: str, topic: str, state: TopicState | None, event: TopicObserved) -> TopicState:
    known = {partition.partition: partition for partition in state.partitions} if state else {}
    if state is not None and _is_recreated(state, event):
        at_ms, former_ms, state = event.observed_ms, state.observed_ms, None
        known = {p: PartitionState(partition=p, first_seen_ms=at_ms, former_ms=former_ms) for p in known}
    seen = {partition.partition: partition for partition in event.partitions}
    is_same = state is not None and state.topic_id is not None and state.topic_id == event.topic_id
    before_ms = state.observed_ms if state is not None else 0
    partitions = tuple(
        _observe_partition(known.get(p), seen[p], event.observed_ms, before_ms, is_same_topic=is_same)
        for p in sorted(seen)
    )
    return TopicState(
        cluster=cluster,
        topic=topic,
        pass_ms=max(event.pass_ms, state.pass_ms) if state else event.pass_ms,
        topic_id=event.topic_id or (state.topic_id if state else None),
        partitions=partitions,
        observed_ms=event.observed_ms,
        has_markers=state is not None and (state.has_markers or _has_transaction_ended(known, partitions)),
    )


def _with_clock_set_back(state: TopicState, event: TopicObserved) -> TopicState:
    """The topic by the clock of the event, which is behind the one by which it was seen last."""
    at_ms = event.observed_ms
    return replace(
        state,
        pass_ms=min(state.pass_ms, event.pass_ms),
        observed_ms=at_ms,
        partitions=tuple(
            replace(
                known,
                first_seen_ms=min(known.first_seen_ms, at_ms),
                former_ms=min(known.former_ms, at_ms),
                earliest_ms=min(known.earliest_ms, at_ms),
                ends=_drop_later_points(known.ends, at_ms),
                older=tuple(end for end in known.older if end.at_ms <= at_ms),
                stable_ms=min(known.stable_ms, at_ms),
                released=known.released and replace(known.released, at_ms=min(known.released.at_ms, at_ms)),
                woken=known.woken and replace(known.woken, at_ms=min(known.woken.at_ms, at_ms)),
                truncations=known.truncations and until(known.truncations, at_ms),
                starts=tuple(start for start in known.starts if start.at_ms <= at_ms),
            )
            for known in state.partitions
        ),
    )


def _drop_later_points(ends: tuple[EndOffsetAt, ...], at_ms: int) -> tuple[EndOffsetAt, ...]:
    """The history without points later than the instant; the newest of all is then a point of that instant."""
    kept = tuple(end for end in ends if end.at_ms <= at_ms)
    return kept if kept == ends else add_end(kept, EndOffsetAt(at_ms=at_ms, offset=ends[-1].offset))


def _is_recreated(state: TopicState, event: TopicObserved) -> bool:
    if state.topic_id is not None and event.topic_id is not None and state.topic_id != event.topic_id:
        return True
    seen = {partition.partition for partition in event.partitions}
    return any(isinstance(each.partition, int) and each.partition not in seen for each in state.partitions)


def _observe_partition(
    state: PartitionState | None, seen: PartitionObserved, at_ms: int, before_ms: int, *, is_same_topic: bool
) -> PartitionState:
    before = state or PartitionState(partition=seen.partition, first_seen_ms=at_ms)
    begins_anew = seen.earliest is not None and (seen.earliest != before.earliest or not before.earliest_ms)
    stable = before.stable if seen.end is None else seen.stable
    stays = stable == before.stable
    end = before.end if seen.end is None else seen.end
    ends = before.ends if seen.end is None else add_end(before.ends, EndOffsetAt(at_ms=at_ms, offset=seen.end))
    begins_as_before = bool(before.ends) and ends[0] is before.ends[0]  # nearly always: no point has left the history
    lately = len(before.ends) > 1 and at_ms - before.ends[-2].at_ms < IDLE_MS  # nearly always: nothing stood for long
    return PartitionState(
        partition=before.partition,
        first_seen_ms=before.first_seen_ms,
        earliest=before.earliest if seen.earliest is None else seen.earliest,
        end=end,
        racks=seen.racks,
        former_ms=before.former_ms,
        ends=ends,
        earliest_ms=at_ms if begins_anew else before.earliest_ms,
        stable=stable,
        stable_ms=before.stable_ms if stays else 0 if stable is None else at_ms,
        released=before.released if stays else _release(before, at_ms),
        earliest_end=end if begins_anew else before.earliest_end,
        woken=before.woken if lately or end == before.end else _end_before_growth(before, end, at_ms),
        older=before.older if begins_as_before else older_points(before, ends),
        truncations=truncations_of(before, seen.end, at_ms, is_same_topic=is_same_topic),
        starts=_former_starts(before, at_ms, before_ms) if begins_anew else before.starts,
    )


def _former_starts(before: PartitionState, at_ms: int, before_ms: int) -> tuple[EndOffsetAt, ...]:
    """Where the log began before now, the poll at ``before_ms`` being the last that saw so; the least telling go."""
    if before.earliest is None or not before.earliest_ms:
        return before.starts
    starts = (*before.starts, EndOffsetAt(before_ms, before.earliest))
    if len(starts) <= MAX_STARTS:
        return starts
    least = min(range(1, MAX_STARTS), key=lambda at: _information_of(starts, at, at_ms))
    return starts[:least] + starts[least + 1 :]


def _has_transaction_ended(before: Mapping[PartitionId, PartitionState], after: Iterable[PartitionState]) -> bool:
    """Whether a transaction that was open before has ended since, in any of the partitions."""
    pairs = ((before.get(now.partition), now) for now in after)
    return any(was is not None and was.stable is not None and was.stable != now.stable for was, now in pairs)


def _release(before: PartitionState, at_ms: int) -> Release | None:
    """The newest end of a transaction that was open for long, where the last stable offset has moved by now."""
    if before.stable is None or at_ms - before.stable_ms < LONG_TRANSACTION_MS:
        return before.released
    return Release(at_ms=at_ms, offset=before.stable)


def _end_before_growth(before: PartitionState, end: int | None, at_ms: int) -> EndOffsetAt | None:
    """Where the log had stood still for IDLE_MS, if it has gone on from there by now; else as known before."""
    stood = next((point for point in before.ends[-2:] if point.offset == before.end), None)
    if stood is None or end is None or end < stood.offset or at_ms - stood.at_ms < IDLE_MS:
        return before.woken
    return EndOffsetAt(at_ms=at_ms, offset=stood.offset)
