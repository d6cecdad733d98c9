"""The finding about partitions that no number of members is enough for, as a job has it."""

from msgspec.structs import replace

from monitor.detection.evaluate import Judged, judge_until
from monitor.detection.ownership.assignment_view import AssignmentViews, view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import FindingKind
from monitor.model.scaling import ScaleHold, ScaleTarget
from monitor.scaling.verdicts import Scaler
from tests.scaling.fleet import Fleet, as_notes
from tests.scaling.test_signal import known

TARGET = ScaleTarget()


def judged(scaler: Scaler, fleet: Fleet, views: AssignmentViews | None = None, generation_ms: int = 0) -> Judged:
    inputs = fleet.inputs()
    group = replace(inputs.group, generation_ms=generation_ms or inputs.group.generation_ms)
    topics = Topics(inputs.catalog)
    view = (views or AssignmentViews()).of(group, topics)
    found = judge_until(group, topics, view, inputs.now_ms, DetectionSettings())
    return scaler.with_scaling(found, group, topics, view, TARGET)


def crowded(found: Judged) -> list[tuple[int, tuple[int, ...]]]:
    """When it began, and the partitions."""
    own = [each for each in found.verdict.findings if each.kind is FindingKind.CAPACITY]
    return [(each.since_ms, tuple([place.partition for place in each.partitions])) for each in own]


def test_it_begins_once_it_has_been_so_for_five_minutes_and_ends_with_it():
    """300 records a second come into partition 0 for ten minutes, and a member reads 200; then 50 come."""
    fleet = Fleet(lambda second: [300.0 if second < 700 else 50.0, *[10.0] * 5], [200.0] * 3).run(100)
    scaler = Scaler()
    scaler.begin_again(as_notes(known(fleet)))
    told = {}
    for _ in range(40):
        fleet.run(30)
        told[fleet.second] = crowded(judged(scaler, fleet))
    first_ms = fleet.now_ms - 1000 * (fleet.second - 130)
    assert {second: found for second, found in told.items() if second < 430} == {at: [] for at in range(130, 430, 30)}
    assert {second: found for second, found in told.items() if 430 <= second <= 700} == {
        at: [(first_ms, (0,))] for at in range(430, 701, 30)
    }
    assert [found for second, found in told.items() if second > 1_010] == [[]] * sum(at > 1_010 for at in told)


def test_a_group_whose_capacity_is_unknown_has_none():
    fleet = Fleet(lambda _: [300.0, *[10.0] * 5], [400.0] * 3).run(100)
    scaler = Scaler()
    scaler.begin_again(as_notes(replace(known(fleet), rates=())))
    assert [crowded(judged(scaler, fleet.run(30))) for _ in range(20)] == [[]] * 20


def test_its_age_is_shown_where_the_group_has_no_other():
    fleet = Fleet(lambda _: [300.0, *[10.0] * 5], [400.0] * 3).run(100)
    scaler = Scaler()
    scaler.begin_again(as_notes(replace(known(fleet), crowded_ms=fleet.now_ms - 600_000)))
    found = judged(scaler, fleet.run(20))
    assert [each.kind for each in found.verdict.findings] == [FindingKind.CAPACITY]
    assert found.ages_hold_ms is not None


def test_a_number_is_made_again_after_a_pass_or_some_seconds_or_once_the_group_rebalances():
    """Passes are 20 s apart. One that shows more changes the number at once."""
    fleet = Fleet(lambda _: [60.0] * 6, [400.0] * 3).run(300)
    scaler, views = Scaler(), AssignmentViews()
    scaler.begin_again(as_notes(known(fleet)))
    first = judged(scaler, fleet, views)
    fleet.rates = lambda _: [3_000.0] * 6
    assert judged(scaler, fleet.run(19), views).verdict.scaling == first.verdict.scaling
    soon = judged(scaler, fleet.run(1), views).verdict.scaling
    assert soon.wanted_members > first.verdict.scaling.wanted_members
    fleet.poll_s = 1_000
    last_ms = fleet.now_ms
    assert judged(scaler, fleet.run(29), views).until_ms == last_ms + 30_000
    assert judged(scaler, fleet.run(1), views).until_ms == last_ms + 60_000, "the pass is late: made again"
    held = fleet.inputs()
    topics, view = Topics(held.catalog), view_assignment(held.group, held.catalog)
    verdict = replace(judge_until(held.group, topics, view, held.now_ms, DetectionSettings()).verdict)
    calm = scaler.with_scaling(Judged(verdict, None, None), held.group, topics, view, TARGET).verdict.scaling
    moving = replace(verdict, rebalancing_since_ms=1)
    found = scaler.with_scaling(Judged(moving, None, None), held.group, topics, view, TARGET).verdict.scaling
    assert (calm is not None, found is not None and found.hold) == (True, ScaleHold.REBALANCE)


def test_commits_end_a_hold_after_a_rebalance_between_two_passes():
    """The rebalance ends in second 309. The next pass is that of 310, and commits follow in 312."""
    fleet = Fleet(lambda _: [110.0] * 6, [200.0] * 3, phases=[2] * 6, poll_s=10).run(309)
    scaler, views, ended_ms = Scaler(), AssignmentViews(), fleet.now_ms
    scaler.begin_again(as_notes(known(fleet)))
    holds = [judged(scaler, fleet.run(1), views, ended_ms).verdict.scaling.hold for _ in range(8)]
    assert holds == [ScaleHold.SETTLING] * 5 + [None] * 3


def test_another_process_holds_the_number_at_once_where_members_are_waited_for():
    """It has the note of the first one, and has not seen the group before."""
    fleet, first, second = Fleet(lambda _: [60.0] * 6, [400.0] * 3).run(700), Scaler(), Scaler()
    first.begin_again(as_notes(known(fleet)))
    inputs, views = fleet.inputs(), AssignmentViews()
    topics, view = Topics(inputs.catalog), views.of(inputs.group, Topics(inputs.catalog))
    verdict = judge_until(inputs.group, topics, view, inputs.now_ms, DetectionSettings()).verdict
    first.with_scaling(Judged(verdict, None, None), inputs.group, topics, view, TARGET)
    second.begin_again(dict(first.changed_notes(["g"], is_whole=True)))
    joining = replace(inputs.group, pending=True)
    found = second.with_scaling(Judged(verdict, None, None), joining, topics, view, TARGET).verdict.scaling
    assert found.hold is ScaleHold.REBALANCE


def test_a_quiet_group_that_commits_is_looked_at_again_soon():
    """Nothing comes in, so its number holds for as long as nothing happens; a commit may be a jump back."""
    fleet, scaler, views = Fleet(lambda _: [0.0] * 6, [400.0] * 3).run(700), Scaler(), AssignmentViews()
    scaler.begin_again(as_notes(known(fleet)))
    fleet.poll_s = 1_000
    first = judged(scaler, fleet, views)
    looked_ms = fleet.now_ms
    assert first.until_ms is None or first.until_ms > looked_ms + 30_000
    assert judged(scaler, fleet.run(1), views).until_ms == looked_ms + 30_000
