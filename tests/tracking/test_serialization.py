"""States as bytes: what was written is read, and what cannot be read says why."""

import base64
import json
import pickle
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import (
    STATE_VERSION,
    THE_CONNECTOR,
    ArchivedRecords,
    AssignorInput,
    CommittedOffset,
    CommittedTopic,
    ConnectAssignment,
    ConnectConfigsState,
    ConnectGroupState,
    ConnectorConfig,
    ConnectorTasks,
    ConnectWorker,
    DeliveredSince,
    DeliveryState,
    DoubleWork,
    EndFall,
    EndOffsetAt,
    ErrorCount,
    FormerTasks,
    GroupState,
    IdPartitions,
    LostWork,
    Member,
    PartitionState,
    PendingHandover,
    Phase,
    Rebalance,
    RebalanceInProgress,
    RebalanceObservation,
    Reconciliation,
    Release,
    ReleasedPartitions,
    ShareBatch,
    ShareConfig,
    SharedTopic,
    ShareGroupState,
    ShareOutcomes,
    SharePartition,
    SourceState,
    SpareTasks,
    StreamsClient,
    StreamsGroupState,
    StreamsTask,
    Subtopology,
    TargetState,
    TaskOffset,
    TopicPartitions,
    TopicState,
    Topology,
    Truncations,
    WorkerBehind,
    WorkerHoldings,
    WorkSince,
)
from monitor.tracking.serialization import (
    StateCorruptError,
    StateVersionError,
    decode_connect_configs_state,
    decode_group_state,
    decode_source_state,
    decode_topic_state,
    encode_state,
)

MEMBER = Member(
    member_id="m",
    topics=("t",),
    instance_id="i",
    rack="r",
    generation=3,
    owned=(TopicPartitions("t", (1,)),),
    user_data=b"\x00\xff",
    assigned=(TopicPartitions("t", (1, 2)),),
    unreadable="x",
)
GROUP = GroupState(
    cluster="c",
    group="g\n\u202e",
    phase=Phase.STABLE,
    members=(MEMBER,),
    offsets=(CommittedOffset(topic="t", partition=1, offset=2**63 - 1, committed_ms=-1, leader_epoch=4),),
    history=(Rebalance(generation=3, started_ms=1, ended_ms=2, uncertainty_ms=1_000),),
    sampled=RebalanceInProgress(first_ms=1, last_ms=2, over=True),
    earlier_ms=(-1, 2**53),
    committed_topics=(CommittedTopic("t", -(2**63), 5), CommittedTopic("u", 7)),
    taken=(PendingHandover(5, None, 7, (1, 2)), PendingHandover(5, 4, 7, (3,))),
    released=(ReleasedPartitions("member m", (TopicPartitions("id", (1,)),), 5), ReleasedPartitions("member n", ())),
    observations=(
        RebalanceObservation(since_ms=1, seen_ms=2, over_ms=3, interval_ms=1, broker=4, is_recorded=True),
        RebalanceObservation(4, 5, 6),
    ),
)
TOPIC = TopicState(
    cluster="c",
    topic="t",
    pass_ms=1,
    partitions=(
        PartitionState(partition=0, first_seen_ms=1, racks=("r", None), ends=(EndOffsetAt(at_ms=1, offset=2),)),
        PartitionState(partition=1, first_seen_ms=1, end=9, stable=5, stable_ms=7, released=Release(at_ms=6, offset=4)),
        PartitionState(partition=2, first_seen_ms=1, end=9, earliest=2, earliest_end=8, woken=EndOffsetAt(3, 7)),
        PartitionState(
            partition=3, first_seen_ms=1, truncations=Truncations(EndFall(1, 2, 9, 8), EndFall(3, 4, 7, 5), 2)
        ),
    ),
    observed_ms=2,
)
SOURCE = SourceState(
    cluster="c", source="s", errors=(ErrorCount(reason="underflow", count=1, log_partition=2, log_offset=3),)
)
SHARE_GROUP = GroupState(
    cluster="c",
    group="g",
    share=ShareGroupState(
        partitions=(
            SharePartition(
                topic_id="t",
                partition=0,
                start_offset=2**63 - 1,
                complete_count=-1,
                batches=(ShareBatch(5, 6, DeliveryState.ACKNOWLEDGED, 1), ShareBatch(7, 7, 9, 32_767)),
                archived=(ArchivedRecords(deliveries=5, records=2, newest_offset=4, newest_ms=3),),
                waiting=(DeliveredSince(deliveries=1, since_ms=2),),
            ),
            SharePartition(topic_id="u", partition=1),
        ),
        initialized=(SharedTopic("t", "orders", (0, 1)),),
        config=ShareConfig(delivery_limit=5),
        former=ShareOutcomes(accepted=1, archived=(ArchivedRecords(3, 2, 1, 0),)),
    ),
)
STREAMS_GROUP = GroupState(
    cluster="c",
    group="g",
    members=(
        Member(
            member_id="m",
            streams_client=StreamsClient(
                process_id="p", version=11, error=1, offset_sums=(TaskOffset(StreamsTask(0, 1, "named"), -2),)
            ),
            reconciliation=Reconciliation(
                spare=SpareTasks(warmup=(IdPartitions("0", (1,)),)), spare_revoking=SpareTasks()
            ),
        ),
    ),
    streams=StreamsGroupState(
        topology=Topology(epoch=2, subtopologies=(Subtopology("0", source_topics=("t",), changelogs=("c",)),)),
        validated_epoch=1,
        standby_replicas=0,
    ),
    assignor_input=AssignorInput(
        epoch=2, first_ms=1, is_complete=True, targets=(FormerTasks("m", (IdPartitions("0", (1,)),)),), held=()
    ),
)
WORK = (ConnectorTasks("orders", (THE_CONNECTOR, 0, 1)),)
CONNECT_GROUP = GroupState(
    cluster="c",
    group="g",
    members=(
        Member(
            member_id="m",
            connect=ConnectWorker(
                version=2,
                url="http://w",
                config_offset=-1,
                allocation=WORK,
                assignment=ConnectAssignment("m", "http://w", 3, assigned=WORK, delay_ms=300_000),
            ),
        ),
    ),
    connect=ConnectGroupState(
        workers=(WorkerHoldings("m", "http://w", (WorkSince(1, WORK), WorkSince(2, ()))),),
        lost=(LostWork("http://v", 1, WORK),),
        doubles=(DoubleWork(("http://v", "http://w"), None, 2, WORK),),
        behind=(WorkerBehind("m", 1, 2),),
    ),
)
CONNECT_CONFIGS = ConnectConfigsState(
    cluster="c",
    topic="connect-configs",
    connectors=(
        ConnectorConfig("orders", is_configured=True, tasks=2, target_state=TargetState.PAUSED, group_id="g"),
        ConnectorConfig("bills"),
    ),
)
STORED = [
    (GROUP, decode_group_state),
    (SHARE_GROUP, decode_group_state),
    (STREAMS_GROUP, decode_group_state),
    (CONNECT_GROUP, decode_group_state),
    (TOPIC, decode_topic_state),
    (SOURCE, decode_source_state),
    (CONNECT_CONFIGS, decode_connect_configs_state),
]
BOTH = pytest.mark.parametrize(
    ("state", "decode"), STORED, ids=["group", "share", "streams", "connect", "topic", "source", "Connect's configs"]
)


@BOTH
def test_a_state_is_read_as_it_was_written(state, decode):
    assert decode(encode_state(state)) == state


@BOTH
@pytest.mark.parametrize("version", [STATE_VERSION - 1, STATE_VERSION + 1], ids=["an older one", "a newer one"])
def test_a_state_names_its_version_and_one_of_another_version_is_refused(state, decode, version):
    assert msgspec.msgpack.decode(encode_state(state))[0] == STATE_VERSION
    with pytest.raises(StateVersionError, match=f"in version {version};.*reads version {STATE_VERSION}$"):
        decode(encode_state(msgspec.structs.replace(state, version=version)))


@pytest.mark.parametrize("version", [0, 7])
def test_a_state_of_another_version_need_not_have_our_shape(version):
    with pytest.raises(StateVersionError) as caught:
        decode_group_state(msgspec.msgpack.encode([version, "something else"]))
    assert caught.value.written == version


@BOTH
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\xff", id="no array"),
        pytest.param(b"\x92\x01\x80", id="no fields"),
        pytest.param(b"\x92\x01\x81\xa7cluster\xa1\xff", id="no UTF-8"),
        pytest.param(b"\x92\x01\x81\xa1x" + b"\x91" * 100_000, id="deeper than any state"),
        pytest.param(b"\x92\x01\x81\xa7cluster\xdd\xff\xff\xff\xff", id="a length of 4 GB"),
    ],
)
def test_bytes_that_are_no_state(state, decode, data):
    with pytest.raises(StateCorruptError, match=f"^the stored bytes are no {type(state).__name__}$"):
        decode(data)


def test_one_kind_is_not_taken_for_another():
    with pytest.raises(StateCorruptError):
        decode_group_state(encode_state(TOPIC))


_WRITTEN = Path(__file__).parent.parent / "fixtures" / "states" / "version-1.jsonl"
WRITTEN = [json.loads(line) for line in _WRITTEN.read_text(encoding="utf-8").splitlines()]
"""States as they were written when the format was pinned, with what they held (msgspec.to_builtins of the state).

Until version 0.1.0 the format had the number 2: of the bytes that were written then, only the number was changed.
``written_now``: the number of commits, the jump, the attempts and the standstill now follow each offset, and the cause
each commit that went back. The number of fields of a partition has another form. Who does not know them passes them
over."""
DECODERS = {"GroupState": decode_group_state, "TopicState": decode_topic_state, "SourceState": decode_source_state}


@pytest.mark.parametrize("written", WRITTEN, ids=lambda written: written["state"])
def test_the_format_of_version_1_stays_as_it_is(written):
    """Whoever changes it has to give it another number, and a way from this one."""
    data = base64.b64decode(written["bytes"])
    state = DECODERS[written["kind"]](data)
    assert encode_state(state) == base64.b64decode(written.get("written_now", written["bytes"]))
    assert json.loads(msgspec.json.encode(state)) == written["holds"]


@given(st.sampled_from(STORED), st.data())
def test_only_typed_errors_ever_come_out(stored, data):
    state, decode = stored
    written = bytearray(encode_state(state))
    start = data.draw(st.integers(0, len(written)))
    written[start : start + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    with suppress(StateCorruptError, StateVersionError):
        assert isinstance(decode(bytes(written)), type(state))


@pytest.mark.parametrize("error", [StateVersionError(2), StateCorruptError("GroupState")])
def test_the_errors_survive_the_way_between_processes(error):
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
