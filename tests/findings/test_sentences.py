import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.messages import names
from monitor.model import EndOffsetAt, PartitionState, Phase, TopicState
from tests.support.builders import (
    ASSIGNED,
    NOW,
    catalog,
    commit,
    group,
    member,
    places,
    range_by_hand,
    topic,
)

ORDERS = ("orders",)


def two_members(first, second, **more):
    return group(member("C0", ORDERS, {"orders": first}), member("C1", ORDERS, {"orders": second}), **more)


SILENT = TopicState(
    cluster="c",
    topic="orders",
    pass_ms=0,
    partitions=(PartitionState(partition=0, first_seen_ms=0, end=9, ends=(EndOffsetAt(at_ms=ASSIGNED, offset=9),)),),
)
ANEW = replace(SILENT, partitions=(replace(SILENT.partitions[0], former_ms=1),))


def unwritten(name, count, **more):
    """A topic without records: no commit is missing there."""
    return topic(name, count, end=0, **more)


@pytest.mark.parametrize(
    ("state", "topics", "told"),
    [
        pytest.param(
            two_members([0, 1], [2, 3]),
            catalog(unwritten("orders", 7, grown=3)),
            [
                "3 partitions of orders (4-6) have no owner. The topic grew after generation 3 was assigned, and the "
                "members have not refreshed their metadata.",
                "5 partitions of orders (2-6) would get a different owner if the group rebalanced now. For example, "
                "partition 2 of orders belongs to C1 but would go to C0. Likely cause: orders grew from 4 to 7 "
                "partitions, and the members still use the older metadata.",
            ],
            id="grew",
        ),
        pytest.param(
            two_members([0], [1]),
            catalog(unwritten("orders", 3)),
            [
                "1 partition of orders (2) has no owner. Generation 3 was assigned from older metadata, which did not "
                "include it.",
                "2 partitions of orders (1-2) would get a different owner if the group rebalanced now. For example, "
                "partition 1 of orders belongs to C1 but would go to C0. Likely cause: orders grew from 2 to 3 "
                "partitions, and the members still use the older metadata.",
            ],
            id="older metadata at the leader",
        ),
        pytest.param(
            two_members([0, 1], [3]),
            catalog(unwritten("orders", 4)),
            [
                "1 partition of orders (2) has no owner. The assignor range did not assign it in generation 3.",
                "1 partition of orders (2) has a different owner than the assignor range computes for generation 3. "
                "It should belong to C1 but belongs to no member. The group leader may run a different implementation "
                "or version of the assignor.",
            ],
            id="a gap",
        ),
        pytest.param(
            two_members([0], [0, 1], protocol="custom"),
            catalog(unwritten("orders", 2)),
            ["1 partition of orders (0) has more than one owner in generation 3. It belongs to C0, C1."],
            id="two owners",
        ),
        pytest.param(
            group(*range_by_hand({"C0": ["a", "b"], "C1": ["a", "b"]}, {"a": 3, "b": 3})),
            catalog(unwritten("a", 3), unwritten("b", 3)),
            [
                "C0 owns 4 partitions, but these subscriptions allow an assignment with at most 3 for any member. The "
                "range assignor assigns each topic separately, starting with the same members. With "
                "cooperative-sticky, the largest member would own 3 instead of 4."
            ],
            id="imbalance",
        ),
        pytest.param(
            group(phase=Phase.EMPTY, offsets=[commit("orders", 0, 2, at_ms=0)]),
            catalog(SILENT),
            [
                "The group has no members, and 1 partition of orders (0) has lag.",
                "The group has a lag of more than 5 records, in 1 partition of orders (0).",
            ],
            id="no members",
        ),
        pytest.param(
            group(member("C0", ["new"], {"new": [0]}), offsets=[commit("orders", 0, 2, at_ms=60_000)]),
            catalog(SILENT, unwritten("new", 1)),
            [
                "The group has a lag of more than 5 records, in 1 partition of orders (0).",
                "The group has committed offsets and lag in 1 partition of orders (0), but no member subscribes to the "
                "topic anymore.",
            ],
            id="unsubscribed",
        ),
        pytest.param(
            group(*range_by_hand({"C0": ORDERS, "C1": ORDERS, "C2": ORDERS}, {"orders": 2})),
            catalog(unwritten("orders", 2)),
            ["1 of 3 members owns no partition (C2). The group has more members than the 2 partitions of its topics."],
            id="idle",
        ),
        pytest.param(
            group(member("C0", ORDERS, {"orders": [0]}), offsets=[commit("orders", 0, 2, at_ms=0)]),
            catalog(SILENT),
            [
                "1 partition of orders (0) has lag. Its owner, C0, has committed no offset there for at least 60 s.",
                "The group has a lag of more than 5 records, in 1 partition of orders (0).",
            ],
            id="lag",
        ),
        pytest.param(
            group(member("C0", ORDERS, {"orders": [0]}), offsets=[commit("orders", 0, 2, at_ms=1)]),
            catalog(ANEW),
            [
                "1 partition of orders (0) has a committed offset from before the topic was deleted and recreated. "
                "The lag there is unknown until the group commits there again."
            ],
            id="topic recreated",
        ),
    ],
)
def test_the_sentence_that_a_person_reads(state, topics, told):
    settings = DetectionSettings(lag_records=5)
    verdict = evaluate(state, topics, NOW, settings)
    assert [finding.sentence for finding in verdict.findings] == told
    later = evaluate(state, topics, NOW + 3_600_000, settings)
    assert [finding.sentence for finding in later.findings] == told, "a sentence changed although nothing did"


def test_a_hostile_name_stays_on_its_line_and_is_cut():
    assert names.shown("a\n# HELP x") == "a\\n# HELP x"
    assert names.shown("\u202egnp") == "\\u202egnp"
    assert len(names.shown("x" * 10_000)) < 200


def test_long_lists_are_shortened():
    assert names.ranges([2 * number for number in range(35)]).endswith("18 and 25 more")
    assert names.places(places("t", *range(10_000))) == "10,000 partitions of t (0-9999)"
    many = [place for number in range(14) for place in places(f"t{number:02}", 0)]
    assert names.places(many).endswith("t09 0 and 4 more topics)")
