"""Commits that repeat one offset are no progress. Times are in seconds; the patience is 60 s, of a batch 300 s.

Unless another time is given, it is 1000 s.
"""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import (
    STREAM,
    ConnectConfigsState,
    ConnectorConfig,
    FindingKind,
    ListedOffset,
    OffsetCommitted,
    OffsetsListed,
    Phase,
    TargetState,
    TopicState,
)
from monitor.tracking.group import fold_group
from tests.detection.lag.test_lag import partition
from tests.support.builders import catalog, group, member, places


def busy(number=0, **more):
    """Records come all the time; offset 10 was passed at 500 s."""
    return replace(partition((0, 10), (480, 10), (500, 11), (700, 15), (990, 20), number=number), **more)


def topics_of(*partitions, name="t", **more):
    return catalog(TopicState(cluster="c", topic=name, pass_ms=0, topic_id="T", partitions=partitions, **more))


def committed(offset, *at_s, number=0):
    return [OffsetCommitted("g", "t", number, offset, int(second * 1000)) for second in at_s]


def by_timer(offset, from_s, *, until_s=998, every_s=5, number=0):
    return committed(offset, *range(from_s, until_s, every_s), number=number)


def owned(*events, timeout_s=300, generation_s=100, phase=Phase.STABLE, topics=("t",)):
    """Two members; C0 has partitions 0 and 1, C1 has 2 and 3."""
    state = fold_group("c", "g", None, list(events))
    members = (
        member("C0", topics, {topics[0]: (0, 1)}, rebalance_timeout_ms=timeout_s * 1000, client_id="app", host="/h0"),
        member("C1", topics, {topics[0]: (2, 3)}, rebalance_timeout_ms=timeout_s * 1000, client_id="app", host="/h1"),
    )
    is_stable = phase is Phase.STABLE
    times = {"generation_ms": generation_s * 1000, "phase_ms": generation_s * 1000}
    return group(*(members if is_stable else ()), offsets=state.offsets, phase=phase, **times)


def found(state, topics, now_s=1000):
    findings = evaluate(state, topics, now_s * 1000, DetectionSettings()).findings
    return [(f.kind.value, f.reason, f.since_ms // 1000, f.partitions) for f in findings if f.kind != "idle_members"]


def told(since_s, *numbers):
    return [("lag", "not_committing", since_s, places("t", *numbers or (0,)))]


def one(events, topics=None, now_s=1000, **more):
    return found(owned(*events, **more), topics or topics_of(busy()), now_s)


@pytest.mark.parametrize(
    ("events", "now_s", "since_s"),
    [
        pytest.param(by_timer(10, 400), 799, None, id="records have waited since 500 s: 299 s"),
        pytest.param(by_timer(10, 400), 800, 500, id="records have waited since 500 s: 300 s"),
        pytest.param(by_timer(9, 400, until_s=600) + by_timer(10, 600), 899, None, id="it moved 299 s ago"),
        pytest.param(by_timer(9, 400, until_s=600) + by_timer(10, 600), 900, 600, id="it moved 300 s ago"),
        pytest.param(by_timer(12, 400, until_s=600) + by_timer(10, 600), 900, 600, id="back is a move, too"),
        pytest.param(by_timer(10, 400, every_s=1), 1000, 500, id="every second"),
        pytest.param(by_timer(10, 400, every_s=59), 1000, 500, id="every 59 s"),
        pytest.param(by_timer(20, 400), 1000, None, id="nothing waits"),
        pytest.param(committed(10, 400, 405), 1000, 400, id="two commits, and none since: as ever"),
        pytest.param(by_timer(10, -9_000), 1000, 500, id="thousands of commits"),
    ],
)
def test_an_offset_that_is_committed_again_and_again_is_told_once_it_has_stood_for_a_batch(events, now_s, since_s):
    events = [each for each in events if each.committed_ms <= now_s * 1000]
    expected = [] if since_s is None else told(max(since_s, 500))
    assert one(events, now_s=now_s) == expected


@pytest.mark.parametrize(
    ("every_s", "phase"),
    [
        *((every_s, phase) for every_s in (60, 300, 600) for phase in (Phase.STABLE, Phase.OFFSETS_ONLY)),
        (60, Phase.EMPTY),  # of a group without members, a minute without a commit counts as ever
    ],
)
def test_who_commits_by_a_slow_timer_has_repeated_its_offset_while_nothing_came(every_s, phase):
    """It has read all for hours. Records come just after a commit, and the next commit covers them."""
    events = [committed(10, second) for second in range(-7_200, 401, every_s)]
    came_s = events[-1][0].committed_ms // 1000 + 1
    log = partition((came_s - 7_200, 10), (came_s - 20, 10), (came_s, 15), (came_s + every_s, 15))
    flat = [event for each in events for event in each]
    for now_s in range(came_s, came_s + every_s, 7):
        assert one(flat, topics_of(log), now_s, phase=phase) == []


@pytest.mark.parametrize(
    ("timeout_s", "now_s", "is_told"),
    [
        pytest.param(420, 919, False, id="max.poll.interval.ms is 7 min: 419 s"),
        pytest.param(420, 920, True, id="max.poll.interval.ms is 7 min: 420 s"),
        pytest.param(30, 799, False, id="a shorter one of a client that sends something else"),
        pytest.param(30, 800, True, id="the shortest patience is 5 min"),
        pytest.param(7_200, 800, True, id="one that was switched off"),
    ],
)
def test_who_repeats_a_commit_may_be_busy_with_one_batch(timeout_s, now_s, is_told):
    events = [each for each in by_timer(10, 400) if each.committed_ms <= now_s * 1000]
    assert one(events, now_s=now_s, timeout_s=timeout_s) == (told(500) if is_told else [])


@pytest.mark.parametrize(
    ("topics", "more"),
    [
        pytest.param(topics_of(busy()), {"generation_s": 941}, id="its owner got it 59 s ago"),
        pytest.param(topics_of(busy(stable=10, stable_ms=990_000)), {}, id="an open transaction holds all of it back"),
        pytest.param(topics_of(partition((0, 11), (990, 11)), has_markers=True), {}, id="a marker is all that waits"),
        pytest.param(topics_of(busy(former_ms=999_000)), {}, id="the topic was recreated"),
    ],
)
def test_what_excuses_silence_excuses_repetition(topics, more):
    reasons = [reason for _, reason, *_ in one(by_timer(10, 400), topics, **more)]
    assert "not_committing" not in reasons
    assert "not_committing" in [reason for _, reason, *_ in one(by_timer(10, 400))]


def test_a_member_that_repeats_its_commits_is_not_dead_while_others_move():
    events = by_timer(10, 400) + [
        OffsetCommitted("g", "t", number, min(20, 10 + second // 99), second * 1000)
        for second in range(400, 998, 5)
        for number in (2, 3)
    ]
    topics = topics_of(busy(0), *(partition((0, 10), (990, 20), number=number) for number in (2, 3)))
    assert one(events, topics) == told(500)


def stuck(*args, **more):
    return [each for each in one(*args, **more) if each[1] == "not_committing"]


def moving(*at_s):
    """Partition 1, with a commit at each time that moves it; and its log, in which nothing waits after the last."""
    events = [event for offset, second in enumerate(at_s) for event in committed(offset, second, number=1)]
    return events, partition((0, len(at_s) - 1), (at_s[-1], len(at_s) - 1), number=1)


@pytest.mark.parametrize("phase", [Phase.STABLE, Phase.OFFSETS_ONLY])
@pytest.mark.parametrize(
    ("moves_s", "is_told"),
    [
        pytest.param(range(400, 991, 60), False, id="each minute: a sink whose file is not full there"),
        pytest.param([400, 501], False, id="once after records came"),
        pytest.param([400, 500], True, id="not since"),
        pytest.param([400], True, id="not since long"),
    ],
)
def test_who_moves_another_partition_does_not_stand_still(phase, moves_s, is_told):
    """It may commit all that it has whenever one partition moves."""
    moves, read = moving(*moves_s)
    found_then = stuck(by_timer(10, 400) + moves, topics_of(busy(), read), phase=phase)
    assert found_then == (told(500) if is_told else [])


def test_who_waits_for_more_records_is_never_told_nor_once_the_log_forgets_since_when_they_wait():
    """Partition 0 gets a record each minute; the file of partition 1 is full each minute, and both are committed."""
    for now_s in range(200, 3_600, 97):
        log = partition(*((second, 10 + second // 60) for second in range(max(0, now_s - 580), now_s + 1, 20)))
        moves, read = moving(*range(0, now_s + 1, 60))
        assert stuck(by_timer(10, 0, until_s=now_s + 1, every_s=60) + moves, topics_of(log, read), now_s) == []


@pytest.mark.parametrize("phase", [Phase.STABLE, Phase.OFFSETS_ONLY])
@pytest.mark.parametrize(
    ("now_s", "moves_until_s", "expected"),
    [
        pytest.param(4_099, 4_090, [], id="records have waited since 500 s: 3599 s"),
        pytest.param(4_100, 4_090, [("not_moving", 500)], id="an hour"),
        pytest.param(8_000, 7_990, [("not_moving", 500)], id="two hours"),
        pytest.param(4_100, 500, [("not_committing", 500)], id="it moves no other partition since"),
    ],
)
def test_who_has_repeated_an_offset_for_an_hour_beside_others_may_have_paused_the_partition(
    now_s, moves_until_s, expected, phase
):
    moves, read = moving(*range(400, moves_until_s + 1, 10))
    waiting = partition((0, 10), (480, 10), (500, 11), (700, 15), (now_s - 10, 20))
    found_then = one(by_timer(10, 400, until_s=now_s) + moves, topics_of(waiting, read), now_s, phase=phase)
    assert [(reason, since_s) for kind, reason, since_s, _ in found_then if kind == "lag"] == expected


def test_a_partition_that_is_not_committed_beside_others_is_no_paused_one():
    """Its commits have ended: that is silence."""
    moves, read = moving(*range(400, 4_091, 10))
    waiting = partition((0, 10), (480, 10), (500, 11), (700, 15), (4_090, 20))
    found_then = one(by_timer(10, 400, until_s=600) + moves, topics_of(waiting, read), 4_200)
    assert [reason for kind, reason, *_ in found_then if kind == "lag"] == ["not_committing"]


def is_told(state, topics):
    return "not_committing" in [reason for _, reason, *_ in found(state, topics)]


@pytest.mark.parametrize(
    ("group_id", "client_id", "protocol", "expected"),
    [
        pytest.param("app", "app", "range", True, id="a consumer"),
        pytest.param("app", "connector-consumer-s3-0", "range", False, id="a sink by its client ids"),
        pytest.param("connect-s3", "app", "range", False, id="a sink by its group"),
        pytest.param("app", "app", STREAM, False, id="Kafka Streams"),
    ],
)
def test_who_commits_all_that_it_has_whenever_one_moves_is_not_told(group_id, client_id, protocol, expected):
    state = owned(*by_timer(10, 400))
    members = tuple(replace(each, client_id=client_id) for each in state.members)
    s3 = ConnectorConfig("s3", is_configured=True, tasks=1, target_state=TargetState.STARTED)
    configs = {"workers": ConnectConfigsState(cluster="c", topic="configs", connectors=(s3,))}
    topics = replace(topics_of(busy()), connect_configs=configs)
    assert is_told(replace(state, group=group_id, members=members, protocol=protocol), topics) == expected


def test_a_simple_consumer_that_repeats_its_commits_is_told_too():
    assert one(by_timer(10, 400), phase=Phase.OFFSETS_ONLY) == told(500)


def sentence_of(*events, partitions=1, phase=Phase.STABLE):
    state = owned(*events, phase=phase)
    verdict = evaluate(state, topics_of(*map(busy, range(partitions))), 1_000_000, DetectionSettings())
    return next(each.sentence for each in verdict.findings if each.reason == "not_committing")


def test_the_sentence_says_that_commits_are_made_and_which():
    """119 commits of partition 0 are told as 100, 41 of partition 1 as 20."""
    stands, seldom = by_timer(10, 404), by_timer(10, 404, every_s=15, number=1)
    assert sentence_of(*stands) == (
        "1 partition of t (0) has lag, and offset 10 has been committed there at least 100 times in a row. "
        "Its owner is app at /h0."
    )
    assert sentence_of(*stands, *seldom, partitions=2) == (
        "2 partitions of t (0-1) have lag, and the same offsets have been committed there at least 20 times in a row "
        "(10 in partition 0 of t). Their owner is app at /h0."
    )
    assert sentence_of(*stands, *committed(10, 400, 410, 420, number=1), partitions=2) == (
        "2 partitions of t (0-1) have lag. Their owner, app at /h0, has committed no new offset there for at least "
        "60 s. In 1 partition of t (0), offset 10 has been committed at least 100 times in a row."
    )
    assert sentence_of(*by_timer(10, 404, until_s=600)) == (
        "1 partition of t (0) has lag. Its owner, app at /h0, has committed no offset there for at least 60 s."
    )


def test_what_the_broker_says_of_an_aborted_transaction_is_no_repetition():
    """The log has offset 20 a hundred times; the broker knows 10 and was asked at 990 s. Then 10 has not been seen."""
    listed = OffsetsListed(cluster="c", group="g", asked_ms=990_000, offsets=(ListedOffset("t", 0, 10),))
    events = by_timer(20, 400, until_s=980)
    assert one([*events, listed]) == []
    agreed = OffsetsListed(cluster="c", group="g", asked_ms=990_000, offsets=(ListedOffset("t", 0, 20),))
    assert one([*by_timer(20, 400, until_s=980), agreed], topics_of(partition((0, 10), (500, 21), (990, 30)))) == [
        ("lag", "not_committing", 500, places("t", 0))
    ]


@pytest.mark.parametrize(
    ("earliest", "commits", "expected"),
    [
        pytest.param(15, by_timer(10, 400), [700], id="cut at 700 s, and the offset before that is repeated"),
        pytest.param(15, by_timer(10, 900), [900], id="first committed after that"),
        pytest.param(15, by_timer(10, 945), [], id="it moved 55 s ago"),
        pytest.param(15, committed(10, 400), [700], id="silence, as ever"),
        pytest.param(10, by_timer(10, 400), [], id="cut up to the commit"),
        pytest.param(15, by_timer(9, 400, until_s=995) + committed(16, 996), [], id="it has gone on"),
    ],
)
def test_records_are_lost_although_the_lost_offset_is_committed_again_and_again(earliest, commits, expected):
    topics = topics_of(busy(earliest=earliest, earliest_ms=700_000))
    lost = [since_s for kind, reason, since_s, _ in one(commits, topics) if reason == "records_lost"]
    assert lost == expected


def test_an_idle_consumer_whose_new_records_are_removed_at_once_may_have_read_them():
    """Polls show that 11 records came after 990 s and were removed; the commit of 21 is still on its way."""
    log = replace(partition((0, 10), (480, 10), (990, 10), (999, 21)), earliest=21, earliest_ms=999_000)
    assert one(by_timer(10, 400), topics_of(log)) == []


@pytest.mark.parametrize(
    ("now_s", "since_s"), [(799, None), (800, 500), (1000, 500)], ids=["299 s", "300 s", "much later"]
)
def test_a_group_without_members_is_unattended_although_somebody_repeats_its_offset(now_s, since_s):
    events = [each for each in by_timer(10, 400) if each.committed_ms <= now_s * 1000]
    expected = [] if since_s is None else [("unattended", "no_members", since_s, places("t", 0))]
    assert one(events, now_s=now_s, phase=Phase.EMPTY) == expected


def test_a_topic_that_nobody_subscribes_is_abandoned_although_somebody_repeats_its_offset():
    topics = catalog(*(topics_of(busy(), name=name).topics[name] for name in "tu"))
    reasons = [(kind, since_s) for kind, _, since_s, _ in found(owned(*by_timer(10, 400), topics=("u",)), topics)]
    assert (FindingKind.ABANDONED.value, 500) in reasons


@given(
    gaps=st.lists(st.integers(1, 299), min_size=1, max_size=12),
    every_s=st.integers(1, 59),
    last_s=st.integers(0, 900),
)
@example(gaps=[1, 1], every_s=2, last_s=300)
def test_who_moves_within_five_minutes_is_never_told_and_who_does_not_is_told_since_the_last_move(
    gaps, every_s, last_s
):
    """A record every second; each move covers some, and commits are repeated by a timer until ``last_s`` after it.

    The first repetition that counts may come up to ``every_s`` after those five minutes.
    """
    moves = [sum(gaps[:index]) for index in range(len(gaps))]
    now_s = moves[-1] + last_s
    events, offset = [], 0
    for second in range(now_s + 1):
        if second in moves:
            offset += 1
        if second in moves or second % every_s == 0:
            events += committed(offset, second)
    log = partition(*((second, 1_000 + second) for second in range(0, now_s + 1, 20)))
    has_repeated = any(each.committed_ms >= (moves[-1] + 300) * 1000 for each in events)
    assert one(events, topics_of(log), now_s) == (told(moves[-1]) if has_repeated else [])
