"""Static members that are replaced without end, and such as are only deployed. Times are in seconds."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import (
    CurrentRemoved,
    EndOffsetAt,
    EpochStored,
    Finding,
    GroupKind,
    GroupState,
    MemberRemoved,
    MemberStored,
    OffsetCommitted,
    PartitionState,
)
from monitor.tracking.group import fold_group
from tests.support.builders import catalog, topic
from tests.tracking.rebalances.test_static_ids import S, life, stored


def group(times_s: Sequence[float], others: Sequence[str] = ("y#1",)) -> GroupState:
    """A group whose static member ``x`` has a new member id at each of these times."""
    state = fold_group("c", "g", None, [stored(at_s, f"x#{number}", *others) for number, at_s in enumerate(times_s)])
    assert state is not None
    return state


def replacements(state: GroupState, now_s: float) -> list[Finding]:
    found = evaluate(state, catalog(), int(now_s * S), DetectionSettings()).findings
    return [finding for finding in found if finding.reason == "static_replacements"]


def test_two_processes_that_fence_each_other_are_a_finding_after_a_minute():
    """kafka4beam/brod PR #674: by default, a fenced client joins again after 10 s, and so does the other."""
    times_s = range(0, 110, 10)
    assert replacements(group(times_s[:7]), 60) == []
    (found,) = replacements(group(times_s[:8]), 70)
    assert (found.since_ms, found.members) == (10 * S, ("x#7",))
    assert found.sentence == (
        "The static member x has been replaced 7 times within 1 min, every 10 s on average. The log names only its "
        "first client: app (x) at /h. Several processes use this group.instance.id and fence each other, or one "
        "restarts repeatedly."
    )


def test_a_supervisor_that_waits_longer_each_time_is_a_finding_all_the_time():
    """Kubernetes waits for 10 s, then for twice as long each time, up to five minutes (franz-go #931 runs there)."""
    waits_s = [10, 20, 40, 80, 160, 300, 300, 300]
    times_s = [sum(waits_s[:number]) for number in range(len(waits_s) + 1)]
    for count in range(6, len(times_s) + 1):
        until_s = times_s[count] if count < len(times_s) else times_s[-1] + 300
        assert len(replacements(group(times_s[:count]), until_s - 0.001)) == 1


def test_a_kip_848_member_whose_id_was_not_released_is_missed_and_not_replaced():
    """PostHog PR #65809 (2026): a container restarted in place, with the host name as group.instance.id, got a fatal
    UnreleasedInstanceId, and "reported 1/1 Running/Ready while consuming nothing".

    The broker keeps the place of the old member until its session ends, 45 s later, and refuses the new one, which
    tries no more. The log has the end of the old member and nothing of the new one.
    """
    kind = GroupKind.CONSUMER
    joined = [EpochStored("g", kind, 1, 0), MemberStored("g", kind, life("x#0"), 0)]
    gone = [CurrentRemoved("g", kind, "x#0", 345 * S), MemberRemoved("g", kind, "x#0", 345 * S)]
    ended = [EpochStored("g", kind, 2, 345 * S)]
    state = fold_group("c", "g", None, [*joined, OffsetCommitted("g", "t", 0, 100, 300 * S), *gone, *ended])
    assert state is not None
    ends = tuple(EndOffsetAt(at_s * S, offset) for at_s, offset in ((0, 90), (300, 100), (320, 120), (400, 200)))
    known = replace(topic("t", 1), partitions=(PartitionState(0, 0, earliest=0, end=200, ends=ends),))
    found = evaluate(state, catalog(known), 406 * S, DetectionSettings()).findings
    assert [(each.kind.value, each.reason, each.since_ms // S) for each in found] == [("unattended", "no_members", 345)]


def test_it_ends_when_the_next_replacement_is_overdue():
    slow = group([0, 40, 80, 120, 160, 200])
    assert len(replacements(slow, 319.999)) == 1
    assert replacements(slow, 320) == []
    fast = group(range(0, 90, 3))
    assert len(replacements(fast, 87 + 59.999)) == 1
    assert replacements(fast, 87 + 60) == []


@pytest.mark.parametrize(
    ("times_s", "now_s"),
    [
        pytest.param([0, 60], 61, id="one deployment"),
        pytest.param([0, 120, 240, 360, 480], 481, id="four deployments in a row"),
        pytest.param([0, 700, 1_400, 2_100, 2_800, 3_500, 4_200], 4_201, id="deployments all day long"),
        pytest.param([0, *range(60, 115, 3)], 116, id="old and new process overlap for less than a minute"),
        pytest.param([0, 5, 10, 15, 20, 25, 30], 31, id="some restarts at a start"),
    ],
)
def test_deployments_are_no_finding(times_s: Sequence[float], now_s: float):
    assert replacements(group(times_s), now_s) == []


def test_a_whole_group_that_is_deployed_is_no_finding():
    """Fifty static members, each restarted once, one after the other."""
    lives = [0] * 50
    events = [stored(0, *[f"x{number}#0" for number in range(50)])]
    for number in range(50):
        lives[number] = 1
        events.append(stored(5 * number + 5, *[f"x{each}#{life}" for each, life in enumerate(lives)]))
    state = fold_group("c", "g", None, events)
    assert state is not None
    assert replacements(state, 251) == []


def test_names_are_shown_and_not_trusted():
    state = fold_group("c", "g", None, [stored(15 * number, f"x\n\u202e#{number}") for number in range(7)])
    assert state is not None
    (found,) = replacements(state, 91)
    assert "x\\n\\u202e has been replaced 6 times" in found.sentence
