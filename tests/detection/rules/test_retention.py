"""Records that retention removes before a group has committed them. Times in seconds, the clock says 1000 s."""

import pytest

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.rules.retention import kept_waiting, lost_records
from monitor.model import (
    CommitPoint,
    CommittedOffset,
    EndOffsetAt,
    FindingKind,
    PartitionState,
    PartitionVerdict,
    Phase,
    TopicPartition,
    TopicState,
)
from monitor.model.commit_history import extend
from tests.support.builders import catalog, group, member, places

GROWING = [(100 * n, 1000 * n) for n in range(11)]
"""Ten records a second, the end is 10,000 now."""


def cut(earliest, ends=GROWING, *, cut_s=0, number=0, **more):
    points = tuple(EndOffsetAt(at_ms=second * 1000, offset=offset) for second, offset in ends)
    return PartitionState(
        partition=number,
        first_seen_ms=0,
        earliest=earliest,
        end=points[-1].offset,
        ends=points,
        earliest_ms=cut_s * 1000,
        **more,
    )


def commits(*points, number=0, topic="t"):
    last_s, last = points[-1]
    history = extend(b"", [CommitPoint(second * 1000, offset) for second, offset in points])
    return CommittedOffset(topic, number, last, last_s * 1000, -1, history)


def verdict_on(commit, *partitions, now_s=1000, phase=Phase.STABLE, subscribed=("t",), **settings):
    topics = catalog(
        TopicState(cluster="c", topic="t", pass_ms=0, partitions=partitions),
        TopicState(cluster="c", topic="u", pass_ms=0, partitions=(cut(0),)),
    )
    members = [member("C0", subscribed, {"t": [0]} if subscribed == ("t",) else {"u": [0]})]
    state = group(*(members if phase is Phase.STABLE else []), offsets=[commit], phase=phase, generation_ms=0)
    return evaluate(state, topics, now_s * 1000, DetectionSettings(**settings))


def told(*args, **more):
    """Reason and second of the findings about retention."""
    findings = verdict_on(*args, **more).findings
    return [(f.reason, f.since_ms / 1000) for f in findings if f.kind is FindingKind.RETENTION]


@pytest.mark.parametrize(
    ("commit", "partition", "expected"),
    [
        pytest.param(commits((400, 3000)), cut(3002, cut_s=700), [("records_lost", 700)], id="two records"),
        pytest.param(commits((400, 3000)), cut(3001, cut_s=700), [], id="one: perhaps a transaction's marker"),
        pytest.param(
            commits((400, 3000)), cut(3000, cut_s=700), [("close_to_loss", 700)], id="up to the commit: not yet"
        ),
        pytest.param(commits((800, 3000)), cut(9000, cut_s=700), [("records_lost", 800)], id="not before the commit"),
        pytest.param(commits((960, 3000)), cut(9000, cut_s=700), [], id="it goes on: not a minute ago it committed"),
        pytest.param(commits((400, 3000)), cut(10_000, cut_s=700), [("records_lost", 700)], id="nothing is left"),
        pytest.param(commits((400, 3000)), cut(4000), [("records_lost", 1000)], id="since when is not known: now"),
        pytest.param(commits((400, 3000)), cut(4000, cut_s=2000), [("records_lost", 1000)], id="a clock ahead: now"),
        pytest.param(commits((400, 0)), cut(0, cut_s=700), [], id="a log that was never cut"),
        pytest.param(commits((400, 10_000)), cut(10_000, cut_s=700), [], id="all was read, then removed"),
        pytest.param(commits((400, 3000)), cut(4000, cut_s=700, former_ms=500_000), [], id="of a former log"),
    ],
)
def test_records_that_are_gone(commit, partition, expected):
    assert told(commit, partition) == expected


STOPPED = commits((50, 500), (90, 900))
"""It has 9,100 records to read, of the 9,200 from 800 on."""


@pytest.mark.parametrize(
    ("commit", "partition", "expected"),
    [
        pytest.param(STOPPED, cut(800, cut_s=50), [("close_to_loss", 50)], id="stopped: since the log was cut there"),
        pytest.param(STOPPED, cut(800, cut_s=650), [("close_to_loss", 650)], id="since it was cut after that"),
        pytest.param(STOPPED, cut(800), [("close_to_loss", 1000)], id="since when is not known: now"),
        pytest.param(STOPPED, cut(0), [], id="nothing was ever removed"),
        pytest.param(commits((90, 1720)), cut(800, cut_s=50), [("close_to_loss", 50)], id="exactly nine tenths"),
        pytest.param(commits((90, 1721)), cut(800, cut_s=50), [], id="a record less"),
        pytest.param(
            commits((600, 800), (1000, 1000)), cut(800, cut_s=50), [("close_to_loss", 50)], id="slower than what comes"
        ),
        pytest.param(
            commits((775, 800), (1000, 5300)), cut(5000, cut_s=50), [("close_to_loss", 50)], id="not twice as fast"
        ),
        pytest.param(commits((774, 800), (1000, 5330)), cut(5000, cut_s=50), [], id="faster: it has just begun"),
        pytest.param(commits((950, 800)), cut(800, cut_s=50), [], id="began just now: how fast is not known"),
        pytest.param(
            commits((90, 900)), cut(900, [(0, 900), (900, 900), (1000, 9_000)], cut_s=50), [], id="it is all new"
        ),
        pytest.param(
            commits((90, 900)), cut(900, [(0, 900), (300, 909), (1000, 909)], cut_s=50), [], id="only nine records"
        ),
        pytest.param(
            commits((90, 900)),
            cut(900, [(0, 900), (300, 910), (1000, 910)], cut_s=50),
            [("close_to_loss", 50)],
            id="ten records of an idle topic",
        ),
        pytest.param(
            commits((90, 900)), cut(950, cut_s=500), [("records_lost", 500)], id="what is lost is not only close to it"
        ),
    ],
)
def test_records_that_are_next(commit, partition, expected):
    assert told(commit, partition) == expected


def test_the_share_can_be_chosen():
    half = commits((90, 5400))
    assert told(half, cut(800, cut_s=50)) == []
    assert told(half, cut(800, cut_s=50), retention_share=0.5) == [("close_to_loss", 50)]


@pytest.mark.parametrize(
    ("earliest_end", "committed", "is_told"),
    [
        pytest.param(8800, 2800, True, id="8,000 were left, and 7,200 wait"),
        pytest.param(8800, 2801, False, id="a record less"),
        pytest.param(800, 3376, True, id="nothing was left: of the 9,200 that are kept, 72 % wait"),
        pytest.param(800, 3377, False, id="a record less than that"),
        pytest.param(10_000, 1720, True, id="cut just now: nine tenths of all"),
        pytest.param(10_000, 1721, False, id="not nine tenths"),
    ],
)
def test_what_waits_is_compared_with_what_the_last_cut_left(earliest_end, committed, is_told):
    """A log grows from cut to cut; what waits of it is no safer for that."""
    known = cut(800, cut_s=50, earliest_end=earliest_end)
    assert told(commits((90, committed)), known) == ([("close_to_loss", 50)] if is_told else [])


LEFT_8000 = cut(800, cut_s=50, earliest_end=8800)


@pytest.mark.parametrize(
    ("commit", "is_told"),
    [
        pytest.param(commits((600, 1000), (950, 2900)), True, id="7,100 wait; by 900 s it was 8,000"),
        pytest.param(commits((600, 1000), (850, 2900)), False, id="7,100; by 900 s 6,100, by 800 s 7,000"),
        pytest.param(commits((600, 2700), (950, 2900)), False, id="it never was 7,200"),
        pytest.param(commits((600, 1000), (950, 3800)), False, id="only 6,200 wait: clearly less"),
        pytest.param(
            commits((600, 1000), (690, 1000), (700, 1000), (1000, 8000)), False, id="nothing of it: it has read most"
        ),
    ],
)
def test_a_group_that_came_out_of_it_a_minute_ago_is_still_close(commit, is_told):
    """More than 7,200 are too many; its pace is below that of the log, 10 records a second."""
    assert told(commit, LEFT_8000) == ([("close_to_loss", 50)] if is_told else [])


def test_a_group_that_was_slow_a_minute_ago_is_still_close():
    """For 225 s it reads 20 a second, for the last 50 more than 26: 21 in all, over the time that is known."""
    quick = commits((725, 800), (950, 5300), (1000, 6640))
    assert told(quick, cut(6000, cut_s=50, earliest_end=9000)) == [("close_to_loss", 50)]
    fast = commits((725, 800), (950, 5750), (1000, 6640))
    assert told(fast, cut(6000, cut_s=50, earliest_end=9000)) == []


def test_a_group_without_members_loses_records_and_a_topic_it_left_does_not_matter():
    gone, close = cut(1000, cut_s=700), cut(800, cut_s=50)
    assert told(STOPPED, gone, phase=Phase.EMPTY) == [("records_lost", 700)]
    assert told(STOPPED, close, phase=Phase.EMPTY) == [("close_to_loss", 50)]
    assert told(STOPPED, gone, subscribed=("u",)) == []
    assert told(STOPPED, close, subscribed=("u",)) == []


@pytest.mark.parametrize(("at_1000_s", "is_told"), [(2000, True), (2060, False)])
def test_a_group_that_is_reset_to_the_start_of_the_log_is_asked_how_fast_it_reads_since(at_1000_s, is_told):
    """It kept up at 10 a second until 940 s. In the 60 s after the reset, 1,200 are twice that, and 1,260 are more."""
    before = [(second, 10 * second - 100) for second in range(600, 940, 20)]
    again = commits(*before, (940, 800), (1000, at_1000_s))
    assert told(again, LEFT_8000) == ([("close_to_loss", 50)] if is_told else [])


def test_the_numbers_and_the_sentences():
    lost = verdict_on(STOPPED, cut(1000, cut_s=700))
    assert (lost.lost, lost.kept_waiting) == (100, 1.0)
    assert lost.findings[0].sentence == (
        "The group has lost records in 1 partition of t (0). Retention removed them before the group committed them."
    )
    assert lost.findings[0].partitions == places("t", 0)
    close = verdict_on(STOPPED, cut(800, cut_s=50))
    assert (close.lost, close.kept_waiting) == (0, 9100 / 9200)
    assert close.findings[0].sentence == (
        "The lag in 1 partition of t (0) is at least 90% of what retention last left there. The group catches up "
        "slowly, if at all, and will lose the records that retention removes next."
    )
    empty = verdict_on(STOPPED, cut(10_000, cut_s=700))
    assert (empty.lost, empty.kept_waiting) == (9100, 1.0)
    uncut = verdict_on(STOPPED, cut(0))
    assert (uncut.lost, uncut.kept_waiting) == (0, 0.0)


def test_no_more_is_lost_than_was_written():
    """Of the two ends of a log, the one that a broker did not tell again is older."""
    row = PartitionVerdict("t", 0, committed=3, earliest=30, end=20, lag=17)
    assert (lost_records(row), kept_waiting(row)) == (17, 1.0)


def test_of_several_partitions_the_first_loss_counts():
    state = group(
        member("C0", ["t"], {"t": [0, 1]}),
        offsets=[commits((400, 3000)), commits((400, 3000), number=1)],
        generation_ms=0,
    )
    partitions = (cut(4000, cut_s=700), cut(5000, cut_s=600, number=1))
    topics = catalog(TopicState(cluster="c", topic="t", pass_ms=0, partitions=partitions))
    (finding, *_) = evaluate(state, topics, 1_000_000, DetectionSettings()).findings
    assert (finding.reason, finding.since_ms) == ("records_lost", 600_000)
    assert finding.partitions == (TopicPartition("t", 0), TopicPartition("t", 1))
