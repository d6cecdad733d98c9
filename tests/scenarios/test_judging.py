"""A scenario's judge: it misses no finding that is wrong, late, too long, or of other partitions."""

from __future__ import annotations

import msgspec
import pytest

from tests.scenarios.churn_groups import GRACE, too_old
from tests.scenarios.judging import Spell, differences, has_opened, is_complete, is_past, spells_of, timeline
from tests.scenarios.run import COUNTER, is_settled
from tests.scenarios.scenario import Counted, Expected, Passing, Scenario, Stall, Story, Told, Within
from tests.scenarios.table import SCENARIOS

ORPHANED = Expected("orphaned", "grew", Within("grow", 0, 5), Within("grow", 10, 20), {"t": (2, 3)})
SCENARIO = Scenario(
    name="s",
    why="",
    topics={"t": 2},
    expected=(ORPHANED,),
    passing=(Passing("orphaned", "pending", 3),),
    rebalances=(1, 2),
    owned={"t": 4},
    counted=(Counted("moved_partitions_total", 1, 2), Counted("redelivered_records_total", 0, None)),
)
STAYS = msgspec.structs.replace(SCENARIO, expected=(msgspec.structs.replace(ORPHANED, closes=None),))
PARTLY = msgspec.structs.replace(SCENARIO, expected=(msgspec.structs.replace(ORPHANED, all_told=False),))


def told(event: str, at_s: float, what: str = "orphaned/grew", *partitions: int) -> Told:
    kind, reason = what.split("/")
    at_ms = int(at_s * 1000)
    return Told(event, kind, reason, at_ms, at_ms, partitions={"t": partitions or (2, 3)})


def story(*records: Told, rebalances: int | None = 1, owned: int = 4, moved: float = 2) -> Story:
    """It began at 0 s; the topic grew at 10 s."""
    counted = {"moved_partitions_total": moved, "redelivered_records_total": 99.0}
    return Story("s", 0, 60_000, {"grow": 10_000}, records, rebalances, {"t": owned}, counted=counted)


GOOD = (told("opened", 12), told("closed", 25))


def test_a_story_as_its_scenario_wants_it_has_no_differences():
    assert differences(SCENARIO, story(*GOOD)) == []
    assert (
        differences(
            SCENARIO, story(told("opened", 1, "orphaned/pending"), told("closed", 4, "orphaned/pending"), *GOOD)
        )
        == []
    )
    assert differences(STAYS, story(told("opened", 12))) == []
    assert (
        differences(PARTLY, story(told("opened", 12, "orphaned/grew", 3), told("closed", 25, "orphaned/grew", 3))) == []
    )


def test_what_ended_before_the_story_is_of_its_setting_up():
    def around(opened_s: float, closed_s: float) -> Story:
        named = "orphaned/no_assignor"
        return story(told("opened", opened_s, named), told("closed", closed_s, named), *GOOD)

    assert differences(SCENARIO, around(-7.7, -0.1)) == []
    assert differences(SCENARIO, around(-7.7, 0.1)), "it went on into the story"
    assert differences(SCENARIO, story(told("opened", -7.7, "orphaned/no_assignor"), *GOOD)), "it never ended"


@pytest.mark.parametrize(("from_s", "faulty"), [(38, False), (30, True)])
def test_silence_while_the_machine_stood_still_may_be_told(from_s: float, faulty: bool):
    silent = told("opened", from_s, "lag/not_committing"), told("closed", 58, "lag/not_committing")
    stood_still = msgspec.structs.replace(story(*GOOD, *silent), stalls=(Stall("b", 40_000, 56_000),))
    assert bool(differences(SCENARIO, stood_still)) == faulty
    assert differences(SCENARIO, story(*GOOD, *silent)), "without a stall it must not"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        pytest.param(story(), "missing", id="never told"),
        pytest.param(story(told("opened", 16), told("closed", 25)), "missing", id="too late"),
        pytest.param(story(told("opened", 9), told("closed", 25)), "missing", id="before its cause"),
        pytest.param(story(told("opened", 12), told("closed", 19)), "not closed", id="closed too soon"),
        pytest.param(story(told("opened", 12), told("closed", 31)), "not closed", id="closed too late"),
        pytest.param(story(told("opened", 12)), "not closed", id="never closed"),
        pytest.param(
            story(told("opened", 12, "orphaned/grew", 2), told("closed", 25, "orphaned/grew", 2)),
            "not the partitions",
            id="a partition less",
        ),
        pytest.param(
            story(told("opened", 12), told("changed", 13, "orphaned/grew", 1), told("closed", 25)),
            "not the partitions",
            id="another partition for a while",
        ),
        pytest.param(story(*GOOD, told("opened", 40), told("closed", 41)), "must not be told", id="told again"),
        pytest.param(story(*GOOD, told("opened", 40, "drift/replayed")), "must not be told", id="another finding"),
        pytest.param(
            story(*GOOD, told("opened", 40, "orphaned/pending"), told("closed", 44, "orphaned/pending")),
            "must not be told",
            id="what may pass, for too long",
        ),
        pytest.param(story(*GOOD, rebalances=0), "0 rebalances", id="too few rebalances"),
        pytest.param(story(*GOOD, rebalances=3), "3 rebalances", id="too many rebalances"),
        pytest.param(story(*GOOD, rebalances=None), "the group is gone", id="no group"),
        pytest.param(story(*GOOD, moved=0), "moved_partitions_total rose by 0, not 1 to 2", id="too little moved"),
        pytest.param(story(*GOOD, moved=3), "moved_partitions_total rose by 3, not 1 to 2", id="too much moved"),
        pytest.param(story(*GOOD, owned=3), "3 and not 4", id="a partition without owner at the end"),
    ],
)
def test_whatever_is_not_as_it_should_be_is_said(wrong: Story, said: str):
    found = differences(SCENARIO, wrong)
    assert any(said in line for line in found), found


def test_a_group_that_must_go_must_not_be_there_at_the_end():
    goes = msgspec.structs.replace(SCENARIO, rebalances=None)
    assert differences(goes, story(*GOOD, rebalances=None)) == []
    assert any("still there" in line for line in differences(goes, story(*GOOD)))


def test_what_must_stay_open_must_not_be_closed():
    assert any("must stay open" in line for line in differences(STAYS, story(*GOOD)))


def test_what_may_be_told_in_part_may_not_be_told_of_others():
    other = story(told("opened", 12, "orphaned/grew", 1), told("closed", 25, "orphaned/grew", 1))
    assert any("not the partitions" in line for line in differences(PARTLY, other))


def test_a_story_is_waited_for_until_its_findings_are_closed():
    assert not is_complete(SCENARIO, story())
    assert not is_complete(SCENARIO, story(told("opened", 12)))
    assert is_complete(SCENARIO, story(*GOOD))
    assert not is_complete(SCENARIO, story(*GOOD, told("opened", 40, "orphaned/pending")))
    assert is_complete(STAYS, story(told("opened", 12)))


def test_on_a_busy_machine_all_may_come_so_much_later():
    late = story(told("opened", 18), told("closed", 33), told("opened", 1, "orphaned/pending"))
    late = msgspec.structs.replace(late, told=(*late.told, told("closed", 7, "orphaned/pending")))
    assert len(differences(SCENARIO, msgspec.structs.replace(late, late_s=2.0))) == 3
    assert differences(SCENARIO, msgspec.structs.replace(late, late_s=3.0)) == []


def test_a_step_that_ends_a_finding_waits_for_it_but_not_for_ever():
    ended = msgspec.structs.replace(ORPHANED, closes=Within("heal", 0, 5))
    scenario = msgspec.structs.replace(SCENARIO, expected=(ended,))
    assert not has_opened(scenario, msgspec.structs.replace(story(), ended_ms=14_000), "heal")
    assert has_opened(scenario, msgspec.structs.replace(story(), ended_ms=16_000), "heal")
    assert has_opened(scenario, msgspec.structs.replace(story(told("opened", 12)), ended_ms=14_000), "heal")
    assert has_opened(scenario, msgspec.structs.replace(story(), ended_ms=9_000), "grow"), "which begins it"


def test_nothing_more_is_waited_for_when_it_is_too_late():
    assert not is_past(SCENARIO, msgspec.structs.replace(story(), ended_ms=29_000))
    assert is_past(SCENARIO, msgspec.structs.replace(story(), ended_ms=31_000))


def test_a_record_that_was_told_twice_counts_once():
    opened, closed = GOOD
    assert len(list(spells_of([opened, opened, closed, closed]))) == 1


def test_a_finding_is_as_old_as_the_earliest_time_that_it_tells():
    records = [Told("opened", "lag", "behind", 20_000, 8_000), Told("closed", "lag", "behind", 21_000, 8_000)]
    assert [spell.age_ms(99_000) for spell in spells_of(records)] == [13_000]


def test_the_timeline_tells_actions_and_findings_in_their_order():
    lines = timeline(story(*GOOD)).splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["10.0", "--", "grow"],
        ["12.0", "opened", "orphaned/grew"],
        ["25.0", "closed", "orphaned/grew"],
        ["60.0", "--", "end"],
    ]


def test_a_healthy_group_may_not_be_told_what_no_rebalance_explains():
    assert too_old("g", Spell("drift", "replayed", 0, 1, 0, {}), 0.0)


@pytest.mark.parametrize("grace", GRACE, ids=lambda grace: f"{grace.kind}-{grace.reason}")
def test_a_finding_of_a_healthy_group_is_too_old_past_its_limit(grace):
    limit_ms = int(grace.most_s * 1000)
    assert too_old("g", Spell(grace.kind, grace.reason, 1, 1 + limit_ms, 1, {}), 0.0) == []
    assert too_old("g", Spell(grace.kind, grace.reason, 1, 2 + limit_ms, 1, {}), 0.0) != []
    assert too_old("g", Spell(grace.kind, grace.reason, 1, 2 + limit_ms, 1, {}), 1.0) == [], "on a busy machine"


def test_the_table_can_be_played():
    names = [scenario.name for scenario in SCENARIOS]
    assert len(set(names)) == len(names)
    for scenario in SCENARIOS:
        steps = [step.name for step in scenario.steps]
        assert len(set(steps)) == len(steps), scenario.name
        awaited = [within.step for each in scenario.expected for within in (each.opens, each.closes) if within]
        assert set(awaited) <= set(steps), scenario.name


def test_a_group_has_settled_once_all_members_are_there_and_every_partition_has_an_owner():
    owned = {"state": "stable", "members": [{}, {}], "partitions": [{"owners": ["a"]}, {"owners": ["b"]}]}
    assert is_settled(owned, 2)
    assert not is_settled(owned, 1)
    assert not is_settled(owned | {"state": "reconciling"}, 2)
    assert not is_settled(owned | {"partitions": [{"owners": ["a"]}, {"owners": []}]}, 2)
    assert not is_settled({}, 0), "it is not there"


def test_the_counters_of_a_group_are_found_and_no_gauges():
    text = (
        'groupwatch_group_moved_partitions_total{cluster="c",group="g"} 4\n'
        'groupwatch_group_lag_records{cluster="c",group="g"} 7\n'
        'groupwatch_group_rebalance_pause_seconds_total{cluster="c",group="h"} 1.5\n'
    )
    assert COUNTER.findall(text) == [
        ("moved_partitions_total", "g", "4"),
        ("rebalance_pause_seconds_total", "h", "1.5"),
    ]
