"""Groups that transactions keep from going on. Times are in seconds; the patience is 60 s.

Listings are requested each 10 s. Records come all the time: offset 10 was passed at 700 s, and 15 at 900 s.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import GroupState, LagStatus, PendingOffsets, Phase, TopicPartitions
from tests.detection.lag.test_lag import partition
from tests.detection.rules.test_stalled_commits import GOING_ON, busy, committed, idle, pair, topics_of
from tests.support.builders import group, member, places
from tests.support.examples import example_count
from tests.tracking.offsets.test_attempts import Sent, every, fold

UNCOMMITTED = "transactions", "uncommitted"
PENDING = "transactions", "pending_offsets"
SILENT = "lag", "not_committing"


def owned_by(*members: str, state: GroupState | None, generation_s: int = 100, **more) -> GroupState:
    """The offsets of a state in a group in which the first of these members has the partition."""
    own = [member(name, ["t"], {"t": [0]} if index == 0 else {}) for index, name in enumerate(members)]
    made = group(*own, generation_ms=generation_s * 1000, **more)
    if state is None:
        return made
    return replace(made, offsets=state.offsets, unconfirmed=state.unconfirmed)


def attempts(every_s: float, until_s: float, *, first: int | None = 10, since_s: float = 800) -> list[Sent]:
    """From 800 s on, each transaction fails."""
    before = [] if first is None else [Sent(500, first, 500)]
    count = int((until_s - since_s) / every_s) + 1
    return [*before, *(Sent(since_s + every_s * number, 15 + number % 5) for number in range(count))]


def judged(state, now_s, *partitions, **more):
    settings_of = DetectionSettings(**more)
    return evaluate(state, topics_of(*(partitions or (busy(),))), round(now_s * 1000), settings_of)


def told(state, now_s, *partitions, **more):
    findings = judged(state, now_s, *partitions, **more).findings
    return [((f.kind.value, f.reason), f.since_ms // 1000, f.members) for f in findings]


def seen(sent: list[Sent], now_s: float) -> GroupState:
    return owned_by("C0", state=fold(sent, every(10, now_s), now_s))


# --- transactions without effect --------------------------------------------------------------------------------------


@pytest.mark.parametrize("every_s", [0.2, 1, 7, 19])
def test_an_owner_whose_transactions_all_fail_is_named_and_not_called_silent(every_s):
    sent = attempts(every_s, 1000)
    assert told(seen(sent, 1000), 1000) == [(UNCOMMITTED, 800, ("C0",))]
    verdict = judged(seen(sent, 1000), 1000)
    (row,) = verdict.partitions
    assert (row.committed, row.lag, verdict.lag) == (10, 10, 10)
    assert (row.status, verdict.status) == (LagStatus.STOP, LagStatus.ERR)
    (finding,) = verdict.findings
    assert finding.sentence.endswith(
        "The committed offset of partition 0 of t is still 10. kafka-console-consumer.sh --bootstrap-server "
        "BROKER:9092 --topic t --partition 0 --offset 10 --max-messages 1 prints the record there."
    )


def test_nothing_was_ever_committed():
    sent = attempts(1, 1000, first=None)
    state = seen(sent, 1000)
    assert told(state, 1000) == [(UNCOMMITTED, 800, ("C0",))]
    assert judged(state, 1000).lag is None
    assert "There is no committed offset." in judged(state, 1000).findings[0].sentence


@pytest.mark.parametrize(
    ("count", "steps"), [(3, "3 "), (9, "3 "), (10, "10 "), (29, "10 "), (113, "100 "), (3_100, "3,000 ")]
)
def test_the_number_of_attempts_is_told_in_steps(count, steps):
    (known,) = fold(attempts(20, 1000), every(10, 1000), 1000).offsets
    state = owned_by("C0", state=None, offsets=[replace(known, attempts=count)])
    assert f"At least {steps}attempts in a row" in judged(state, 1000).findings[0].sentence


def test_it_takes_three_attempts_and_a_minute():
    assert told(seen(attempts(40, 850), 865), 865) == [], "two attempts"
    assert told(seen(attempts(1, 855), 855), 855) == [], "50 attempts in 55 s"
    assert told(seen(attempts(1, 862), 862), 862) == [(UNCOMMITTED, 800, ("C0",))]
    assert told(seen(attempts(1, 862), 862), 862, commit_silence_ms=61_000) == []


def test_an_application_that_tries_every_five_minutes_is_found_with_the_third_attempt_and_stays():
    sent = attempts(300, 2300)
    for now_s in range(1420, 2300, 60):
        assert told(seen(sent, now_s), now_s) == [(UNCOMMITTED, 800, ("C0",))], now_s


def test_when_the_attempts_end_its_owner_is_silent():
    """The rhythm of its attempts explains no silence: what counts is the patience."""
    state = seen(attempts(1, 900), 980)
    assert told(state, 959) == [(UNCOMMITTED, 800, ("C0",))]
    assert told(state, 960) == [(SILENT, 900, ())]


def test_one_commit_ends_it():
    sent = [*attempts(1, 900), Sent(901, 16, 901)]
    assert told(seen(sent, 909), 909) == [(UNCOMMITTED, 800, ("C0",))]
    assert told(seen(sent, 910), 910) == []
    (row,) = judged(seen(sent, 910), 910).partitions
    assert row.committed == 16


def test_a_topic_that_is_not_visible_accuses_no_owner():
    """Its listings lack the offsets, as the user may not see the topic; commits go on, and all are good."""
    sent = [Sent(800 + second, 15, None) for second in range(200)]
    state = seen(sent, 1000)
    verdict = evaluate(state, topics_of(), 1_000_000, DetectionSettings())
    assert [f.kind.value for f in verdict.findings if f.kind.value == "transactions"] == []


def test_one_transaction_that_is_long_is_no_series_of_attempts():
    """It sends offsets again and again, and is open. Nobody waits for it."""
    state = seen(attempts(10, 1000), 1000)
    assert told(holding(state, pending(sent_s=800)), 1000) == []
    assert told(holding(state, pending(sent_s=990)), 1000) == [(UNCOMMITTED, 800, ("C0",))]


def test_a_long_transaction_is_known_by_the_partition_for_which_it_sent_offsets_first():
    """In those of others it may be the one that sends, for as long as its coordinator lets it live."""
    state = seen(attempts(10, 1000), 1000)
    assert told(holding(state, pending(800, number=3)), 1000) == []
    assert told(holding(state, pending(800, number=3, timeout_ms=60_000)), 1000) == [(UNCOMMITTED, 800, ("C0",))]
    assert told(holding(state, pending(50, number=3)), 1000) == [(UNCOMMITTED, 800, ("C0",))]


def test_a_transaction_that_no_listing_confirms_explains_nothing():
    sent = attempts(300, 2300)
    held = holding(seen(sent, 2300), pending(sent_s=800), listed_s=1390)
    assert told(held, 2289) == []
    assert told(held, 2290) == [(UNCOMMITTED, 800, ("C0",))]


@settings(max_examples=example_count(2))
@given(
    st.lists(st.sampled_from([0.05, 0.05, 0.05, 0.05, 2, 7, None]), min_size=1, max_size=60),
    st.sampled_from([1, 5, 11, 30]),
)
def test_an_application_that_commits_some_of_three_transactions_has_no_finding(outcomes, every_s):
    """Whatever the others come to."""
    sent = [Sent(500, 10, 500)]
    for number, took_s in enumerate(outcomes):
        at_s = 800 + every_s * number
        ended_s = at_s + 0.05 if number % 3 == 2 else None if took_s is None else at_s + min(took_s, every_s - 0.1)
        sent.append(Sent(at_s, 11 + number, ended_s))
    end_s = round(sent[-1].at_s)
    for now_s in range(810, end_s + 1, 10):
        state = seen(sent, now_s)
        found = [
            each for each in told(state, now_s, partition((0, 5), (780, 100), (now_s - 1, 200))) if each[0][0] != "lag"
        ]
        assert found == [], now_s


# --- offsets in an open transaction -----------------------------------------------------------------------------------


def pending(sent_s: int = 600, number: int = 0, **more) -> PendingOffsets:
    return PendingOffsets(
        partitions=(TopicPartitions("t", (number,)),),
        log_partition=3,
        start_offset=7,
        producer_id=4,
        producer_epoch=0,
        sent_ms=sent_s * 1000,
        **more,
    )


def blocked(generation_s: int = 620, **more) -> GroupState:
    """C0 has taken over after the offsets had been sent."""
    return owned_by("C0", state=None, generation_s=generation_s, offsets=[committed(0, 10, 500)], **more)


def holding(state: GroupState, *held: PendingOffsets, listed_s: int = 999) -> GroupState:
    """The newest listing has these."""
    return replace(state, pending_offsets=held, pending_listed_ms=listed_s * 1000)


def test_the_new_owner_of_pending_offsets_is_not_blamed():
    assert [each[0] for each in told(blocked(), 1000)] == [SILENT]
    held = holding(blocked(), pending(transactional_id="app-tx", timeout_ms=900_000))
    (finding,) = judged(held, 1000).findings
    assert ((finding.kind.value, finding.reason), finding.since_ms, finding.members) == (PENDING, 600_000, ("C0",))
    assert finding.partitions == places("t", 0)
    for words in (
        "producer 4 (transactional.id app-tx)",
        "C0 owns the partition and cannot start",
        "aborts it 15 min after",
        "abort --topic __consumer_offsets --partition 3 --start-offset 7 aborts it.",
    ):
        assert words in finding.sentence, finding.sentence


def test_there_need_be_no_commit_before_but_records_that_wait():
    state = owned_by("C0", state=None, generation_s=620, unconfirmed=(committed(0, 18, 600),))
    assert told(holding(state, pending(started_ms=598_000)), 1000) == [(PENDING, 598, ("C0",))]
    assert told(holding(blocked(), pending()), 1000, idle()) == []


def test_only_a_transaction_that_lasts_is_told():
    held = holding(blocked(generation_s=950), pending(sent_s=940))
    assert told(held, 999) == []
    assert told(held, 1000) == [(PENDING, 940, ("C0",))]


def test_who_has_the_partition_since_before_the_transaction_does_not_wait_for_it():
    """It has stopped committing, be it in a transaction."""
    assert told(holding(blocked(generation_s=599), pending()), 1000) == told(blocked(generation_s=599), 1000)
    assert [each[0] for each in told(blocked(generation_s=599), 1000)] == [SILENT]


def test_an_owner_that_has_committed_since_it_began_does_not_wait():
    """A transaction may send offsets twice: the second time was before C0 began."""
    for sent_s, is_waiting in ((605, True), (619, True), (621, False), (999, False)):
        state = owned_by("C0", state=None, generation_s=620, offsets=[committed(0, 10, 500, sent_s)])
        assert (PENDING in [each[0] for each in told(holding(state, pending()), 1000)]) is is_waiting, sent_s


def test_a_commit_that_is_newer_than_the_newest_listing_shows_that_the_transaction_is_over():
    state = owned_by("C0", state=None, generation_s=700, offsets=[committed(0, 10, 500, 670)])
    assert PENDING in [each[0] for each in told(holding(state, pending()), 1000)]
    assert PENDING not in [each[0] for each in told(holding(state, pending(), listed_s=660), 1000)]


def test_nobody_waits_who_began_after_the_newest_listing():
    assert PENDING in [each[0] for each in told(holding(blocked(), pending(), listed_s=621), 1000)]
    assert PENDING not in [each[0] for each in told(holding(blocked(), pending(), listed_s=620), 1000)]


def test_a_transaction_that_no_listing_has_had_for_15_minutes_may_have_ended():
    held = holding(blocked(), pending(), listed_s=700)
    assert PENDING in [each[0] for each in told(held, 1599)]
    assert PENDING not in [each[0] for each in told(held, 1600)]
    assert SILENT in [each[0] for each in told(held, 1600)], "silence is no longer explained"


def test_a_transaction_that_its_coordinator_aborts_within_two_minutes_is_awaited():
    """By default, it does so 60 s after the start, and looks every 10 s."""
    for timeout_s, listed_s, is_told in ((60, 670, False), (60, 671, True), (110, 720, False), (111, 661, True)):
        held = holding(blocked(), pending(timeout_ms=timeout_s * 1000), listed_s=listed_s)
        found = [each[0] for each in told(held, listed_s + 1, busy())]
        assert found == ([PENDING] if is_told else []), (timeout_s, listed_s)


def test_no_member_is_dead_for_offsets_that_a_transaction_holds():
    state = pair(committed(0, 10, 500), committed(1, 10, 500), *GOING_ON, generation_s=620)
    topics = [busy(number) for number in range(4)]
    assert ("dead_member", "silent") in [each[0] for each in told(state, 1000, *topics)]
    held = holding(state, pending(), pending(number=1))
    assert [each[0] for each in told(held, 1000, *topics)] == [PENDING]
    assert ("dead_member", "silent") in [each[0] for each in told(holding(state, pending()), 1000, *topics)], (
        "another of its partitions is silent, too"
    )


def test_a_partition_that_is_no_more_has_no_finding():
    held = holding(blocked(phase=Phase.EMPTY), pending(number=5))
    assert PENDING not in [each[0] for each in told(held, 1000)]
