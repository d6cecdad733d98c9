"""Groups without members whose offsets MirrorMaker 2 seems to copy. Times are in seconds; the patience is 60 s."""

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.evaluation_input import GroupInputs, only_concerned
from monitor.model import CommitPoint, EndOffsetAt, PartitionState, Phase, Source, Standstill, TopicState
from monitor.model.commit_history import extend
from tests.support.builders import catalog, commit, group, member, places

TOPIC = "A.orders"
CHECKPOINTS = "A.checkpoints.internal"


def state(number, *points):
    ends = tuple(EndOffsetAt(at_s * 1000, offset) for at_s, offset in points)
    return PartitionState(number, 0, earliest=0, end=points[-1][1], ends=ends)


def topic(name, *partitions):
    return TopicState(cluster="c", topic=name, pass_ms=0, partitions=partitions)


IDLE = state(0, (0, 0), (520, 1_000), (620, 1_137), (900, 1_137), (2_000, 1_137))
"""137 records wait after offset 1000, the newest of which came 20 s after the commit at 600 s."""
GOING_ON = state(0, (0, 0), (520, 1_000), (900, 1_300), (1_990, 2_000), (2_000, 2_000))
STANDS = topic(CHECKPOINTS, state(0, (0, 5), (620, 9), (900, 9), (2_000, 9)))
GROWS = topic(CHECKPOINTS, state(0, (0, 5), (620, 9), (1_000, 10), (2_000, 40)))


def copied(*at_s, name=TOPIC, number=0):
    """Commits at these times, the last of offset 1000."""
    points = [CommitPoint(second * 1000, 1_000 - 100 * back) for back, second in reversed(list(enumerate(at_s[::-1])))]
    return replace(commit(name, number, 1_000, at_s[-1] * 1000), history=extend(b"", points), leader_epoch=-1)


def kept(*offsets, **more):
    fields = {"phase": Phase.OFFSETS_ONLY, "protocol_type": "", "generation": 0, "generation_ms": 0, "phase_ms": 0}
    return group(offsets=offsets or (copied(480, 540, 600),), **(fields | more))


def told(of, partition, checkpoints=STANDS, now_s=2_000, name=TOPIC):
    topics = [topic(name, partition), *([] if checkpoints is None else [checkpoints])]
    findings = evaluate(of, catalog(*topics), now_s * 1000, DetectionSettings()).findings
    return [(f.kind.value, f.reason, f.since_ms // 1000, f.partitions) for f in findings if f.kind != "offsets"]


PLACE = places(TOPIC, 0)


def test_what_came_until_the_next_copy_was_due_is_no_silence_of_anybody():
    assert told(kept(), IDLE) == [("unattended", "kept", 620, PLACE)]


def test_records_that_go_on_without_copies_are_told():
    assert [(kind, reason) for kind, reason, *_ in told(kept(), GOING_ON)] == [("unattended", "not_synced")]


@pytest.mark.parametrize(
    ("partition", "now_s", "reason"),
    [
        pytest.param(GOING_ON, 779, None, id="less than three usual times: nothing is found yet"),
        pytest.param(
            state(0, (0, 0), (520, 1_000), (650, 1_200), (790, 1_200)), 790, "kept", id="what came a copy covers later"
        ),
        pytest.param(
            state(0, (0, 0), (520, 1_000), (665, 1_200), (700, 1_201), (790, 1_201)), 790, "not_synced", id="and later"
        ),
        pytest.param(
            state(0, (0, 0), (520, 1_000), (900, 1_050), (2_000, 1_100)), 2_000, "kept", id="as far as offsets may lag"
        ),
        pytest.param(
            state(0, (0, 0), (520, 1_000), (900, 1_050), (2_000, 1_101)), 2_000, "not_synced", id="and a record further"
        ),
    ],
)
def test_where_information_ends_and_a_warning_begins(partition, now_s, reason):
    found = [each for _, each, *_ in told(kept(), partition, now_s=now_s)]
    assert found == ([] if reason is None else [reason])


@pytest.mark.parametrize(
    ("checkpoints", "end"),
    [
        (STANDS, "It has written no checkpoint of any group since then."),
        (GROWS, "It goes on with other groups."),
    ],
)
def test_whether_the_other_groups_are_copied_is_told(checkpoints, end):
    topics = catalog(topic(TOPIC, GOING_ON), checkpoints)
    findings = evaluate(kept(), topics, 2_000_000, DetectionSettings()).findings
    (sentence,) = [finding.sentence for finding in findings if finding.reason == "not_synced"]
    assert sentence.endswith(end)
    assert f"(by {CHECKPOINTS})" in sentence


def test_of_two_partitions_each_has_its_own():
    both = kept(copied(480, 540, 600), copied(480, 540, 600, number=1))
    topics = catalog(topic(TOPIC, IDLE, replace(GOING_ON, partition=1)), STANDS)
    findings = evaluate(both, topics, 2_000_000, DetectionSettings()).findings
    found = [(finding.reason, finding.partitions) for finding in findings if finding.kind == "unattended"]
    assert found == [("not_synced", places(TOPIC, 1)), ("kept", places(TOPIC, 0))]


@pytest.mark.parametrize(
    ("of", "checkpoints", "name"),
    [
        pytest.param(kept(), None, TOPIC, id="no topic of checkpoints"),
        pytest.param(kept(), replace(STANDS, topic="B.checkpoints.internal"), TOPIC, id="that of another cluster"),
        pytest.param(kept(), replace(STANDS, topic=".checkpoints.internal"), TOPIC, id="of no cluster"),
        pytest.param(kept(copied(480, 540, 600, name="orders")), STANDS, "orders", id="a topic that is not mirrored"),
        pytest.param(
            kept(copied(480, 540, 600), copied(480, 540, 600, name="orders")), STANDS, TOPIC, id="another one as well"
        ),
        pytest.param(
            kept(replace(copied(480, 540, 600), leader_epoch=0)), STANDS, TOPIC, id="a consumer that knows epochs"
        ),
        pytest.param(
            kept(replace(copied(480, 540, 600), standstill=Standstill(600_000, 2))), STANDS, TOPIC, id="it repeats"
        ),
        pytest.param(kept(rebalances=1), STANDS, TOPIC, id="it has had a member"),
        pytest.param(kept(source=Source.ADMIN), STANDS, TOPIC, id="its commits are not in the log"),
    ],
)
def test_whoever_may_be_a_consumer_is_not_committing(of, checkpoints, name):
    assert [each[:2] for each in told(of, IDLE, checkpoints, name=name)] == [("lag", "not_committing")]


def test_a_group_whose_members_left_is_unattended():
    """A failover: members took the group over and died."""
    left = kept(phase=Phase.EMPTY, protocol_type="consumer", phase_ms=700_000, generation=2, rebalances=2)
    assert [each[:2] for each in told(left, IDLE)] == [("unattended", "no_members")]


def test_a_group_with_a_member_is_one_like_any_other():
    owner = member("C0", [TOPIC], {TOPIC: [0]}, session_timeout_ms=45_000)
    taken = kept(phase=Phase.STABLE, protocol_type="consumer", generation=1, rebalances=1)
    found = told(replace(taken, members=(owner,)), GOING_ON)
    assert [each[:2] for each in found if each[0] in ("lag", "unattended")] == [("lag", "not_committing")]


@pytest.mark.parametrize(
    ("name", "checkpoints"),
    [
        ("eu-west.orders.v1", "eu-west.checkpoints.internal"),
        ("A_orders", "A_checkpoints_internal"),
        ("A_orders", "A.checkpoints.internal"),
        ("a-b-orders", "a-b-checkpoints-internal"),
    ],
)
def test_separators_and_aliases_of_other_configurations(name, checkpoints):
    own = kept(copied(480, 540, 600, name=name))
    assert [each[:2] for each in told(own, IDLE, replace(STANDS, topic=checkpoints), name=name)] == [
        ("unattended", "kept")
    ]


# --- public reports -----------------------------------------------------------------------------------------------


def sentences(of, *topics, now_s=2_000):
    return {f.reason: f.sentence for f in evaluate(of, catalog(*topics), now_s * 1000, DetectionSettings()).findings}


def test_mirror_maker_stopped_for_all_groups_while_records_go_on():
    """strimzi-kafka-operator #5533 (2021): one broker of the source was away for 30 minutes, and MirrorMaker 2 never
    synced offsets again: "lag will start growing on broker B"."""
    own = kept(copied(480, 540, 600, name="kafka-src.x"))
    found = sentences(own, topic("kafka-src.x", GOING_ON), replace(STANDS, topic="kafka-src.checkpoints.internal"))
    assert list(found) == ["not_synced"]
    assert found["not_synced"].endswith("It has written no checkpoint of any group since then.")


def test_half_of_the_groups_are_not_translated():
    """kafka-dev/kafka #108 (2025): with offset.lag.max of 100, 2,054 of 4,000 groups were translated.

    The others have no offsets in the target, so nothing can be said of them. One that is translated no more is found,
    and that the rest goes on.
    """
    found = sentences(kept(), topic(TOPIC, GOING_ON), GROWS)
    assert list(found) == ["not_synced"]
    assert found["not_synced"].endswith("It goes on with other groups.")


JOB = [240, 300, 360, 420, 480, 540, 600]
"""When a job of Flink or Spark commits: after each checkpoint or batch, here every minute."""


EVEN = state(0, *[(at_s, 1_010 + 100 * (at_s - 600) // 60) for at_s in range(0, 800, 20)])
"""100 records a minute. Each commit leaves ten of them."""


@pytest.mark.parametrize("now_s", [601, 779])
def test_a_job_of_flink_has_no_members_and_its_lag_is_known(now_s):
    """danielqsj/kafka_exporter #237 (2021) and seglo/kafka-lag-exporter #126 (2020): Flink assigns its partitions
    itself, so its groups have no members, and their lag was missing.
    """
    verdict = evaluate(
        kept(copied(*JOB, name="orders")), catalog(topic("orders", EVEN)), now_s * 1000, DetectionSettings()
    )
    assert (verdict.lag, verdict.findings) == (1_010 + 100 * (780 - 600) // 60 - 1_000, ())


def test_offsets_that_a_batch_of_spark_writes_for_a_group_without_consumers():
    """elastic/beats #14124 (2019): a listener commits the offsets of each batch in a group of its own, for monitoring.

    While it commits, nothing is wrong. When the query has stopped for three of its batches, that is found, although
    the group never had a member.
    """
    own = kept(copied(*JOB, name="example-topic"))
    assert sentences(own, topic("example-topic", EVEN), now_s=779) == {}
    assert list(sentences(own, topic("example-topic", EVEN), now_s=790)) == ["not_committing"]


def test_a_connector_of_debezium_reads_its_schema_history_and_leaves():
    """vdesabou/kafka-docker-playground #8690 (2026): at each start, ``server1-schemahistory`` joins, reads and leaves.

    It commits nothing. So there is no offset from which records could wait.
    """
    reader = member("server1-schemahistory-1", ["schema-changes.mydb"], {"schema-changes.mydb": [0]})
    history = topic("schema-changes.mydb", state(0, (0, 0), (100, 5), (900, 9)))
    reading = group(reader, generation_ms=1_000_000, phase_ms=1_000_000)
    assert sentences(reading, history, now_s=1_002) == {}
    gone = group(phase=Phase.EMPTY, phase_ms=1_002_000, generation=2)
    assert sentences(gone, history, now_s=90_000) == {}


@pytest.mark.parametrize("partition", [IDLE, GOING_ON])
def test_what_is_sent_to_be_explained_has_the_checkpoints(partition):
    """Else `groupwatch explain` would take the group for consumers that have stopped."""
    topics = catalog(topic(TOPIC, partition), STANDS, topic("B.checkpoints.internal"), topic("refunds"))
    whole = GroupInputs(group=kept(), catalog=topics, now_ms=2_000_000)
    sent = only_concerned(whole)
    assert sent.catalog.topics.keys() == {TOPIC, CHECKPOINTS}
    findings = [evaluate(each.group, each.catalog, each.now_ms, each.settings).findings for each in (whole, sent)]
    assert findings[0] == findings[1]
    assert "unattended" in {finding.kind for finding in findings[1]}
