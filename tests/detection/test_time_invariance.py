"""A settled verdict is the same at any other time; the rules are held to that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.evaluate import is_settled
from monitor.model import FindingKind, Phase
from tests.detection.test_evaluate import ranged_groups
from tests.support.builders import NOW, catalog, commit, group, range_by_hand, topic

DAY_MS = 86_400_000
MEMBERS = range_by_hand({"C0": ["a"], "C1": ["a"]}, {"a": 2})
ALL_READ = [commit("a", 0, 100), commit("a", 1, 100)]


def cut(state, earliest):
    """The topic with so much of its 100 records removed."""
    return replace(state, partitions=tuple(replace(each, earliest=earliest) for each in state.partitions))


@given(
    ranged_groups(),
    st.booleans(),
    st.integers(-DAY_MS, 30 * DAY_MS),
    st.sampled_from([None, 0, 50]),
    st.sampled_from([0, 50, 100]),
)
def test_time_alone_changes_no_settled_verdict(case, all_read, later_ms, threshold, earliest):
    state, topics = case
    topics = replace(topics, topics={name: cut(each, earliest) for name, each in topics.topics.items()})
    if all_read:  # else hardly any group would be settled
        ends = {(t.topic, p.partition): p.end for t in topics.topics.values() for p in t.partitions}
        state = replace(state, offsets=tuple(commit(*place, end) for place, end in ends.items()))
    settings = DetectionSettings(lag_records=threshold)
    verdict = evaluate(state, topics, NOW, settings)
    if is_settled(verdict):
        assert evaluate(state, topics, NOW + later_ms, settings) == replace(verdict, evaluated_ms=NOW + later_ms)


@pytest.mark.parametrize(
    ("offsets", "partitions", "settled"),
    [
        pytest.param(ALL_READ, 2, True, id="everything is read"),
        pytest.param([], 2, True, id="nothing was committed"),
        pytest.param([commit("a", 0, 100), commit("a", 1, 99)], 2, False, id="a record waits"),
        pytest.param(ALL_READ, 3, False, id="a partition is orphaned"),
    ],
)
def test_settled_is_what_does_not_wait_and_has_no_finding(offsets, partitions, settled):
    verdict = evaluate(
        group(*MEMBERS, offsets=offsets),
        catalog(topic("a", partitions, grown=partitions - 2)),
        NOW,
        DetectionSettings(),
    )
    assert is_settled(verdict) is settled
    assert any(finding.kind is FindingKind.ORPHANED for finding in verdict.findings) is (partitions == 3)


LEFT = group(phase=Phase.EMPTY, phase_ms=NOW - 1)


@pytest.mark.parametrize(("waiting", "settled"), [(0, True), (1, False)])
@pytest.mark.parametrize("state", [LEFT, group(*MEMBERS)], ids=["without members", "turned to other topics"])
def test_what_nobody_is_to_read_is_settled_while_nothing_waits_there(state, waiting, settled):
    """It becomes a finding by time alone, when records have waited for a minute; and not if none do."""
    left = replace(state, offsets=(commit("old", 0, 100 - waiting, at_ms=0),))
    topics = catalog(topic("a", 2), topic("old", 1))
    verdicts = [evaluate(left, topics, now_ms, DetectionSettings()) for now_ms in (NOW, NOW + DAY_MS)]
    assert is_settled(verdicts[0]) is settled
    assert [bool(verdict.findings) for verdict in verdicts[1:]] == [not settled]
