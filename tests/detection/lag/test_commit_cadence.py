"""What silence is usual in a partition. Times are in seconds."""

from itertools import count, pairwise, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.lag.commit_cadence import BATCH_MS, longest_usual_ms
from monitor.model import CommitPoint, CommittedOffset, EndOffsetAt, PartitionState, TopicState
from monitor.model.commit_history import extend, with_commit
from monitor.tracking.topic import add_end
from tests.detection.lag.test_lag import partition
from tests.support.builders import catalog, group, member


def commits(*points):
    """Commits at (second, offset)."""
    at_s, offset = points[-1]
    history = extend(b"", [CommitPoint(second * 1000, offset) for second, offset in points])
    return CommittedOffset(topic="t", partition=0, offset=offset, committed_ms=at_s * 1000, history=history)


STEADY = partition(*((second, second) for second in range(0, 1000, 20)))
"""A record a second, from the beginning on."""

SLID = partition(*((second, second) for second in range(10_000, 10_600, 20)))
"""The same, of which only the last ten minutes are kept."""


@pytest.mark.parametrize(
    ("commit", "known", "silence_s", "usual"),
    [
        pytest.param(commits((0, 0), (100, 100)), STEADY, 60, None, id="two commits are no rhythm"),
        pytest.param(commits((0, 0), (100, 100), (200, 200)), STEADY, 239, True, id="100 s, but for the first 20"),
        pytest.param(commits((0, 0), (100, 100), (200, 200)), STEADY, 240, False, id="three times that"),
        pytest.param(commits((0, 0), (5, 5), (10, 10)), STEADY, 60, False, id="every 5 s"),
        pytest.param(commits((0, 0), (100, 100), (105, 105), (110, 110)), STEADY, 60, False, id="one break"),
        pytest.param(commits((0, 0), (100, 100), (105, 105)), STEADY, 60, False, id="as many breaks as not"),
        pytest.param(
            commits((0, 0), (100, 100), (105, 105), (205, 205), (305, 305)), STEADY, 60, True, id="most are breaks"
        ),
        pytest.param(
            commits((0, 10), (100, 11), (200, 12), (300, 13)),
            partition((0, 10), (80, 10), (100, 11), (180, 11), (200, 12), (280, 12), (300, 13), (380, 13), (400, 14)),
            60,
            False,
            id="rare records, committed at once",
        ),
        pytest.param(
            commits((0, 10), (100, 11), (200, 12), (300, 13)),
            partition((0, 10), (20, 11), (100, 11), (120, 12), (200, 12), (220, 13), (300, 13), (400, 14)),
            239,
            True,
            id="rare records that wait 80 s",
        ),
        pytest.param(
            commits((0, 10), (100, 10), (200, 10), (300, 10)),
            partition((0, 10), (300, 10), (400, 11)),
            299,
            True,
            id="it commits every 100 s although nothing comes",
        ),
        pytest.param(
            commits((0, 10), (100, 5), (200, 4), (300, 3)), STEADY, 60, False, id="moved back by hand: no rhythm"
        ),
        pytest.param(
            commits((8000, 8000), (8600, 8600), (9200, 9200)), SLID, 899, True, id="before the ends: several records"
        ),
        pytest.param(
            commits((8000, 8000), (8600, 8600), (9200, 9200)), SLID, 900, False, id="no longer than a batch may take"
        ),
        pytest.param(commits((8000, 8000), (8600, 8605), (9200, 8610)), SLID, 899, True, id="five are several"),
        pytest.param(
            commits((8000, 8000), (8600, 8604), (9200, 8608)),
            SLID,
            600,
            False,
            id="four are not: they may have come just before each commit",
        ),
        pytest.param(
            commits((9700, 500), (10_150, 501), (10_600, 502)),
            SLID,
            300,
            True,
            id="few, but in the ends one is seen to wait from the beginning on, 150 s and 450 s",
        ),
        pytest.param(
            commits((9700, 500), (10_150, 501), (10_600, 502)), SLID, 450, False, id="150 s are no longer a third"
        ),
    ],
)
def test_how_long_records_usually_wait_for_a_commit(commit, known, silence_s, usual):
    assert is_usual(commit, known, silence_s * 1000) is usual


@pytest.mark.parametrize(("silence_s", "usual"), [(1799, True), (1800, False)])
def test_before_the_ends_a_time_between_commits_counts_as_long_as_a_batch_may_take(silence_s, usual):
    """Three times the 600 s between two commits, which may take an hour."""
    commit = commits((8000, 8000), (8600, 8600), (9200, 9200))
    assert is_usual(commit, SLID, silence_s * 1000, batch_ms=3_600_000) is usual


def is_usual(commit, known, silence_ms, batch_ms=BATCH_MS):
    longest_ms = longest_usual_ms(commit, known, batch_ms)
    return None if longest_ms is None else silence_ms < longest_ms


times = st.lists(st.integers(0, 10_000), min_size=3, max_size=14).map(sorted)


@given(times, st.lists(st.integers(-3, 200), min_size=14, max_size=14), st.lists(st.integers(0, 900), max_size=30))
def test_what_is_unusual_stays_so_while_nothing_happens(at_s, steps, ends):
    """Whatever the commits and the ends are."""
    offsets = [sum(steps[: index + 1]) for index in range(len(at_s))]
    commit = commits(*zip(at_s, offsets, strict=True))
    known = PartitionState(
        partition=0,
        first_seen_ms=0,
        ends=tuple(EndOffsetAt(second * 1000, offset) for second, offset in zip(count(0, 300), sorted(ends))),
    )
    answers = [is_usual(commit, known, silence_s * 1000) for silence_s in range(0, 40_000, 500)]
    assert answers == sorted(answers, reverse=True)
    assert answers[-1] is False, "more than three times the longest time: never hidden for ever"


@given(times, st.integers(0, 1000))
def test_a_silence_shorter_than_a_third_of_nothing_is_never_usual(at_s, silence_s):
    """The times between commits bound it: records can't wait for longer."""
    longest_s = max(after - before for before, after in pairwise(at_s))
    commit = commits(*((second, second) for second in at_s))
    assert is_usual(commit, STEADY, 3000 * longest_s + 1000 * silence_s) is False


# --- a partition from its first record on, as collector and tracker would see it --------------------------------------

PASS_S = 10
HOUR_S = 3600
TOLD = "not_committing"


def told_at(record_at, commit_at, until_s, batch_s=300):
    """The seconds at which it is told that the only member does not commit, asked every ten.

    Args:
        record_at: when records come, ever later ones.
        commit_at: when all that has come is committed; nothing is if nothing came.
        until_s: how long it is looked at.
        batch_s: the member's max.poll.interval.ms.
    """
    records, committing = takewhile(lambda at: at <= until_s, record_at), list(commit_at)
    coming = list(records)
    end = offset = 0
    ends, history, found = (), b"", []
    for now_s in range(until_s + 1):
        while end < len(coming) and coming[end] <= now_s:
            end += 1
        while committing and committing[0] <= now_s:
            at_s = committing.pop(0)
            if end > offset or not history:
                offset = end
                history = with_commit(history, at_s * 1000, offset)
                committed = CommittedOffset("t", 0, offset, at_s * 1000, history=history)
        if now_s % PASS_S or not history:
            continue
        ends = add_end(ends, EndOffsetAt(now_s * 1000, end))
        known = PartitionState(partition=0, first_seen_ms=0, earliest=0, end=end, ends=ends)
        state = group(
            member("C0", ["t"], {"t": [0]}, session_timeout_ms=45_000, rebalance_timeout_ms=batch_s * 1000),
            offsets=[committed],
            generation_ms=0,
        )
        topics = catalog(TopicState(cluster="c", topic="t", pass_ms=0, topic_id="T", partitions=(known,)))
        findings = evaluate(state, topics, now_s * 1000, DetectionSettings()).findings
        found += [now_s] * (TOLD in [finding.reason for finding in findings])
    return found


RHYTHMS_S = [
    (5, 60),
    (30, 90),
    (60, 180),
    (180, 540),
    (300, 900),
    (600, 1800),
    (1800, 5400),
]


@pytest.mark.parametrize(("every_s", "told_s"), RHYTHMS_S)
@pytest.mark.parametrize("record_s", [1, 15, 45, 120])
def test_who_commits_by_the_clock_is_told_when_it_hangs_and_not_before(every_s, told_s, record_s):
    """After three commits, whatever the rhythm of the records; a hang is told after three of the usual times.

    The records of a time between two commits are seen up to 20 s after they came, and come up to ``record_s`` after
    the commit before: so much less is known to be usual.
    """
    hangs_s = max(6 * every_s, HOUR_S)
    commit_at, until_s = range(every_s, hangs_s + 1, every_s), hangs_s + told_s + 300
    found = told_at(range(0, until_s, record_s), commit_at, until_s, batch_s=3600)
    late_s = 20 + record_s
    assert found
    assert found[0] - hangs_s >= max(60, every_s, told_s - 3 * late_s)
    assert found[0] - hangs_s <= max(60, told_s) + late_s + PASS_S
    assert found == list(range(found[0], found[-1] + 1, PASS_S)), "it does not come and go"


def test_commits_by_a_timer_show_a_longer_habit_than_a_batch_may_take():
    """A commit each 30 min, as of Flink's checkpoints, by a consumer that polls each 5 min at least."""
    even = commits(*((second, second) for second in range(0, 9_001, 1_800)))
    assert is_usual(even, SLID, 5_399_000) is True
    assert is_usual(even, SLID, 5_400_000) is False
    uneven = commits(*((second, second) for second in (0, 1_800, 3_600, 5_400, 9_000)))
    assert is_usual(uneven, SLID, 900_000) is False
    few = commits(*((second, second) for second in range(3_600, 9_001, 1_800)))
    assert is_usual(few, SLID, 900_000) is False


@pytest.mark.parametrize("pause_s", [600, 1800])
@pytest.mark.parametrize("records", [1, 4, 50])
def test_who_commits_at_once_what_comes_rarely_is_told_after_the_patience(pause_s, records):
    """Every ``pause_s`` some records come, and are committed 2 s later; the sixth time they are not.

    The log stood still before, so the poll of that second is kept.
    """
    comes_s = [(turn + 1) * pause_s for turn in range(6)]
    record_at = [at for at in comes_s for _ in range(records)]
    found = told_at(record_at, [1, *(at + 2 for at in comes_s[:-1])], comes_s[-1] + 3 * pause_s)
    assert found == list(range(comes_s[-1] + 60, comes_s[-1] + 3 * pause_s + 1, PASS_S))


def test_a_hang_in_a_topic_that_has_become_busy_is_told_until_it_ends():
    """Records were rare, then come every second, and the first of these is not committed: after ten minutes nothing is
    kept that tells how rare they were."""
    rare_s = list(range(600, 6001, 600))
    found = told_at([*rare_s, *range(6600, 8600)], [1, *(at + 2 for at in rare_s)], 8600)
    assert found == list(range(6660, 8601, PASS_S))


@pytest.mark.parametrize(
    ("batch_s", "told_s"),
    [
        pytest.param(300, 300, id="as long as it may take between two polls"),
        pytest.param(30, 60, id="that is shorter than the patience"),
        pytest.param(3600, 3600, id="an hour"),
        pytest.param(3601, 60, id="more is no limit that anybody meant"),
        pytest.param(0, 60, id="not known"),
    ],
)
def test_of_whom_no_rhythm_is_known_the_longest_batch_is_waited_for(batch_s, told_s):
    """It commits at 5 s and at 10 s, and no more. The next record comes at 11 s, and is kept as an end of 30 s. The end
    before that is of 10 s, so the last commit counts; but the record has to be seen for the patience."""
    found = told_at(range(10**4), [5, 10], 4000, batch_s=batch_s)
    assert found[0] == max(10 + told_s, 30 + 60)
    assert found == list(range(found[0], 4001, PASS_S))


def test_batches_that_are_allowed_are_not_told_from_the_first_on():
    assert told_at(range(10**4), range(1, 4000, 180), 3900) == []
    assert told_at(range(10**4), range(1, 4000, 290), 3900) == []
