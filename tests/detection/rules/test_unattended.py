"""Records that wait where nobody is to read them. Times are in seconds; the patience is 60 s."""

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.kinds.short_lives import lives_by_pattern
from monitor.model import EndOffsetAt, FindingKind, Phase, Rebalance, ShortLife, TopicState
from tests.detection.lag.test_lag import partition
from tests.support.builders import catalog, commit, group, member, places


def topic_of(name, *partitions):
    return TopicState(cluster="c", topic=name, pass_ms=0, partitions=partitions)


def told(state, topics, now_s, kind, patience_ms=60_000):
    findings = evaluate(state, topics, now_s * 1000, DetectionSettings(commit_silence_ms=patience_ms)).findings
    return [(f.reason, f.since_ms // 1000, f.partitions) for f in findings if f.kind is kind]


def left(at_s, *offsets):
    """A group whose last member went then."""
    return group(phase=Phase.EMPTY, phase_ms=at_s * 1000, generation_ms=at_s * 1000, offsets=offsets)


def left_at(at_s, offset, committed_s):
    """The same, with one committed partition."""
    return left(at_s, commit("t", 0, offset, committed_s * 1000))


ARRIVED_AT_200 = partition((0, 10), (180, 10), (200, 15), (220, 20))
SLID = partition((500, 40), (520, 50), (900, 60))
"""So much came that the history does not reach back to the commit."""


@pytest.mark.parametrize(
    ("known", "state", "now_s", "since_s"),
    [
        pytest.param(
            ARRIVED_AT_200, left_at(100, 10, 90), 259, None, id="records wait for 59 s: a restart takes as long"
        ),
        pytest.param(ARRIVED_AT_200, left_at(100, 10, 90), 260, 200, id="since the first record that was seen to come"),
        pytest.param(ARRIVED_AT_200, left_at(210, 10, 90), 269, None, id="the last member went 59 s ago"),
        pytest.param(
            ARRIVED_AT_200, left_at(210, 10, 90), 270, 210, id="records waited before: since the last member went"
        ),
        pytest.param(ARRIVED_AT_200, left_at(210, 10, 400), 459, None, id="somebody committed without being a member"),
        pytest.param(ARRIVED_AT_200, left_at(210, 10, 400), 460, 400, id="and has stopped to"),
        pytest.param(
            ARRIVED_AT_200, left_at(100, 20, 90), 9_000, None, id="nothing waits: a batch job between its runs"
        ),
        pytest.param(
            SLID, left_at(100, 10, 90), 559, None, id="started lately, in sight for 59 s: it may just be read"
        ),
        pytest.param(SLID, left_at(100, 10, 90), 560, 100, id="in sight for 60 s: since the last member went"),
        pytest.param(SLID, left_at(100, 10, 90), 9_000, 100, id="which does not move while the history does"),
        pytest.param(
            partition((0, 0), (100, 20), earliest=20), left_at(100, 10, 90), 900, None, id="all of it was removed"
        ),
    ],
)
def test_a_group_without_members_for_which_records_wait(known, state, now_s, since_s):
    expected = [] if since_s is None else [("no_members", since_s, places("t", 0))]
    assert told(state, catalog(topic_of("t", known)), now_s, FindingKind.UNATTENDED) == expected
    assert told(state, catalog(topic_of("t", known)), now_s, FindingKind.ORPHANED) == []


@pytest.mark.parametrize(
    ("known", "offset", "since_s"),
    [
        pytest.param(SLID, 10, 100, id="when the first record came is not known any more"),
        pytest.param(replace(SLID, woken=EndOffsetAt(200_000, 10)), 10, 200, id="the log had stood, and went on then"),
        pytest.param(replace(SLID, woken=EndOffsetAt(200_000, 11)), 10, 100, id="it had stood elsewhere"),
        pytest.param(replace(SLID, woken=EndOffsetAt(80_000, 10)), 10, 100, id="it went on before the group left"),
        pytest.param(
            replace(ARRIVED_AT_200, woken=EndOffsetAt(190_000, 10)), 10, 190, id="its first sight, to the second"
        ),
    ],
)
def test_the_first_record_after_a_standstill_is_remembered(known, offset, since_s):
    expected = [("no_members", since_s, places("t", 0))]
    assert told(left_at(100, offset, 90), catalog(topic_of("t", known)), 9_000, FindingKind.UNATTENDED) == expected


def test_only_partitions_where_records_wait_are_told_and_the_earliest_counts():
    idle, late = partition((0, 10), (300, 10)), partition((0, 10), (300, 10), (320, 11), number=2)
    early = partition((0, 10), (200, 10), (250, 11), number=1)
    state = left(100, *(commit("t", number, 10, 90_000) for number in range(3)))
    assert told(state, catalog(topic_of("t", idle, early, late)), 400, FindingKind.UNATTENDED) == [
        ("no_members", 250, places("t", 1, 2))
    ]


def test_a_simple_consumer_that_stops_is_told_as_not_committing_only():
    state = group(phase=Phase.OFFSETS_ONLY, protocol_type="", generation=0, offsets=[commit("t", 0, 10, 90_000)])
    topics = catalog(topic_of("t", ARRIVED_AT_200))
    assert told(state, topics, 900, FindingKind.UNATTENDED) == []
    assert told(state, topics, 900, FindingKind.LAG) == [("not_committing", 200, places("t", 0))]


@pytest.mark.parametrize(
    ("now_s", "expected"),
    [
        pytest.param(3_690, [], id="an hour of patience, and the last sign is younger"),
        pytest.param(3_700, [("no_members", 100, places("t", 0))], id="an hour, of which the history shows minutes"),
    ],
)
def test_a_patience_longer_than_the_history_is_not_endless(now_s, expected):
    slid = partition((now_s - 600, 400), (now_s, 500))
    state = left_at(100, 10, 90)
    assert told(state, catalog(topic_of("t", slid)), now_s, FindingKind.UNATTENDED, 3_600_000) == expected


@pytest.mark.parametrize(
    ("known", "offset", "committed_s", "now_s", "since_s"),
    [
        pytest.param(ARRIVED_AT_200, 10, 90, 259, None, id="for 59 s"),
        pytest.param(ARRIVED_AT_200, 10, 90, 260, 200, id="since the first record that nobody read"),
        pytest.param(ARRIVED_AT_200, 15, 210, 300, 210, id="read until then, between two sights of a growing log"),
        pytest.param(ARRIVED_AT_200, 20, 90, 9_000, None, id="the log does not grow: turned away in order"),
        pytest.param(SLID, 10, 90, 900, 90, id="since the last commit"),
    ],
)
def test_a_topic_that_a_living_group_has_turned_away_from(known, offset, committed_s, now_s, since_s):
    offsets = [commit("old", 0, offset, committed_s * 1000)]
    state = group(member("C0", ["t"], {"t": [0]}), offsets=offsets, generation_ms=80_000, phase_ms=80_000)
    topics = catalog(topic_of("old", known), topic_of("t", partition((0, 0))))
    expected = [] if since_s is None else [("unsubscribed", since_s, places("old", 0))]
    assert told(state, topics, now_s, FindingKind.ABANDONED) == expected
    assert told(state, topics, now_s, FindingKind.ORPHANED) == []
    assert told(state, topics, now_s, FindingKind.LAG) == []


def one_off(name, began_s=50, left_s=100):
    """A group that one member used until then."""
    gone = replace(left(left_s, commit("t", 0, 10, left_s * 1000)), group=name, generation=2, rebalances=2)
    joined = Rebalance(1, began_s * 1000, began_s * 1000, joined=1, is_first=True)
    return replace(gone, history=(joined, Rebalance(2, left_s * 1000, left_s * 1000, left=1)))


def siblings(*spans_s):
    """What is known of groups app-* that lived then."""
    return lives_by_pattern([ShortLife("app-*", begin * 1000, end * 1000) for begin, end in spans_s])


@pytest.mark.parametrize(
    ("name", "short_lives", "reason"),
    [
        pytest.param("app-4", siblings((1, 9), (11, 19), (21, 29), (50, 100)), "one_off", id="three before it"),
        pytest.param("app-4", siblings((1, 9), (11, 19), (50, 100)), "no_members", id="two before it"),
        pytest.param("app-4", {}, "no_members", id="the only one of its pattern"),
        pytest.param("app-4", siblings(*[(50, 100)] * 9), "no_members", id="shards that were stopped with it"),
        pytest.param("app", siblings((1, 9), (11, 19), (21, 29), (50, 100)), "no_members", id="a name of its own"),
    ],
)
def test_a_group_that_others_came_and_went_like_is_information(name, short_lives, reason):
    topics = replace(catalog(topic_of("t", ARRIVED_AT_200)), short_lives=short_lives)
    assert told(one_off(name), topics, 300, FindingKind.UNATTENDED) == [(reason, 200, places("t", 0))]


def test_a_group_that_was_read_for_longer_or_left_without_a_commit_is_critical_among_any_others():
    topics = replace(catalog(topic_of("t", SLID)), short_lives=siblings((1, 9), (11, 19), (21, 29), (31, 39)))
    hours = replace(one_off("app-4", began_s=50, left_s=651), offsets=(commit("t", 0, 10, 651_000),))
    died = replace(one_off("app-5"), offsets=(commit("t", 0, 10, 94_000),))
    for state in (hours, died):
        assert [reason for reason, *_ in told(state, topics, 2_000, FindingKind.UNATTENDED)] == ["no_members"]
