"""Commits that arrive out of order: 105 is committed, then 100, and the log ends at 105. Times are in seconds."""

import pytest

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.evaluation_input import GroupInputs
from monitor.explain.partition import explain_partition
from monitor.model import OffsetCommitted, TopicState
from monitor.tracking.group import fold_group
from tests.detection.lag.test_lag import partition
from tests.support.builders import catalog, group, member

QUIET = ((0, 100), (400, 100), (420, 105), (440, 105), (990, 105))


def committed(*points):
    return fold_group("c", "g", None, [OffsetCommitted("g", "t", 0, offset, at_s * 1000) for at_s, offset in points])


def state_of(*points, generation_s=100, owner="C0"):
    members = [member(each, ["t"], {"t": [0] if each == owner else []}) for each in ("C0", "C1")]
    return group(*members, offsets=committed(*points).offsets, generation_ms=generation_s * 1000)


def topics_of(*ends):
    return catalog(TopicState(cluster="c", topic="t", pass_ms=0, topic_id="T", partitions=(partition(*ends),)))


def reasons(state, *ends):
    findings = evaluate(state, topics_of(*ends), 1_000_000, DetectionSettings()).findings
    return [each.reason for each in findings if each.kind != "idle_members"]


@pytest.mark.parametrize(
    ("points", "more", "ends", "expected"),
    [
        pytest.param([(500, 105), (501, 100)], {}, QUIET, [], id="the older commit arrived last"),
        pytest.param([(500, 105), (501, 100), (502, 103)], {}, QUIET, [], id="and one more of those between"),
        pytest.param([(500, 105), (530, 100)], {}, QUIET, [], id="30 s later"),
        pytest.param([(500, 105), (531, 100)], {}, QUIET, ["not_committing"], id="31 s later: somebody went back"),
        pytest.param([(501, 100)], {}, QUIET, ["not_committing"], id="105 was never committed"),
        pytest.param([(500, 104), (501, 100)], {}, QUIET, ["not_committing"], id="not all was committed"),
        pytest.param(
            [(500, 105), (501, 100)], {}, (*QUIET[:-1], (500, 106), (990, 106)), ["not_committing"], id="a new record"
        ),
        pytest.param(
            [(500, 105), (502, 100)], {"generation_s": 501}, QUIET, ["not_committing"], id="by the next owner"
        ),
        pytest.param(
            [(500, 105), (501, 100), (502, 99)], {}, QUIET, ["not_committing"], id="twice back: 99 behind 100"
        ),
    ],
)
def test_an_owner_is_not_blamed_for_what_it_has_committed_once(points, more, ends, expected):
    """Its lag of 5 is that of the broker all the same: after a restart, the records are consumed again."""
    state = state_of(*points, **more)
    assert reasons(state, *ends) == expected
    assert evaluate(state, topics_of(*ends), 1_000_000, DetectionSettings()).lag == ends[-1][1] - points[-1][1]


def test_the_explanation_of_the_partition_names_the_order():
    inputs = GroupInputs(
        group=state_of((500, 105), (501, 100)),
        catalog=topics_of(*QUIET),
        now_ms=1_000_000,
        settings=DetectionSettings(),
    )
    sentences = [each.sentence for each in explain_partition(inputs, "t", 0).statements]
    (offsets,) = [each for each in sentences if each.startswith("The committed offset is 100")]
    moved, late = "moved back 1 time", "the newest commits arrived out of order, and up to 105 all is committed"
    assert offsets.endswith(f"the committed offset {moved}; {late}.")
