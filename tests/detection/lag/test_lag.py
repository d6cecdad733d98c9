import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.lag.lag import lag_ms, lag_records, total, waiting_since_ms
from monitor.model import Catalog, EndOffsetAt, FindingKind, PartitionState, Phase, TopicState
from tests.support.builders import NOW, catalog, commit, group, member, topic


def partition(*points, earliest=0, number=0):
    """A partition whose end was seen at (second, offset)."""
    ends = tuple(EndOffsetAt(at_ms=second * 1000, offset=offset) for second, offset in points)
    return PartitionState(
        partition=number, first_seen_ms=0, earliest=earliest, end=ends[-1].offset if ends else None, ends=ends
    )


@pytest.mark.parametrize(
    ("known", "committed", "expected_s"),
    [
        pytest.param(partition((0, 0), (100, 1000)), 1000, 0, id="at the end: nothing waits"),
        pytest.param(partition((0, 0), (100, 1000)), 1200, 0, id="commit newer than the end: nothing waits"),
        pytest.param(partition((0, 0), (100, 1000)), 400, 60, id="passed 40 s into the interval of 100 s"),
        pytest.param(partition((0, 0), (50, 100), (100, 300)), 200, 25, id="halfway through the second interval"),
        pytest.param(
            partition((0, 100), (90, 100), (100, 110)), 100, 10, id="idle until the last point, not for 100 s"
        ),
        pytest.param(partition((0, 500), (100, 1000)), 400, None, id="a replay from before the history: not known"),
        pytest.param(partition((0, 500), (100, 500)), 400, None, id="idle topic, lag older than the history: not 0"),
        pytest.param(
            partition((0, 500), (100, 1000), earliest=500), 400, 100, id="the oldest record that still exists"
        ),
        pytest.param(
            partition((0, 500), (100, 1000), earliest=1000), 400, None, id="retention has removed what waited"
        ),
        pytest.param(partition((0, 900), (50, 0), (100, 100)), 50, 25, id="topic made anew: the newest passing counts"),
        pytest.param(partition((0, 0), (140, 1000)), 900, 0, id="clock of the collector ahead: not negative"),
        pytest.param(partition(), 10, None, id="end not known"),
    ],
)
def test_the_age_of_the_oldest_waiting_record(known, committed, expected_s):
    """It is 100 s on the clock."""
    assert lag_ms(known, committed, 100_000) == (None if expected_s is None else expected_s * 1000)


def test_an_end_that_is_newer_than_the_history():
    known = PartitionState(partition=0, first_seen_ms=0, end=20, ends=(EndOffsetAt(at_ms=80_000, offset=10),))
    assert lag_ms(known, 15, 100_000) == 10_000
    assert waiting_since_ms(known, 15, 100_000) == 100_000


REMEMBERED = replace(
    partition((9_400, 1000), (10_000, 1600)),
    older=(EndOffsetAt(at_ms=1_000_000, offset=100), EndOffsetAt(at_ms=5_000_000, offset=500)),
)
"""At 10,000 s: its ends of the last ten minutes, and two from before: at 1,000 s and at 5,000 s."""


@pytest.mark.parametrize(
    ("committed", "age_s", "at_least_s"),
    [
        pytest.param(1300, 300, 300, id="in the history of the last minutes"),
        pytest.param(750, 2_800, 2_800, id="halfway from 5,000 s to 9,400 s, so written at 7,200 s"),
        pytest.param(500, 5_000, 5_000, id="at an older point"),
        pytest.param(200, 8_000, 8_000, id="a quarter of the way from 1,000 s to 5,000 s"),
        pytest.param(99, None, 9_000, id="from before all that is remembered: at least so old"),
        pytest.param(1600, 0, 0, id="nothing waits"),
    ],
)
def test_what_has_waited_for_hours_has_an_age_or_at_least_the_age_of_the_memory(committed, age_s, at_least_s):
    verdict = verdict_on(REMEMBERED, committed, 9_990, 10_000)
    assert verdict.lag_ms == (None if age_s is None else age_s * 1000)
    assert verdict.lag_at_least_ms == at_least_s * 1000


def test_a_group_has_waited_at_least_for_as_long_as_its_partition_of_unknown_age():
    """Of partition 0 the age is 20 s, of partition 1 only that it is more than the 100 s for which it is known."""
    known = (partition((0, 0), (100, 100)), partition((0, 50), (100, 100), number=1))
    topics = Catalog(
        cluster="c", pass_ms=0, topics={"t": TopicState(cluster="c", topic="t", pass_ms=0, partitions=known)}
    )
    state = group(member("C0", ["t"], {"t": [0, 1]}), offsets=[commit("t", 0, 80, 99_000), commit("t", 1, 10, 99_000)])
    verdict = evaluate(state, topics, 100_000, DetectionSettings())
    assert (verdict.lag_ms, verdict.lag_at_least_ms) == (20_000, 100_000)


def test_of_records_that_retention_removed_no_age_is_known():
    gone = replace(REMEMBERED, earliest=1600)
    verdict = verdict_on(gone, 99, 9_990, 10_000)
    assert (verdict.lag_ms, verdict.lag_at_least_ms) == (None, None)


@pytest.mark.parametrize(
    ("known", "committed", "expected_s"),
    [
        pytest.param(partition((0, 10), (60, 10), (70, 11)), 10, 70, id="seen first at 70 s"),
        pytest.param(partition((50, 30), (70, 40)), 10, 50, id="a history that begins later"),
        pytest.param(partition((0, 10), (70, 20)), 20, None, id="nothing waits"),
    ],
)
def test_since_when_records_wait_for_certain(known, committed, expected_s):
    assert waiting_since_ms(known, committed, 100_000) == (None if expected_s is None else expected_s * 1000)


offsets = st.integers(0, 2**40)


@given(
    st.lists(st.tuples(st.integers(0, 10**7), offsets), max_size=6),
    offsets,
    st.none() | offsets,
    st.none() | offsets,
    st.integers(0, 10**7),
)
def test_never_negative_whatever_the_history(points, committed, end, earliest, now_s):
    """Even a history that goes back in time or offsets."""
    ends = tuple(EndOffsetAt(at_ms=second * 1000, offset=offset) for second, offset in points)
    known = PartitionState(partition=0, first_seen_ms=0, earliest=earliest, end=end, ends=ends)
    lag, age = lag_records(committed, end), lag_ms(known, committed, now_s * 1000)
    assert lag is None or lag >= 0
    assert age is None or age >= 0
    assert age == 0 or lag != 0


def lag_findings(*args, **settings):
    findings = verdict_on(*args, **settings).findings
    return [(f.reason, f.since_ms // 1000) for f in findings if f.kind is FindingKind.LAG]


def verdict_on(known, offset, at_s, now_s, *, phase=Phase.STABLE, **settings):
    topics = Catalog(
        cluster="c",
        pass_ms=0,
        topics={"t": TopicState(cluster="c", topic="t", pass_ms=0, partitions=(known,))},
    )
    members = (member("C0", ["t"], {"t": [0]}),) if phase is Phase.STABLE else ()
    state = group(*members, phase=phase, offsets=[commit("t", 0, offset, at_s * 1000)], generation_ms=0, phase_ms=0)
    return evaluate(state, topics, now_s * 1000, DetectionSettings(**settings))


WAITING_SINCE_100 = partition((0, 10), (90, 10), (100, 20), (200, 30))


@pytest.mark.parametrize(
    ("offset", "committed_s", "now_s", "expected"),
    [
        pytest.param(10, 50, 159, [], id="waiting for 59 s only"),
        pytest.param(10, 50, 160, [("not_committing", 100)], id="waiting for 60 s, silent for longer"),
        pytest.param(15, 120, 179, [], id="silent for 59 s only"),
        pytest.param(15, 120, 180, [("not_committing", 120)], id="silent for 60 s, waiting for longer"),
        pytest.param(30, 120, 900, [], id="silent, but nothing waits"),
        pytest.param(10, 2000, 900, [], id="commit from a clock ahead of ours"),
    ],
)
def test_not_committing_needs_silence_and_waiting(offset, committed_s, now_s, expected):
    assert lag_findings(WAITING_SINCE_100, offset, committed_s, now_s) == expected


def test_an_idle_topic_that_just_got_a_record_is_no_alarm():
    assert lag_findings(partition((0, 10), (86_400, 11)), 10, 0, 86_401) == []


def test_simple_consumers_are_living_groups_and_empty_ones_are_not():
    assert lag_findings(WAITING_SINCE_100, 10, 50, 300, phase=Phase.OFFSETS_ONLY) == [("not_committing", 100)]
    assert lag_findings(WAITING_SINCE_100, 10, 50, 300, phase=Phase.EMPTY) == []


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(None, []), (20, []), (19, [("behind", 200)]), (9, [("behind", 100)])],
    ids=["off", "20 are not more than 20", "more than 19 since the end was 30", "more than 9 since it was 20"],
)
def test_behind_since_the_ends_passed_the_threshold(threshold, expected):
    found = lag_findings(WAITING_SINCE_100, 10, 210, 230, lag_records=threshold)
    assert found == expected


@pytest.mark.parametrize(
    ("threshold", "since_s"),
    [
        pytest.param(5, 1_000, id="10 waited at 1,000 s"),
        pytest.param(20, 5_000, id="410 at 5,000 s"),
        pytest.param(500, 9_400, id="910 at 9,400 s"),
    ],
)
def test_a_group_is_behind_for_longer_than_the_history_of_the_last_minutes(threshold, since_s):
    assert lag_findings(REMEMBERED, 90, 9_990, 10_000, lag_records=threshold) == [("behind", since_s)]


def test_a_partition_without_an_owner_is_told_as_an_orphan_only():
    topics = Catalog(
        cluster="c",
        pass_ms=1,
        topics={"t": TopicState(cluster="c", topic="t", pass_ms=0, partitions=(WAITING_SINCE_100,))},
    )
    state = group(member("C0", ["t"]), offsets=[commit("t", 0, 10, 0)], generation_ms=0)
    findings = evaluate(state, topics, 900_000, DetectionSettings()).findings
    assert FindingKind.ORPHANED in {finding.kind for finding in findings}
    assert FindingKind.LAG not in {finding.kind for finding in findings}


def anew(*points, former=0):
    """The partition of a topic whose former self was last seen at that second, first seen with its first point."""
    return replace(partition(*points), former_ms=former * 1000, first_seen_ms=points[0][0] * 1000)


@pytest.mark.parametrize(
    ("known", "offset", "at_s", "lag", "told"),
    [
        pytest.param(
            anew((100, 0), (200, 50), former=90), 80, 80, None, [("former_log", 100)], id="beyond the new end"
        ),
        pytest.param(
            anew((100, 0), (200, 50), former=90), 20, 90, None, [("former_log", 100)], id="inside the new log"
        ),
        pytest.param(
            anew((100, 0), (200, 50), former=90), 20, 91, 30, [], id="committed after the topic was last seen"
        ),
        pytest.param(
            partition((100, 40), (200, 50)),
            80,
            170,
            None,
            [("beyond_end", 170)],
            id="beyond an end that was seen later",
        ),
        pytest.param(partition((100, 40), (200, 50)), 80, 171, 0, [], id="the end may be older than the commit"),
        pytest.param(partition((100, 90), (200, 80)), 80, 1, 0, [], id="at the end"),
    ],
)
def test_nothing_is_counted_from_a_commit_that_is_no_place_in_the_log(known, offset, at_s, lag, told):
    assert lag_findings(known, offset, at_s, 201, commit_silence_ms=10**9) == told
    verdict = verdict_on(known, offset, at_s, 201)
    assert [row.lag for row in verdict.partitions] == [lag]
    assert verdict.lag == lag
    assert lag is not None or verdict.lag_ms is None


def test_the_finding_about_a_former_log_is_never_older_than_now():
    assert lag_findings(anew((100, 0), former=90), 80, 80, 50) == [("former_log", 50)]


def test_unknown_is_absent_and_not_zero():
    """Partition 0 lags 5, 1 has no commit, the end of 2 is not known; of a deleted topic only the commit is left."""
    known = (partition((0, 0), (100, 15)), partition((0, 0), (100, 15), number=1), partition(number=2))
    topics = Catalog(
        cluster="c", pass_ms=0, topics={"t": TopicState(cluster="c", topic="t", pass_ms=0, partitions=known)}
    )
    state = group(
        member("C0", ["t"], {"t": [0, 1, 2]}),
        offsets=[commit("gone", 0, 7), commit("t", 0, 10), commit("t", 2, 10)],
        generation_ms=0,
    )
    verdict = evaluate(state, topics, 100_000, DetectionSettings())
    rows = [(row.topic, row.partition, row.committed, row.end, row.lag) for row in verdict.partitions]
    assert rows == [("gone", 0, 7, None, None), ("t", 0, 10, 15, 5), ("t", 1, None, 15, None), ("t", 2, 10, None, None)]
    assert (verdict.lag, verdict.lag_at_least) == (None, 5), "a part of a sum is no sum"
    nothing = evaluate(group(member("C0", ["t"], {"t": [1]}), generation_ms=0), topics, 100_000, DetectionSettings())
    assert (nothing.lag, nothing.lag_ms) == (None, None)


def test_sums_of_a_group_end_at_the_largest_number():
    """Three partitions that end at 2^62, of which nothing is read: 3 * 2^62 is more than 2^63 - 1."""
    known = tuple(partition((0, 2**62), (100, 2**62), number=number) for number in range(3))
    catalog = Catalog(cluster="c", pass_ms=1, topics={"t": TopicState("c", "t", 1, partitions=known)})
    state = group(member("m", "t"), offsets=[commit("t", number, 0) for number in range(3)])
    verdict = evaluate(state, catalog, 100_000, DetectionSettings(lag_records=1))
    assert [row.lag for row in verdict.partitions] == [2**62] * 3
    assert (verdict.lag, verdict.topics[0].lag) == (2**63 - 1, 2**63 - 1)
    assert all(each.lag <= 2**63 - 1 for each in verdict.members)
    msgspec.msgpack.encode(verdict)


@given(st.lists(st.none() | st.integers(0, 2**63 - 1)))
def test_a_total_is_the_sum_as_far_as_a_number_holds_it(lags):
    known = [lag for lag in lags if lag is not None]
    assert total(lags) == (min(sum(known), 2**63 - 1) if known else None)


def test_no_age_of_what_was_read_stands_for_a_lag_of_unknown_age():
    """One partition is read, and the ends of the other are known from beyond its commit on."""
    read, late = topic("a", 2).partitions
    young = (read, replace(late, ends=late.ends[1:]))
    known = catalog(replace(topic("a", 2), partitions=young))
    owner = group(member("C0", ["a"], {"a": [0, 1]}), offsets=[commit("a", 0, 100), commit("a", 1, 40)])
    verdict = evaluate(owner, known, NOW, DetectionSettings())
    assert (verdict.lag, verdict.lag_ms, verdict.lag_since_ms) == (60, None, None)
    assert [line.lag_ms for line in verdict.topics] == [None]
    assert verdict.lag_at_least_ms == 0, "the history of its ends begins now"
