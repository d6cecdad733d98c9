"""The same question has one answer, whoever asks it and when: times to the second, and the highest lag."""

from __future__ import annotations

from random import Random

import pytest

from monitor.charts.lag import lag_chart
from monitor.charts.values import LagChart, TimeRange
from monitor.history.chronicle.grid import step_ms
from monitor.history.recorded import RecordedEvent, RecordedRow, encode_events
from monitor.history.replay import group_at
from monitor.history.report.assemble import group_report
from monitor.history.report.charts import past_chart
from monitor.history.story import GroupStory, Happened
from monitor.history.walk import GroupWalk
from monitor.messages.notification import utc
from monitor.model import CommitPoint, CommitRun, Entity
from tests.history.incidents import START, Made, hung, killed, ms
from tests.history.memory import MemoryRecording, tell_story


def story_between(recording: MemoryRecording, since_ms: int, until_ms: int) -> GroupStory:
    found = tell_story(recording, "c", "g", since_ms, until_ms)
    assert found is not None
    return found


def happened_between(story: GroupStory, since_ms: int, until_ms: int) -> list[Happened]:
    return [each for each in story.happened if since_ms < each.at_ms <= until_ms]


def peak(story: GroupStory) -> int:
    return max(point.lag for point in story.lag if point.lag is not None)


def standstill(until: int = 121, burst: int = 33) -> MemoryRecording:
    """The only member stands still from 50 to 120. The poll at that second sees ``burst`` records more than before.

    It commits the end of each poll 1 s later, but those of 60 to 110.
    """
    made = Made(300)
    ends = [100 + second + (burst if second >= 120 else 0) for second in range(301)]
    made.poll(ends=lambda second, _: ends[second], partitions=lambda _: 1)
    made.assign(1, 1, {"a": [0]})
    for second in range(10, 300, 10):
        if not 50 < second < until - 1:
            made.commit(second + 1, 0, ends[second])
    return made.recording()


@pytest.mark.parametrize("recording", [hung().recording(), killed().recording(), standstill()])
@pytest.mark.parametrize("later_ms", [1, 999, 1_000, 2_000, 3_700, 9_000, 10_000])
def test_questions_that_are_asked_a_second_apart_are_answered_alike(recording, later_ms):
    """Both spans begin before anything happens, and end after it."""
    first, second = (
        story_between(recording, START + 20_000, ms(190)),
        story_between(recording, START + 20_000 + later_ms, ms(190) - 500),
    )
    assert first.happened == second.happened
    assert first.happened
    assert peak(first) == peak(second)


@pytest.mark.parametrize("seed", range(12))
def test_what_two_spans_have_in_common_is_told_alike(seed):
    """Members come, go and stand still at random instants; the spans begin and end at random ones, too."""
    random = Random(seed)
    recording = churn(random)
    spans = [sorted(random.sample(range(5_000, 290_000), 2)) for _ in range(6)]
    stories = [
        (START + since, START + until, story_between(recording, START + since, START + until)) for since, until in spans
    ]
    for since_ms, until_ms, story in stories:
        for other_since_ms, other_until_ms, other in stories:
            common = max(since_ms, other_since_ms), min(until_ms, other_until_ms)
            assert times(happened_between(story, *common)) == times(happened_between(other, *common))


def times(happened: list[Happened]) -> list[tuple[int, str, str | None]]:
    return [(each.at_ms, each.about.value, each.finding) for each in happened]


def churn(random: Random) -> MemoryRecording:
    made = Made(300)
    made.poll()
    at, generation = 1.0, 1
    while at < 290:
        made.assign(round(at, 3), generation, random.choice([{"a": [0], "b": [1]}, {"a": [0, 1]}, {"a": [0]}, {}]))
        at, generation = at + random.uniform(3, 60), generation + 1
    for partition in range(2):
        at = 2.0
        while at < 295:
            made.commit(round(at, 3), partition)
            at += random.choice([5, 5, 5, 5, 45, 80])
    return made.recording()


@pytest.mark.parametrize("since", [11, 12, 13.5, 20, 38])
def test_the_highest_lag_is_that_of_the_poll_that_saw_it_however_the_question_is_put(since):
    """The commit of second 51 is that of offset 150. The poll of second 120 sees 220 + 33 records, and the commit
    at 121 has all of them. No instant of a question need be one of these."""
    story = story_between(standstill(), ms(since), ms(200))
    assert peak(story) == 100 + 120 + 33 - 150
    assert (ms(120), 103) in [(point.at_ms, point.lag) for point in story.lag]
    report = group_report(standstill(), "c", "g", ms(since), ms(200))
    assert report is not None
    assert (report.lag.peak, report.lag.peak_ms) == (103, ms(120))


def test_a_peak_between_two_steps_is_told_of_a_long_span():
    """Of three hours, a group is judged every 15 s; the log grows at 120 s and is read at 121 s."""
    recording = standstill()
    rows = [*recording.every_row, RecordedRow(ms(10_900), Entity.LISTING, "", 1, encode_events([]))]
    grown = MemoryRecording([row for row in rows if row.events != encode_events([])])
    assert step_ms(START, ms(10_800)) == 15_000
    assert peak(story_between(grown, ms(3), ms(300))) == 103


def test_a_commit_that_goes_back_raises_the_lag_with_the_next_poll():
    """The commit at 103 goes back to 110. The poll at 110 sees 210, and the commit at 116 has all."""
    made = Made(300)
    made.poll(partitions=lambda _: 1)
    made.assign(1, 1, {"a": [0]})
    for second in range(10, 300, 10):
        made.commit(second + 1 if second != 110 else 116, 0, 100 + second)
        if second == 100:
            made.commit(103, 0, 110)
    story = story_between(made.recording(), ms(23), ms(288))
    assert peak(story) == 210 - 110
    assert [point.at_ms for point in story.lag if point.lag == 100] == [ms(110)]


def test_commits_that_are_not_named_count_as_spread_evenly():
    """A member commits each second; the recording names the first of a minute and the newest ten. It never has lag."""
    made = Made(120)
    made.poll(partitions=lambda _: 1)
    made.assign(1, 1, {"a": [0]})
    rows = list(made.recording().every_row)
    for minute in range(2):
        seconds = range(minute * 60 + 2, minute * 60 + 60)
        points = tuple(CommitPoint(ms(second), 100 + second) for second in seconds[-10:])
        run = CommitRun("g", "t", 0, CommitPoint(ms(seconds[0]), 100 + seconds[0]), points, commits=len(seconds))
        events = encode_events([RecordedEvent(ms(seconds[-1]), run)])
        rows.append(RecordedRow(ms((minute + 1) * 60), Entity.GROUP, "g", 1_000 + minute, events))
    recording = MemoryRecording(sorted(rows, key=lambda row: row.recorded_ms))
    assert peak(story_between(recording, ms(10), ms(115))) <= 3


def test_history_the_timeline_and_the_report_have_the_same_times_of_a_finding():
    """b has its last commit at 60; a poll sees records after that from 70 on, and b commits again at 150.

    After 80 s without a commit it is reported.
    """
    recording = hung().recording()
    found = [each for each in story_between(recording, ms(20), ms(190)).happened if each.finding is not None]
    assert [(each.about, each.since_ms, each.at_ms) for each in found] == [
        ("opened", ms(60), ms(140)),
        ("closed", ms(60), ms(150)),
    ]
    times = f"it lasted 1 min 30 s, from {utc(ms(60))} to {utc(ms(150))}"
    assert found[1].sentence == f"It is over: {times}."
    report = group_report(recording, "c", "g", ms(20), ms(190))
    assert report is not None
    assert [(each.since_ms, each.opened_ms, each.until_ms) for each in report.findings] == [(ms(60), ms(140), ms(150))]
    chart = past_chart(LagChart(TimeRange(ms(100), ms(190))), (), report.findings)
    assert f", {times}: " in lag_chart(chart)


def test_a_finding_that_is_open_at_the_end_is_not_told_as_over():
    report = group_report(hung().recording(), "c", "g", ms(20), ms(145))
    assert report is not None
    still = f"it has lasted 1 min 25 s since {utc(ms(60))}, and is still open at {utc(ms(145))}"
    assert [each.times for each in past_chart(LagChart(TimeRange(ms(20), ms(145))), (), report.findings).spans] == [
        still
    ]


@pytest.mark.parametrize("seed", range(6))
def test_a_walk_that_goes_to_and_fro_has_what_was_known_at_each_instant(seed):
    random = Random(seed)
    recording = churn(random)
    walk = GroupWalk(recording, "c", "g", START, ms(295))
    for second in sorted(random.sample(range(295), 40)):
        for at in (second, random.uniform(0, 295), second + 0.5):
            assert walk.state(ms(at)) == group_at(recording, "c", "g", ms(at))


def test_the_answer_says_how_exact_it_is():
    assert story_between(hung().recording(), ms(20), ms(190)).step_ms == 10_000
