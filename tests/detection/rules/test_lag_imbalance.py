"""Whose lag it is, and why. It is 1000 s on the clock, and records wait since 400 s ago unless it is said."""

import pytest

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.evaluate import facts_of
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.rules.lag_imbalance import lag_share
from monitor.model import CommittedOffset, EndOffsetAt, FindingKind, PartitionState, TopicState
from tests.support.builders import catalog, group, member, places

NOW_MS = 1_000_000
BASE = 10**9
"""The commit of every partition."""


def case(waiting, *, came=None, each=2, generation_s=100, waits_s=400):
    """Members with ``each`` partitions of t; of every partition, how many records wait and how many came since 600 s.

    All that waits came in the last ``waits_s``, unless ``came`` says otherwise.
    """
    partitions = tuple(
        PartitionState(
            partition=number,
            first_seen_ms=0,
            earliest=0,
            end=BASE + lag,
            ends=(
                EndOffsetAt(at_ms=NOW_MS - waits_s * 1000, offset=BASE + lag - new),
                EndOffsetAt(at_ms=NOW_MS, offset=BASE + lag),
            ),
        )
        for number, (lag, new) in enumerate(zip(waiting, came or waiting, strict=True))
    )
    members = [
        member(
            f"C{first // each}", ["t"], {"t": range(first, first + each)}, client_id=f"app-{first // each}", host="/h"
        )
        for first in range(0, len(waiting), each)
    ]
    offsets = [CommittedOffset("t", number, BASE, NOW_MS) for number in range(len(waiting))]
    state = group(*members, offsets=offsets, generation_ms=generation_s * 1000)
    return state, catalog(TopicState(cluster="c", topic="t", pass_ms=0, partitions=partitions))


def found(state, topics, **settings):
    findings = evaluate(state, topics, NOW_MS, DetectionSettings(**settings)).findings
    return [finding for finding in findings if (finding.kind, finding.reason) == (FindingKind.IMBALANCE, "lag")]


QUESTIONS = ("shared", "enough", "most", "old", "held")


@pytest.mark.parametrize(
    ("state_and_topics", "denied"),
    [
        pytest.param(case([9_000, 9_000, 1_000, 0]), [], id="18 of 19 thousand"),
        pytest.param(case([9_000, 9_000], each=2), ["shared"], id="it is alone"),
        pytest.param(case([900, 900, 100, 0]), ["enough"], id="1,800 records are no harm"),
        pytest.param(case([9_000, 5_900, 5_000, 0]), ["most"], id="of two with 14.9 and 5: less than three quarters"),
        pytest.param(case([9_000, 6_000, 5_000, 0]), [], id="of two with 15 and 5: three quarters"),
        pytest.param(case([9_000, 9_000, 1_000, 0], waits_s=299), ["old"], id="a burst"),
        pytest.param(case([9_000, 9_000, 1_000, 0], generation_s=701), ["held"], id="handed over 299 s ago"),
        pytest.param(case([6_200, 6_200, 7_600, 0, 0, 0, 0, 0]), ["most"], id="of four with 12.4 of 20: less than 5/8"),
        pytest.param(case([6_300, 6_300, 7_400, 0, 0, 0, 0, 0]), [], id="of four with 12.6 of 20: more"),
    ],
)
def test_the_lag_is_one_members_if_every_question_says_so(state_and_topics, denied):
    state, topics = state_and_topics
    facts = facts_of(state, Topics(topics), view_assignment(state, topics), NOW_MS, DetectionSettings())
    share = lag_share(facts, facts.members[0])
    assert [name for name in QUESTIONS if not getattr(share, name)] == denied
    assert [finding.members for finding in found(state, topics)] == ([] if denied else [("C0",)])


@pytest.mark.parametrize(
    ("waiting", "came", "words", "partitions"),
    [
        pytest.param([19_000, 500, 500, 0], None, "Partition 0 of t alone", places("t", 0), id="key skew"),
        pytest.param(
            [500, 19_000, 500, 0],
            [600, 100, 200, 100],
            "Partition 0 of t alone",
            places("t", 0),
            id="what comes counts",
        ),
        pytest.param([9_000, 9_000, 500, 0], None, "Several of them are busy", (), id="two busy partitions"),
        pytest.param([9_000, 9_000, 500, 0], [50, 50, 50, 50], "the member is slow", (), id="all get as much"),
        pytest.param(
            [9_000, 9_000, 500, 0], [0, 0, 0, 0], "Several of them are busy", (), id="nothing comes: by what waits"
        ),
    ],
)
def test_why_it_is_so_follows_from_what_comes_in(waiting, came, words, partitions):
    """Two members: no assignment gives the busier one less than half, nor less than the busiest partition."""
    (finding,) = found(*case(waiting, came=came))
    assert words in finding.sentence
    assert (finding.partitions, finding.since_ms) == (partitions, 100_000)


def test_the_sentence():
    (finding,) = found(*case([19_000, 500, 500, 0]))
    assert finding.sentence == (
        "Most of the group's lag belongs to app-0 at /h, which owns 2 partitions. Partition 0 of t alone receives too "
        "many records, and no assignment can divide them. Speed up this member; as a permanent fix, choose different "
        "keys."
    )


def test_each_member_is_shown_with_what_waits_for_it():
    verdict = evaluate(*case([5, 7, 0, 0, 0, 1]), NOW_MS, DetectionSettings())
    assert [(row.member_id, row.lag) for row in verdict.members] == [("C0", 12), ("C1", 0), ("C2", 1)]
    assert verdict.lag == 13


def test_the_thresholds_are_settings():
    few = case([900, 900, 100, 0], waits_s=30)
    assert found(*few) == []
    assert len(found(*few, skew_records=1_000, skew_ms=30_000)) == 1
    assert found(*case([0, 0, 0, 0]), skew_records=0, skew_ms=0) == []
