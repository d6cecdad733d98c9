"""A group judged by other thresholds than were in force, on recordings made by hand: each thing at a known second."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection.evaluate import evaluate, judge_by_each
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.burrow import BurrowSettings
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.history.backtest.episodes import Change, Pair
from monitor.history.backtest.trial import STEP_MS, GroupTrial, try_rules
from monitor.history.recorded import RecordedEvent, RecordedSettings, encode_settings
from monitor.history.walk import GroupWalk
from monitor.model import Entity, GroupDeleted
from monitor.model.alert_ages import AlertAge
from tests.history.memory import MemoryRecording
from tests.history.test_story import START, commit, joined, row, seen
from tests.support.examples import example_count

END = 1_200

DEFAULTS = DetectionSettings()


class ByThresholds(MemoryRecording):
    """A recording of a job with these thresholds."""

    in_force = DEFAULTS

    def settings(self, _cluster: str, _at_ms: int) -> bytes | None:
        return encode_settings(RecordedSettings(rules=DetectionRules(self.in_force)))


def recording(events: Sequence[RecordedEvent], in_force: DetectionSettings, partitions: int) -> MemoryRecording:
    """The ends of all partitions grow by one a second, and are polled every ten seconds."""
    polls = [each for second in range(0, END + 1, 10) for each in seen(second, 100 + second, partitions)]
    own = [row(Entity.GROUP, "g", (each.at_ms - START) // 1_000, [each]) for each in events]
    found = ByThresholds([*polls, *own])
    found.in_force = in_force
    return found


def tried(
    events: Sequence[RecordedEvent],
    after: DetectionSettings,
    before: DetectionSettings = DEFAULTS,
    partitions: int = 2,
    ends: Sequence[float] = (END,),
) -> GroupTrial:
    """Judged from second 60 on, part by part."""
    trial, since = GroupTrial(), 60.0
    for until in ends:
        times = [START + round(second * 1_000) for second in (since, until)]
        walk = GroupWalk(recording(events, before, partitions), "c", "g", *times)
        try_rules(trial, walk, DetectionRules(after), *times)
        since = until
    return trial


def second(at_ms: int) -> float:
    return (at_ms - START) / 1_000


def times(pair: Pair) -> list[tuple[float, float] | None]:
    return [None if each is None else (second(each.from_ms), second(each.until_ms)) for each in pair]


def findings(trial: GroupTrial, name: str) -> list[Pair]:
    return [pair for pair in trial.findings(START + END * 1_000) if name in {each.name for each in pair if each}]


def alerts(trial: GroupTrial, name: str) -> list[Pair]:
    return [pair for pair in trial.alerts(START + END * 1_000) if name in {each.name for each in pair if each}]


def commits(first: int, last: int) -> list[RecordedEvent]:
    """Both partitions are read to their ends every ten seconds."""
    return [commit(each, n, 100 + each) for each in range(first, last + 1, 10) for n in (0, 1)]


HANGS = [joined(5, 1, {"a": [0, 1]}), *commits(10, 100), *commits(640, END)]
"""Nothing is committed from second 100 to 640.

The ends of a busy topic are remembered every twenty seconds: that of second 120 is the first beyond that commit."""

SILENT = "lag/not_committing"


def test_a_shorter_silence_is_found_sooner():
    """60 s after second 120, and 30 s after it: three times the ten seconds between two commits are no longer."""
    (pair,) = findings(tried(HANGS, DetectionSettings(commit_silence_ms=30_000)), SILENT)
    assert times(pair) == [(180, 640), (150, 640)]
    assert pair.changes == {Change.SOONER: 30_000}
    (alert,) = alerts(tried(HANGS, DetectionSettings(commit_silence_ms=30_000)), "GroupwatchPartitionStopped")
    assert alert.changes == {}, "it goes by the age of the finding, which began when the records waited"


def test_a_limit_of_the_lag_is_found_where_there_was_none():
    """Two partitions with a record a second each: more than 100 behind at the poll of second 160, until the commits."""
    trial = tried(HANGS, DetectionSettings(lag_records=100))
    (pair,) = findings(trial, "lag/behind")
    assert times(pair) == [None, (160, 640)]
    assert pair.changes == {Change.MORE: 480_000}
    assert pair.after is not None
    assert pair.after.sentence.startswith("The group has a lag of more than 100 records")


def test_an_alert_that_fires_only_with_the_new_thresholds():
    """The lag exceeds 100 at 160. After 460, that is older than five minutes; a minute later, the alert fires."""
    trial = tried(HANGS, DetectionSettings(lag_records=100))
    (pair,) = alerts(trial, "GroupwatchLagOverLimit")
    assert pair.before is None
    assert pair.after is not None
    assert (second(pair.after.from_ms), second(pair.after.until_ms)) == (520, 640 + 300)
    assert (pair.after.finding, pair.after.is_closed) == ("lag/behind", True)


def test_an_alert_with_a_changed_age_fires_sooner():
    """As above, with an age of one minute in place of five: it is reached at 220, and the alert fires at 280."""
    ages = (AlertAge("GroupwatchLagOverLimit", 60),)
    trial = tried(HANGS, DetectionSettings(lag_records=100, alert_ages=ages))
    (pair,) = alerts(trial, "GroupwatchLagOverLimit")
    assert pair.after is not None
    assert second(pair.after.from_ms) == 280


def test_an_alert_that_would_not_fire():
    """A silence of 539 s is none of ten minutes: neither the finding nor its alert would have come.

    The alert fires a minute after the finding is five minutes old. That began with the last commit, at 100: the records
    since came before the next end that is kept, that of 120.
    """
    trial = tried(HANGS, DetectionSettings(commit_silence_ms=600_000))
    (finding,) = findings(trial, SILENT)
    (alert,) = alerts(trial, "GroupwatchPartitionStopped")
    assert times(finding) == [(180, 640), None]
    assert alert.after is None
    assert alert.before is not None
    assert (second(alert.before.from_ms), second(alert.before.until_ms)) == (460, 940)
    assert alert.changes == {Change.FEWER: alert.before.lasted_ms}


UNEVEN = [joined(5, 1, {"a": [0, 1, 2], "b": [3]})]
"""Three and one of four partitions, which two members could share as two and two: 1.5 times as many as needed."""


def test_a_higher_ratio_is_found_less_often():
    trial = tried(UNEVEN, DetectionSettings(imbalance_ratio=1.6), partitions=4)
    (pair,) = findings(trial, "imbalance/partitions")
    assert times(pair) == [(60, END), None]
    assert pair.before is not None
    assert pair.before.was_open
    assert (
        findings(tried(UNEVEN, DetectionSettings(imbalance_ratio=1.5), partitions=4), "imbalance/partitions")[0].changes
        == {}
    )


def test_a_group_that_is_deleted_has_no_findings_anymore():
    gone = [*UNEVEN, RecordedEvent(START + 615_000, GroupDeleted("g", START + 615_000))]
    (pair,) = findings(tried(gone, DetectionSettings(imbalance_ratio=1.6), partitions=4), "imbalance/partitions")
    assert times(pair) == [(60, 615), None]


# --- any group --------------------------------------------------------------------------------------------------------

MOMENTS = st.integers(61, END - 1)


@st.composite
def histories(draw: st.DrawFn) -> list[RecordedEvent]:
    """Generations with any shares, and commits of any offsets, at any time."""
    numbers = st.integers(0, 3)
    generations = [
        joined(at, number, {"a": draw(st.lists(numbers, unique=True)), "b": draw(st.lists(numbers, unique=True))})
        for number, at in enumerate(sorted(draw(st.lists(MOMENTS, max_size=6))), start=2)
    ]
    committed = [
        commit(at, draw(numbers), draw(st.integers(0, 100 + at))) for at in draw(st.lists(MOMENTS, max_size=40))
    ]
    first = joined(5, 1, {"a": [0, 1], "b": [2, 3]})
    return sorted([first, *generations, *committed], key=lambda each: each.at_ms)


THRESHOLDS = st.builds(
    DetectionSettings,
    commit_silence_ms=st.sampled_from([15_000, 60_000, 300_000]),
    lag_records=st.sampled_from([None, 0, 500]),
    imbalance_ratio=st.sampled_from([1.0, 1.25, 3.0]),
    storm_rebalances=st.sampled_from([2, 20]),
)

ANY_GROUP = settings(max_examples=example_count(0.15))


@ANY_GROUP
@given(histories(), THRESHOLDS)
def test_thresholds_that_make_no_difference_find_exactly_what_was_found(events, in_force):
    """The group is judged twice all the same: what differs is of RocketMQ."""
    other = DetectionSettings(
        commit_silence_ms=in_force.commit_silence_ms,
        lag_records=in_force.lag_records,
        imbalance_ratio=in_force.imbalance_ratio,
        storm_rebalances=in_force.storm_rebalances,
        connection_expiry_ms=1,
    )
    for after in (in_force, other):
        trial = tried(events, after, in_force, partitions=4)
        pairs = [*trial.findings(START + END * 1_000), *trial.alerts(START + END * 1_000)]
        assert [pair for pair in pairs if pair.before != pair.after] == []


@ANY_GROUP
@given(histories(), THRESHOLDS, THRESHOLDS, st.integers(0, 10))
def test_several_thresholds_together_find_what_each_finds_alone(events, one, other, allowed_lag):
    """Also where partitions depend on them, as their status by Burrow's rules does."""
    own = other if not allowed_lag else replace(other, burrow=BurrowSettings(allowed_lag=allowed_lag))
    walk = GroupWalk(recording(events, one, 4), "c", "g", START, START + END * 1_000)
    for at_ms in range(START + 60_000, START + END * 1_000, 60_000):
        inputs = walk.inputs_at(at_ms)
        assert inputs is not None
        topics = Topics(inputs.catalog)
        view = view_assignment(inputs.group, inputs.catalog)
        together = judge_by_each(inputs.group, topics, view, at_ms, (one, own))
        assert together == tuple(evaluate(inputs.group, inputs.catalog, at_ms, each) for each in (one, own))


@ANY_GROUP
@given(histories(), THRESHOLDS)
def test_part_by_part_is_found_what_is_found_at_once(events, after):
    """The parts end at instants at which the group is judged anyway: of each minute, the last one that is quiet."""
    walk = GroupWalk(recording(events, DEFAULTS, 4), "c", "g", START, START + END * 1_000)
    last = {at_ms // STEP_MS: at_ms for at_ms in walk.quiet_times}
    quiet = [second(at_ms) for at_ms in last.values() if 60 < second(at_ms) < END]
    at_once, in_parts = (tried(events, after, partitions=4, ends=ends) for ends in ((END,), (*quiet[::3], END)))
    until_ms = START + END * 1_000
    assert in_parts.findings(until_ms) == at_once.findings(until_ms)
    assert in_parts.alerts(until_ms) == at_once.alerts(until_ms)


@ANY_GROUP
@given(histories(), THRESHOLDS, THRESHOLDS)
def test_the_other_way_round_more_is_fewer_and_sooner_is_later(events, one, other):
    forth, back = tried(events, one, other, partitions=4), tried(events, other, one, partitions=4)
    until_ms = START + END * 1_000
    assert {Pair(pair.after, pair.before) for pair in back.findings(until_ms)} == set(forth.findings(until_ms))
