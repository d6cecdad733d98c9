"""Which offset counts while transactions commit, abort and hang: compared with a broker that knows how each ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.model import (
    CommitPoint,
    CommitRun,
    GroupState,
    ListedOffset,
    OffsetCommitted,
    OffsetsListed,
    PendingOffsets,
    TopicPartitions,
)
from monitor.model.commit_attempts import (
    CLOCK_MARGIN_MS,
    LISTING_LIFETIME_MS,
    has_failed_attempts,
    has_three_failed_attempts,
    last_committed_ms,
    without_failed_attempts,
)
from monitor.model.commit_history import points_of
from monitor.tracking.group import fold_group
from monitor.tracking.serialization import decode_group_state, encode_state
from tests.support.examples import example_count

S = 1_000


class Sent(NamedTuple):
    """An offset that was sent in a transaction. ``ended_s``: when it was committed; None: it never is."""

    at_s: float
    offset: int
    ended_s: float | None = None


def committed(sent: list[Sent], at_s: float) -> int | None:
    """What the broker says: of the offsets that are committed by then, the newest in its log."""
    known = [each.offset for each in sent if each.ended_s is not None and each.ended_s <= at_s]
    return known[-1] if known else None


def logged(each: Sent) -> OffsetCommitted:
    return OffsetCommitted(group="g", topic="t", partition=0, offset=each.offset, committed_ms=round(each.at_s * S))


def listing(sent: list[Sent], asked_s: float, answered_s: float | None = None) -> OffsetsListed:
    found = committed(sent, asked_s if answered_s is None else answered_s)
    offsets = () if found is None else (ListedOffset(topic="t", partition=0, offset=found),)
    return OffsetsListed(cluster="c", group="g", asked_ms=round(asked_s * S), offsets=offsets)


def fold(sent: list[Sent], listings_s: list[float], until_s: float, latency_s: float = 0.0) -> GroupState | None:
    """What is known at an instant: commits are read when they are sent, listings when they are answered."""
    (state,) = states_at(sent, listings_s, [until_s], latency_s)
    return state


def states_at(
    sent: list[Sent], listings_s: list[float], instants_s: Iterable[float], latency_s: float = 0.0
) -> Iterator[GroupState | None]:
    """What is known at each of these instants, which follow one another: what is known already is not folded again."""
    events = [(each.at_s, 0, logged(each)) for each in sent]
    events += [(asked_s + latency_s, 1, listing(sent, asked_s, asked_s + latency_s)) for asked_s in listings_s]
    ordered, state = deque(sorted(events, key=lambda each: each[:2])), None
    for at_s in instants_s:
        while ordered and ordered[0][0] <= at_s:
            state = fold_group("c", "g", state, (ordered.popleft()[2],))
        yield state


def shown(state: GroupState | None) -> int | None:
    return state.offsets[0].offset if state and state.offsets else None


def loop(every_s: float, attempts: int, first: int | None = 50) -> list[Sent]:
    """Offset ``first`` is committed at 0 s; from 100 s on, each attempt fails."""
    before = [] if first is None else [Sent(0, first, 0)]
    return [*before, *(Sent(100 + every_s * number, 60 + number) for number in range(attempts))]


def every(interval_s: float, until_s: float) -> list[float]:
    return [interval_s * number for number in range(1, int(until_s / interval_s) + 1)]


PERIODS = pytest.mark.parametrize(
    ("every_s", "attempts"), [(0.2, 1500), (1, 300), (4, 80), (10, 40), (14.9, 30), (60, 10), (300, 5)]
)


@PERIODS
@pytest.mark.parametrize("first", [50, None])
def test_an_application_that_aborts_each_transaction_stays_where_the_broker_has_it(every_s, attempts, first):
    sent = loop(every_s, attempts, first)
    instants = range(130, round(100 + every_s * attempts), 7)
    for at_s, state in zip(instants, states_at(sent, every(10, instants.stop), instants), strict=True):
        if at_s >= 100 + every_s + 2 * 10 + 5:
            assert shown(state) == first, at_s


@PERIODS
def test_its_attempts_are_counted_from_the_first(every_s, attempts):
    sent = loop(every_s, attempts)
    until_s = sent[-1].at_s + 16
    (known,) = fold(sent, every(10, until_s), until_s).offsets
    assert has_three_failed_attempts(known)
    assert (known.attempts, known.attempts_since_ms) == (attempts, 100 * S)
    assert known.committed_ms == round(sent[-1].at_s * S), "an attempt is a sign of life"
    assert points_of(without_failed_attempts(known).history) == (CommitPoint(0, 50),)


def test_a_commit_that_succeeds_counts_from_the_next_listing_on():
    sent = [*loop(1, 60), Sent(160, 500, 160.1)]
    assert [shown(fold(sent, every(10, 200), at_s)) for at_s in (159, 169, 170)] == [50, 50, 500]
    (known,) = fold(sent, every(10, 200), 170).offsets
    assert (known.attempts, known.attempts_since_ms, known.third_attempt_ms) == (0, 0, 0)


def test_three_attempts_are_needed_to_speak_of_a_loop():
    for attempts, is_loop in ((2, False), (3, True)):
        (known,) = fold(loop(20, attempts), every(10, 300), 300).offsets
        assert has_three_failed_attempts(known) is is_loop


def test_a_response_without_an_offset_that_the_broker_had_is_of_a_user_who_may_not_see_the_topic():
    sent = [Sent(second, second, second) for second in range(200)]
    state = fold(sent[:100], every(10, 100), 100)
    for second in range(100, 200):
        events = [logged(sent[second])]
        if second % 10 == 0:
            events.append(OffsetsListed(cluster="c", group="g", asked_ms=second * S, offsets=()))
        state = fold_group("c", "g", state, events)
    assert shown(state) == 199
    assert state.unconfirmed == ()


def test_an_old_listing_says_nothing_of_what_is_committed_long_after_it():
    """No collector lists any more, or it may not: the log is all that there is."""
    state = fold(loop(1, 60), every(10, 160), 160)
    lasts = LISTING_LIFETIME_MS // S
    assert shown(fold_group("c", "g", state, [logged(Sent(160 + lasts, 700))])) == 50
    assert shown(fold_group("c", "g", state, [logged(Sent(161 + lasts, 700))])) == 700


def test_a_collector_whose_clock_is_ahead_holds_back_no_group_that_commits_on():
    """A listing that seems 8 s younger than it is contradicts the commits of these 8 s. Without transactions, the next
    one comes in five minutes."""
    sent = [Sent(0, 50, 0), *(Sent(second, second, second) for second in range(311, 450))]
    state = fold(sent[:1], [18, 318], 320)
    shows = {}
    for each in sent[1:]:
        state = fold_group("c", "g", state, [logged(each)])
        shows[each.at_s] = shown(state)
    assert shows[330] == 50, "it may be the attempts of a loop"
    assert shows[318 + 61 + 60] == 318 + 61 + 60, "a minute of commits that no listing knows"


def test_a_loop_that_is_slower_than_the_listings_is_none_that_goes_on_without_them():
    """Five minutes after an attempt comes the next one, and is listed 10 s later."""
    sent = loop(300, 6)
    listings = [at_s + more for at_s in range(100, 1900, 300) for more in (10, 20)]
    instants = range(130, 1700, 7)
    for at_s, state in zip(instants, states_at(sent, listings, instants), strict=True):
        assert shown(state) == 50, at_s


def test_attempts_that_repeat_an_offset_are_no_standstill_of_the_committed_one():
    sent = [Sent(0, 50, 0), *(Sent(100 + second, 60) for second in range(60))]
    (known,) = fold(sent, every(10, 160), 160).offsets
    assert known.standstill is not None
    assert without_failed_attempts(known).standstill is None


def test_commits_that_are_combined_count_as_they_would_alone():
    state = fold([Sent(0, 50, 0)], every(10, 90), 90)
    points = tuple(CommitPoint((100 + number) * S, 60 + number) for number in range(8))
    run = CommitRun(group="g", topic="t", partition=0, first=points[0], points=points, commits=40)
    state = fold_group("c", "g", state, [run, *(listing([Sent(0, 50, 0)], at_s) for at_s in (130, 140))])
    (known,) = state.offsets
    assert (known.offset, known.attempts, known.attempts_since_ms) == (50, 40, 100 * S)


@st.composite
def transactions(draw: st.DrawFn) -> list[Sent]:
    """Transactions one after the other: committed soon, late, or never."""
    at_s, offset, sent = 0.0, 0, []
    for _ in range(draw(st.integers(1, 25))):
        at_s += draw(st.sampled_from([0.2, 1, 3, 8, 20, 45]))
        offset += draw(st.integers(1, 9))
        took_s = draw(st.sampled_from([0.05, 0.05, 0.05, 2, 12, None, None, None]))
        sent.append(Sent(at_s, offset, None if took_s is None else at_s + took_s))
        if took_s is not None:
            at_s += took_s
    return sent


@settings(max_examples=example_count(2))
@given(transactions(), st.sampled_from([3, 10, 17]), st.sampled_from([0, 0.4, 2]))
def test_two_listings_and_the_margin_after_a_failed_attempt_only_what_the_broker_has_is_shown(
    sent, interval_s, latency_s
):
    limit_s = 2 * interval_s + CLOCK_MARGIN_MS / S + latency_s
    instants = range(round(sent[-1].at_s + 60))
    known = states_at(sent, every(interval_s, instants.stop), instants, latency_s)
    for at_s, state in zip(instants, known, strict=True):
        truth = committed(sent, at_s)
        position = next((number for number, each in enumerate(sent) if each.offset == truth), -1)
        failed = [each for each in sent[position + 1 :] if each.at_s < at_s - limit_s]
        has_moved = position >= 0 and sent[position].ended_s >= at_s - limit_s
        if failed and not has_moved:
            assert shown(state) == truth, at_s


@settings(max_examples=example_count(2))
@given(transactions(), st.sampled_from([3, 10, 17]), st.sampled_from([0, 0.4, 2]))
def test_what_is_told_of_attempts_is_true(sent, interval_s, latency_s):
    instants = range(0, round(sent[-1].at_s + 40), 2)
    listings_s = every(interval_s, instants.stop)
    for at_s, state in zip(instants, states_at(sent, listings_s, instants, latency_s), strict=True):
        asked_s = [each for each in listings_s if each + latency_s <= at_s]
        for known in (*state.offsets, *state.unconfirmed) if state else ():
            if has_failed_attempts(known):
                assert known.listed == committed(sent, asked_s[-1] + latency_s)
            if has_three_failed_attempts(known):
                failed = [each for each in sent if each.ended_s is None or each.ended_s > asked_s[-1]]
                assert len([each for each in failed if each.at_s < asked_s[-1] - CLOCK_MARGIN_MS / S]) >= 3
            assert known.attempts <= len(sent)


@settings(max_examples=example_count(2))
@given(st.lists(st.sampled_from([True, True, True, True, True, False]), max_size=300), st.sampled_from([0.2, 1, 4]))
def test_an_application_that_works_never_has_failed_attempts(outcomes, every_s):
    """It commits within 50 ms, and tries again at once where a transaction is aborted."""
    sent = [Sent(0, 1, 0)]
    for number, is_committed in enumerate([*outcomes, True]):
        at_s = 1 + every_s * number
        if not is_committed:
            sent.append(Sent(at_s, 10 * number + 5))
            at_s += 0.1
        sent.append(Sent(at_s, 10 * number + 5, at_s + 0.05))
    instants = range(0, round(sent[-1].at_s) + 1, 5)
    for at_s, state in zip(instants, states_at(sent, every(10, instants.stop), instants), strict=True):
        newest = max(each.offset for each in sent if each.at_s <= at_s)
        assert shown(state) == newest
        assert not has_failed_attempts(state.offsets[0])


@given(transactions(), st.sampled_from([3, 10]), st.data())
def test_a_stored_state_goes_on_as_if_it_had_never_been_stored(sent, interval_s, data):
    end_s = sent[-1].at_s + 30
    events = [(each.at_s, 0, logged(each)) for each in sent]
    events += [(at_s, 1, listing(sent, at_s)) for at_s in every(interval_s, end_s)]
    ordered = [event for _, _, event in sorted(events, key=lambda each: each[:2])]
    cut = data.draw(st.integers(0, len(ordered)))
    kept = fold_group("c", "g", None, ordered[:cut])
    again = decode_group_state(encode_state(kept)) if kept else None
    assert fold_group("c", "g", again, ordered[cut:]) == fold_group("c", "g", kept, ordered[cut:])
    assert fold_group("c", "g", None, ordered) == fold_group("c", "g", kept, ordered[cut:])


HELD = PendingOffsets(
    partitions=(TopicPartitions("t", (0,)),),
    log_partition=3,
    start_offset=7,
    producer_id=4,
    producer_epoch=0,
    sent_ms=90 * S,
)


def test_offsets_are_pending_until_a_listing_has_none():
    sent = [Sent(0, 50, 0), Sent(90, 80)]
    state = fold(sent, every(10, 100), 100)
    held = fold_group("c", "g", state, [replace(listing(sent, 110), pending=(HELD,))])
    assert (held.pending_offsets, held.pending_listed_ms) == ((HELD,), 110 * S)
    later = fold_group("c", "g", held, [logged(Sent(111, 81))])
    assert decode_group_state(encode_state(later)).pending_offsets == (HELD,)
    assert decode_group_state(encode_state(later)).pending_listed_ms == 110 * S
    ended = fold_group("c", "g", later, [listing(sent, 120)])
    assert (ended.pending_offsets, ended.pending_listed_ms) == ((), 0)


def test_the_newest_commit_is_the_one_that_the_broker_has():
    (known,) = fold(loop(1, 60), every(10, 160), 160).offsets
    assert (last_committed_ms(known), known.committed_ms) == (0, 159 * S)
    (working,) = fold([Sent(0, 50, 0), Sent(90, 80, 90)], every(10, 100), 100).offsets
    assert last_committed_ms(working) == 90 * S


def test_two_consumers_that_commit_by_turns_fail_in_nothing():
    """Each listing happens to see the lower offset: it may be that of the newest commit."""
    state = None
    for second in range(0, 200, 2):
        events = [logged(Sent(second, 50)), logged(Sent(second + 1, 60))]
        if second % 10 == 0:
            listed = (ListedOffset(topic="t", partition=0, offset=50),)
            events.insert(1, OffsetsListed(cluster="c", group="g", asked_ms=second * S + 500, offsets=listed))
        state = fold_group("c", "g", state, events)
        assert not has_failed_attempts(state.offsets[0])
        assert state.offsets[0].attempts <= 1
