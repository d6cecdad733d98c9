"""Records behind an open transaction are nobody's fault in the group. Times are in seconds; the patience is 60 s.

It is 1000 s. The log ends at 20; its end was 10 at 680 s, 11 at 700 s and 15 at 900 s.
"""

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.rules.open_transaction import is_held_back
from monitor.model import CommitPoint, GroupKind, IdPartitions, LagStatus, Member, Phase, Reconciliation, Release
from monitor.model.commit_history import extend
from tests.detection.lag.test_lag import partition
from tests.detection.rules.test_stalled_commits import GOING_ON, NOW_MS, busy, committed, idle, pair, topics_of
from tests.support.builders import catalog, group, member, places


def held(at, *, since_s, number=0):
    """A busy partition whose last stable offset has been there since then."""
    return replace(busy(number), stable=at, stable_ms=since_s * 1000)


def released(at, *, at_s, number=0):
    return replace(busy(number), released=Release(at_ms=at_s * 1000, offset=at))


def judged(state, topics, now_ms=NOW_MS, **settings):
    return evaluate(state, topics, now_ms, DetectionSettings(**settings))


def told(state, topics, **settings):
    """The findings but for those of owners, who are the same everywhere."""
    findings = judged(state, topics, **settings).findings
    return [(f.kind.value, f.reason, f.since_ms // 1000, f.partitions) for f in findings]


def alone(offset, *at_s, **more):
    """One member with partition 0, which it committed at these times."""
    state = group(
        member("C0", ["t"], {"t": [0]}, session_timeout_ms=45_000),
        offsets=[committed(0, offset, *at_s)],
        generation_ms=100_000,
    )
    return replace(state, **more)


OPEN = "lag", "open_transaction"
SILENT = "lag", "not_committing"


@pytest.mark.parametrize(
    ("known", "offset", "is_held", "finding"),
    [
        pytest.param(busy(), 10, False, (*SILENT, 700), id="no transaction: the group does not commit"),
        pytest.param(held(10, since_s=710), 10, True, (*OPEN, 710), id="it stands where the transaction begins"),
        pytest.param(held(10, since_s=940), 10, True, (*OPEN, 940), id="for 60 s"),
        pytest.param(held(10, since_s=941), 10, True, None, id="for 59 s: nobody is blamed meanwhile"),
        pytest.param(held(11, since_s=710), 10, False, (*SILENT, 700), id="one record waits before the transaction"),
        pytest.param(held(10, since_s=710), 11, False, (*SILENT, 900), id="it has read behind: it reads uncommitted"),
        pytest.param(held(10, since_s=710), 20, False, None, id="nothing waits for it: it reads uncommitted"),
        pytest.param(released(10, at_s=941), 10, False, None, id="the transaction ended 59 s ago: it may go on yet"),
        pytest.param(released(10, at_s=940), 10, False, (*SILENT, 940), id="it ended 60 s ago, and nobody goes on"),
        pytest.param(released(9, at_s=941), 10, False, (*SILENT, 700), id="one that it did not stand before ended"),
    ],
)
def test_a_group_that_stands_before_an_open_transaction_is_not_blamed(known, offset, is_held, finding):
    state, topics = alone(offset, 500), topics_of(known)
    assert told(state, topics) == ([] if finding is None else [(*finding, places("t", 0))])
    (row,) = judged(state, topics).partitions
    assert is_held_back(row) is is_held


def test_one_that_commits_the_same_offset_again_and_again_is_told_all_the_same():
    """As Java's consumer does every 5 s. Burrow's rules know no transactions, and stay what they are."""
    again = alone(10, *range(900, 1000, 5))
    assert told(again, topics_of(busy())) == [], "it commits"
    verdict = judged(again, topics_of(held(10, since_s=710)))
    assert [(f.reason, f.since_ms) for f in verdict.findings] == [("open_transaction", 710_000)]
    plain = judged(again, topics_of(busy()))
    assert verdict.partitions[0].status == plain.partitions[0].status == LagStatus.STALL


def test_a_member_is_not_dead_where_all_that_waits_is_behind_transactions():
    offsets = committed(0, 10, 500), committed(1, 10, 500), *GOING_ON
    free = busy(2), busy(3)
    dead = ("dead_member", "silent")
    assert told(pair(*offsets), topics_of(busy(0), busy(1), *free)) == [(*dead, 700, places("t", 0, 1))]
    held_0 = held(10, since_s=710)
    held_1 = held(10, since_s=720, number=1)
    assert told(pair(*offsets), topics_of(held_0, held_1, *free)) == [(*OPEN, 710, places("t", 0, 1))]
    assert told(pair(*offsets), topics_of(held_0, idle(1), *free)) == [(*OPEN, 710, places("t", 0))]
    assert [found[:3] for found in told(pair(*offsets), topics_of(held_0, busy(1), *free))] == [
        (*dead, 700),
        (*OPEN, 710),
    ], "records that it could read wait in its other partition"


@pytest.mark.parametrize(
    ("known", "finding"),
    [
        pytest.param(busy(), ("unattended", "no_members", 700), id="records wait for members"),
        pytest.param(held(10, since_s=710), (*OPEN, 710), id="they wait for the transaction"),
        pytest.param(held(10, since_s=941), None, id="for 59 s"),
        pytest.param(held(11, since_s=710), ("unattended", "no_members", 700), id="one waits for members"),
        pytest.param(released(10, at_s=941), None, id="it ended 59 s ago: as after a restart"),
        pytest.param(released(10, at_s=940), ("unattended", "no_members", 940), id="it ended 60 s ago"),
    ],
)
def test_a_group_without_members(known, finding):
    gone = group(phase=Phase.EMPTY, phase_ms=510_000, generation_ms=510_000, offsets=[committed(0, 10, 500)])
    assert told(gone, topics_of(known)) == ([] if finding is None else [(*finding, places("t", 0))])


def test_where_the_owner_is_missing_or_the_topic_given_up_that_is_told_and_not_the_transaction():
    turned_away = group(member("C0", ["u"]), offsets=[committed(0, 10, 500)], generation_ms=100_000)
    assert told(turned_away, topics_of(held(10, since_s=710))) == [("abandoned", "unsubscribed", 700, places("t", 0))]
    topics = topics_of(held(10, since_s=710), busy(1))
    lacking = group(
        member("C0", ["t"], {"t": [1]}), protocol="own", offsets=[committed(0, 10, 500)], generation_ms=1_000
    )
    assert ("orphaned", "assignor_gap") in [found[:2] for found in told(lacking, topics)]
    assert OPEN not in [found[:2] for found in told(lacking, topics)]


@pytest.mark.parametrize("phase", [Phase.GONE, Phase.UNSEEN])
def test_nothing_is_told_of_a_group_that_is_not_there(phase):
    assert told(alone(10, 500, phase=phase, members=()), topics_of(held(10, since_s=710))) == []


def test_a_modern_member_is_not_blamed_either():
    owned = (IdPartitions("T", (0,)),)
    standing = Reconciliation(epoch=5, assigned=owned, target=owned, since_ms=100_000)
    modern = group(
        Member(member_id="C0", topics=("t",), reconciliation=standing),
        kind=GroupKind.CONSUMER,
        offsets=[committed(0, 10, 500)],
        generation_ms=100_000,
    )
    assert [found[:3] for found in told(modern, topics_of(held(10, since_s=710)))] == [(*OPEN, 710)]


def marked(*partitions):
    """The topic, in which a transaction was seen to end."""
    topics = topics_of(*partitions)
    return replace(topics, topics={"t": replace(topics.topics["t"], has_markers=True)})


RESTED = partition((0, 18), (680, 18), (700, 20), (990, 20))
"""Its end was 18, and is 20 since 700 s: a record and the marker of its transaction."""


@pytest.mark.parametrize(
    ("topics", "at", "finding"),
    [
        pytest.param(marked(RESTED), [15, 17, 19], None, id="the last entry waits: a marker"),
        pytest.param(topics_of(RESTED), [15, 17, 19], (*SILENT, 700), id="no transactions are known: a record"),
        pytest.param(marked(RESTED), [15, 17, 18], (*SILENT, 700), id="two wait: a record and its marker"),
        pytest.param(marked(RESTED), [16, 18, 19], (*SILENT, 700), id="it had read to the end, 18: behind a marker"),
        pytest.param(marked(replace(RESTED, stable=19, stable_ms=710_000)), [19], (*OPEN, 710), id="it is open"),
        pytest.param(
            marked(replace(RESTED, stable=18, stable_ms=710_000)),
            [15, 17],
            (*OPEN, 710),
            id="a marker, then one is open",
        ),
        pytest.param(
            topics_of(replace(RESTED, stable=18, stable_ms=710_000)), [15, 17], (*SILENT, 500), id="a record, then one"
        ),
        pytest.param(
            marked(replace(RESTED, stable=20, stable_ms=710_000)), [18], (*SILENT, 700), id="two, then one is open"
        ),
    ],
)
def test_where_only_a_marker_is_left_nothing_waits(topics, at, finding):
    """The only member commits what it was given, plus one; the last time at 500 s."""
    history = extend(b"", [CommitPoint(1000 * (500 - age), offset) for age, offset in enumerate(at[::-1])][::-1])
    state = alone(at[-1], 500)
    state = replace(state, offsets=(replace(state.offsets[0], history=history),))
    assert told(state, topics) == ([] if finding is None else [(*finding, places("t", 0))])


def test_a_marker_waits_for_no_members_and_in_no_abandoned_topic():
    gone = group(phase=Phase.EMPTY, phase_ms=510_000, generation_ms=510_000, offsets=[committed(0, 19, 500)])
    turned_away = group(member("C0", ["u"]), offsets=[committed(0, 19, 500)], generation_ms=100_000)
    assert [found[1] for found in told(gone, topics_of(RESTED))] == ["no_members"]
    assert [found[1] for found in told(turned_away, topics_of(RESTED))] == ["unsubscribed"]
    assert told(gone, marked(RESTED)) == told(turned_away, marked(RESTED)) == []


def test_a_member_is_not_dead_where_only_a_marker_waits():
    offsets = committed(0, 19, 500), committed(1, 10, 500), *GOING_ON
    rest = idle(1), busy(2), busy(3)
    assert [found[1] for found in told(pair(*offsets), topics_of(RESTED, *rest))] == ["silent"]
    assert told(pair(*offsets), marked(RESTED, *rest)) == []


@pytest.mark.parametrize(
    ("known", "offset", "lag", "stable_lag"),
    [
        pytest.param(busy(), 12, 8, 8, id="no transaction"),
        pytest.param(held(15, since_s=710), 12, 8, 3, id="it may read up to 15"),
        pytest.param(held(12, since_s=710), 12, 8, 0, id="it stands before the transaction"),
        pytest.param(held(10, since_s=710), 12, 8, 0, id="it reads uncommitted records"),
        pytest.param(held(10, since_s=710), 20, 0, 0, id="it has read all"),
        pytest.param(replace(held(10, since_s=710), end=None), 12, None, None, id="the end is not known"),
    ],
)
def test_the_lag_up_to_the_transactions(known, offset, lag, stable_lag):
    verdict = judged(alone(offset, 500), topics_of(known))
    assert (verdict.lag, verdict.stable_lag) == (lag, stable_lag)
    assert verdict.partitions[0].stable == (known.stable if lag else None)


def test_the_lag_of_a_group_counts_what_is_held_back_in_each_partition():
    offsets = [committed(number, 10, 500) for number in range(4)]
    topics = topics_of(held(12, since_s=710), busy(1), idle(2), held(10, since_s=710, number=3))
    verdict = judged(pair(*offsets), topics)
    assert (verdict.lag, verdict.stable_lag) == (30, 2 + 10 + 0 + 0)


def test_a_member_is_not_slow_where_most_of_its_lag_is_behind_a_transaction():
    """20,000 records wait for C0, all of them behind the transaction."""
    many = partition((0, 10), (600, 20_010))
    offsets = committed(0, 10, 500), committed(1, 10, 990), committed(2, 20, 990), committed(3, 20, 990)
    rest = idle(1), busy(2), busy(3)
    assert ("imbalance", "lag") in [found[:2] for found in told(pair(*offsets), topics_of(many, *rest))]
    behind = replace(many, stable=10, stable_ms=610_000)
    assert told(pair(*offsets), topics_of(behind, *rest)) == [(*OPEN, 610, places("t", 0))]


def test_the_sentence_names_the_partitions_and_whose_matter_it_is():
    offsets = committed(0, 10, 500), committed(1, 10, 500), *GOING_ON
    one = judged(pair(*offsets), topics_of(held(10, since_s=710), idle(1), busy(2), busy(3))).findings
    assert [finding.sentence for finding in one] == [
        "All lag in 1 partition of t (0) is behind an open transaction. Consumers that read only committed records "
        "(read_committed) cannot proceed there. The transaction begins at offset 10 of partition 0 of t. "
        "kafka-transactions.sh --bootstrap-server BROKER:9092 describe-producers --topic t --partition 0 prints its "
        "producer id. If the producer is gone for good, kafka-transactions.sh --bootstrap-server BROKER:9092 abort "
        "--topic t --partition 0 --start-offset 10 drops the transaction's records."
    ]
    topics = topics_of(held(10, since_s=710), held(10, since_s=720, number=1), busy(2), busy(3))
    (two,) = judged(pair(*offsets), topics).findings
    assert two.sentence.startswith("All lag in 2 partitions of t (0-1) is behind open transactions.")
    assert "For example, one begins at offset 10 of partition 0 of t." in two.sentence


def test_no_command_names_a_topic_that_has_no_room_in_a_sentence():
    """The offset is that of the topic with the long name."""
    name = "t" * 200
    state = group(
        member("C0", [name], {name: [0]}, session_timeout_ms=45_000),
        offsets=[replace(committed(0, 10, 500), topic=name)],
        generation_ms=100_000,
    )
    topics = catalog(replace(topics_of(held(10, since_s=710)).topics["t"], topic=name))
    (found,) = judged(state, topics).findings
    assert "begins at offset 10 of partition 0 of" in found.sentence
    assert "kafka-transactions.sh" not in found.sentence
