"""What collectors write is read back; what anybody else writes is a counted error."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.model import (
    CollectedEvent,
    ConnectAssignment,
    ConnectorTasks,
    ConnectWorker,
    GroupKind,
    GroupObserved,
    GroupsListed,
    IdPartitions,
    ListedOffset,
    Member,
    ObservedOffset,
    OffsetsListed,
    PartitionObserved,
    PassCompleted,
    PendingOffsets,
    RebalanceSampled,
    Reconciliation,
    ShareConfig,
    ShareGroupRead,
    Source,
    SpareTasks,
    StreamsClient,
    StreamsNotice,
    StreamsTask,
    Subtopology,
    TaskOffset,
    TopicObserved,
    TopicPartitions,
    Topology,
)
from monitor.protocol.events_topic import (
    EVENTS_VERSION,
    decode_event,
    encode_event,
    require_partitions,
    require_past,
)
from monitor.protocol.wire.errors import DecodeError

TIMES = st.integers(0, 2**63 - 1)
PLACES = st.integers(0, 2**60)
OFFSETS = st.none() | PLACES
PARTITIONS = st.builds(
    PartitionObserved,
    partition=st.integers(0, 2**20 - 1),
    earliest=OFFSETS,
    end=OFFSETS,
    racks=st.lists(st.none() | st.text(max_size=3), max_size=3).map(tuple),
    stable=OFFSETS,
)
TOPICS = st.builds(
    TopicObserved,
    cluster=st.text(max_size=5),
    topic=st.text(max_size=5),
    pass_ms=TIMES,
    observed_ms=TIMES,
    partitions=st.lists(PARTITIONS, max_size=3).map(tuple),
    topic_id=st.none() | st.text(max_size=5),
)
PASSES = st.builds(
    PassCompleted, cluster=st.text(max_size=5), pass_ms=TIMES, completed_ms=TIMES, topics=st.integers(0, 2**31 - 1)
)


LISTED = st.builds(
    OffsetsListed,
    cluster=st.text(max_size=5),
    group=st.text(max_size=5),
    asked_ms=TIMES,
    offsets=st.lists(
        st.builds(ListedOffset, topic=st.text(max_size=5), partition=st.integers(0, 2**31 - 1), offset=PLACES),
        max_size=3,
    ).map(tuple),
    pending=st.lists(
        st.builds(
            PendingOffsets,
            partitions=st.just((TopicPartitions("t", (0, 3)),)),
            log_partition=st.integers(0, 2**20 - 1),
            start_offset=PLACES,
            producer_id=TIMES,
            producer_epoch=st.integers(0, 2**15),
            sent_ms=TIMES,
            transactional_id=st.none() | st.text(max_size=5),
            started_ms=st.none() | TIMES,
            timeout_ms=st.none() | TIMES,
        ),
        max_size=2,
    ).map(tuple),
)

SPANS = st.integers(0, 10**12)
SAMPLED = st.builds(
    RebalanceSampled,
    cluster=st.text(max_size=5),
    group=st.text(max_size=5),
    state=st.none() | st.text(max_size=5),
    since_ms=st.integers(10**12, 2**63 - 1),
    sampled_ms=st.integers(10**12, 2**63 - 1),
    interval_ms=st.none() | SPANS,
    seen_ms=st.none() | TIMES,
    gap_ms=st.none() | SPANS,
    took_ms=SPANS,
    broker=st.none() | st.integers(0, 2**31 - 1),
)


NUMBERS = st.none() | st.integers(0, 2**31 - 1)
CONFIGS = st.builds(
    ShareGroupRead,
    cluster=st.text(max_size=5),
    group=st.text(max_size=5),
    read_ms=TIMES,
    config=st.builds(ShareConfig, delivery_limit=NUMBERS, lock_ms=NUMBERS),
)


@given(TOPICS | PASSES | LISTED | SAMPLED | CONFIGS)
def test_an_event_is_read_as_it_was_written(event):
    assert decode_event(encode_event(event)) == event


def test_the_format_is_json_that_a_console_shows():
    """The stored form is a contract with other versions of the collector."""
    event = TopicObserved(
        cluster="c",
        topic="t",
        pass_ms=1,
        observed_ms=2,
        partitions=(
            PartitionObserved(partition=0, earliest=3, end=4, racks=("r", None)),
            PartitionObserved(partition=1),
            PartitionObserved(partition=2, end=9, stable=7),
        ),
        topic_id="id",
    )
    assert json.loads(encode_event(event)) == {
        "event": "topicobserved",
        "cluster": "c",
        "topic": "t",
        "pass_ms": 1,
        "observed_ms": 2,
        "partitions": [
            {"partition": 0, "earliest": 3, "end": 4, "racks": ["r", None]},
            {"partition": 1},
            {"partition": 2, "end": 9, "stable": 7},
        ],
        "topic_id": "id",
    }


PASS = '{"event":"passcompleted","cluster":"c","pass_ms":%s,"completed_ms":1,"topics":1}'
ANSWER = '{"event":"offsetslisted","cluster":"c","group":"g","asked_ms":1,"offsets":[%s]}'
SAMPLE = '{"event":"rebalancesampled","cluster":"c","group":"g","state":null,%s}'
TOPIC = '{"event":"topicobserved","cluster":"c","topic":"t","pass_ms":1,"observed_ms":1,"partitions":[%s]}'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(None, "null_value", id="a tombstone"),
        pytest.param(b"", "bad_json", id="empty"),
        pytest.param(b"{", "bad_json", id="cut"),
        pytest.param(b'{"event":"\xff"}', "bad_utf8", id="no UTF-8"),
        pytest.param(b'{"x":' + b"[" * 100_000, "bad_json", id="deeper than any event"),
        pytest.param(b"[" * 100_000, "bad_event", id="an array"),
        pytest.param(b'{"event":"offsetcommitted"}', "bad_event", id="an event of another log"),
        pytest.param(b'{"event":"passcompleted"}', "bad_event", id="fields are missing"),
        pytest.param((PASS % '"1"').encode(), "bad_event", id="text for a number"),
        pytest.param((PASS % "-1").encode(), "bad_event", id="a time before 1970"),
        pytest.param((PASS % 2**63).encode(), "bad_event", id="a time that does not fit 64 bits"),
        pytest.param((PASS % 2**90).encode(), "bad_event", id="a time that fits no machine"),
        pytest.param((TOPIC % '{"partition":-1}').encode(), "bad_event", id="a negative partition"),
        pytest.param((TOPIC % '{"partition":2147483648}').encode(), "bad_event", id="a partition of 32 bits"),
        pytest.param((TOPIC % f'{{"partition":{2**20}}}').encode(), "bad_event", id="more partitions than a topic has"),
        pytest.param((TOPIC % f'{{"partition":0,"end":{2**60 + 1}}}').encode(), "bad_event", id="an end beyond logs"),
        pytest.param((TOPIC % '{"partition":0,"end":-1}').encode(), "bad_event", id="a sentinel for an end"),
        pytest.param((TOPIC % '{"partition":0,"end":9,"stable":-1}').encode(), "bad_event", id="a sentinel for it"),
        pytest.param((TOPIC % f'{{"partition":0,"stable":{2**63}}}').encode(), "bad_event", id="a stable of 65 bits"),
        pytest.param((ANSWER % '{"topic":"t","partition":0,"offset":-1}').encode(), "bad_event", id="no offset"),
        pytest.param(b'{"event":0', "bad_event", id="of no known kind, and cut off behind that"),
        pytest.param(b'{"event":0,"x":"\xff"}', "bad_event", id="of no known kind, and no UTF-8 behind that"),
        pytest.param((SAMPLE % '"since_ms":-1,"sampled_ms":1').encode(), "bad_event", id="a rebalance before 1970"),
        pytest.param((SAMPLE % '"since_ms":1,"sampled_ms":-1').encode(), "bad_event", id="a sample before 1970"),
        pytest.param(
            (SAMPLE % '"since_ms":1,"sampled_ms":1,"interval_ms":-1').encode(), "bad_event", id="a pace that goes back"
        ),
        *(
            pytest.param(
                (SAMPLE % f'"since_ms":1,"sampled_ms":1,"{name}":{odd}').encode(), "bad_event", id=f"{name} {odd}"
            )
            for name in ("seen_ms", "gap_ms", "took_ms", "broker")
            for odd in (-1, 2**63)
        ),
    ],
)
def test_what_is_no_event_is_a_decode_error(data, reason):
    with pytest.raises(DecodeError) as caught:
        decode_event(data)
    assert (caught.value.reason, caught.value.position) == (reason, 0)


WRITTEN = st.builds(encode_event, TOPICS | PASSES | LISTED | SAMPLED)


@given(st.binary() | st.builds(lambda data, cut, more: data[:cut] + more, WRITTEN, st.integers(0, 80), st.binary()))
def test_only_a_decode_error_ever_comes_out(data):
    with suppress(DecodeError):
        decode_event(data)


def test_a_state_that_a_newer_broker_has_is_still_a_rebalance():
    """Only the brokers' two states of a classic rebalance are asked for; how they call them is not ours to check."""
    data = b'{"event":"rebalancesampled","cluster":"c","group":"g","state":"Pausing","since_ms":1,"sampled_ms":2}'
    assert decode_event(data) == RebalanceSampled(
        cluster="c", group="g", state="Pausing", since_ms=1, sampled_ms=2, interval_ms=None
    )


def test_fields_of_a_newer_collector_are_passed_over():
    assert decode_event((PASS % '1,"new":{"a":[1]}').encode()) == PassCompleted(
        cluster="c", pass_ms=1, completed_ms=1, topics=1
    )


def group(**fields):
    given = {"cluster": "c", "group": "g", "kind": GroupKind.ROCKETMQ, "source": Source.SYSTEM}
    return GroupObserved(**{**given, "pass_ms": 1, "observed_ms": 2, **fields})


def kafka(**fields):
    return group(kind=GroupKind.CLASSIC, **fields)


def held(*partitions):
    return (TopicPartitions("t", partitions),)


def topic(*partitions):
    seen = tuple(PartitionObserved(partition=each) for each in partitions)
    return TopicObserved(cluster="c", topic="t", pass_ms=1, observed_ms=2, partitions=seen)


def listed(partition):
    offsets = (ListedOffset(topic="t", partition=partition, offset=0),)
    return OffsetsListed(cluster="c", group="g", asked_ms=1, offsets=offsets)


OF_NUMBERS = [
    topic(0, 1),
    listed(3),
    kafka(offsets=(ObservedOffset("t", 0, 1),)),
    kafka(members=(Member(member_id="m", assigned=held(0)),)),
    kafka(members=(Member(member_id="m", owned=held(0)),)),
    kafka(members=(Member(member_id="m", reconciliation=Reconciliation(assigned=(IdPartitions("i", (0,)),))),)),
    *(group(kind=kind) for kind in GroupKind if kind not in (GroupKind.ROCKETMQ, GroupKind.METAQ)),
]
OF_TEXTS = [
    topic("a-0", "a-1"),
    listed("a-0"),
    group(kind=GroupKind.ROCKETMQ, offsets=(ObservedOffset("t", "a-0", 1),)),
    group(kind=GroupKind.METAQ, members=(Member(member_id="m", assigned=held("a-0")),)),
    group(kind=GroupKind.METAQ, members=(Member(member_id="m", owned=held("a-0")),)),
    group(kind=GroupKind.ROCKETMQ),
]


@pytest.mark.parametrize("event", OF_NUMBERS)
def test_partitions_that_are_numbers_are_none_of_a_system_that_names_them(event):
    require_partitions(decode_event(encode_event(event)), text=False)
    with pytest.raises(DecodeError) as caught:
        require_partitions(event, text=True)
    assert caught.value.reason == "bad_event"


@pytest.mark.parametrize("event", [*OF_TEXTS, topic(0, "a-1"), topic("a-1", 0)])
def test_partitions_that_are_texts_are_none_of_kafka(event):
    with pytest.raises(DecodeError) as caught:
        require_partitions(decode_event(encode_event(event)), text=False)
    assert caught.value.reason == "bad_event"


@pytest.mark.parametrize("event", OF_TEXTS)
def test_partitions_that_are_texts_are_those_of_a_system_that_names_them(event):
    require_partitions(decode_event(encode_event(event)), text=True)


@pytest.mark.parametrize("event", [PassCompleted("c", 1, 2, 0), GroupsListed("c", Source.SYSTEM, 1, 2, ("g",))])
def test_an_event_without_partitions_is_of_any_system(event):
    require_partitions(event, text=True)
    require_partitions(event, text=False)


HUGE = 1 << 70


@pytest.mark.parametrize(
    "event",
    [
        group(generation=HUGE),
        group(observed_ms=-1),
        group(offsets=(ObservedOffset("t", "a-0", HUGE),)),
        group(offsets=(ObservedOffset("t", "a-0", 0, HUGE),)),
        group(members=(Member(member_id="m", generation=HUGE),)),
        group(members=(Member(member_id="m", connections=HUGE),)),
        group(members=(Member(member_id="m", session_timeout_ms=HUGE),)),
        group(members=(Member(member_id="m", rebalance_timeout_ms=HUGE),)),
        group(members=(Member(member_id="m", assigned=held(HUGE)),)),
        group(members=(Member(member_id="m", reconciliation=Reconciliation(epoch=HUGE)),)),
        group(members=(Member(member_id="m", reconciliation=Reconciliation(since_ms=-1)),)),
        group(members=(Member(member_id="m", reconciliation=Reconciliation(target=(IdPartitions("i", (HUGE,)),))),)),
        group(version=0),
        GroupsListed(cluster="c", source=Source.SYSTEM, pass_ms=HUGE, completed_ms=0),
    ],
)
def test_a_group_with_a_number_that_cannot_be_kept_is_refused(event):
    with pytest.raises(DecodeError) as caught:
        decode_event(encode_event(event))
    assert caught.value.reason == "bad_event"


def test_what_a_member_does_not_tell_is_no_error():
    member = Member(member_id="m", rebalance_timeout_ms=-1, reconciliation=Reconciliation(epoch=-2, previous_epoch=-1))
    event = group(members=(member,))
    assert decode_event(encode_event(event)) == event


def test_the_first_version_is_not_written():
    assert EVENTS_VERSION == 1
    assert b"version" not in encode_event(PassCompleted(cluster="c", pass_ms=1, completed_ms=2, topics=0))


@pytest.mark.parametrize(
    "data",
    [
        b'{"event":"passcompleted","cluster":"c","pass_ms":1,"completed_ms":2,"topics":0,"version":2}',
        b'{"event":"passcompleted","cluster":"c","version":2}',
        b'{"event":"of-another-kind","version":7}',
    ],
)
def test_an_event_of_a_newer_version_is_refused_as_that(data):
    with pytest.raises(DecodeError) as caught:
        decode_event(data)
    assert caught.value.reason == "newer_version"


@pytest.mark.parametrize("version", [b"0", b"-1", b'"2"', b"null", b"1.5"])
def test_an_event_whose_version_is_none_is_no_event(version):
    data = b'{"event":"passcompleted","cluster":"c","pass_ms":1,"completed_ms":2,"topics":0,"version":%b}' % version
    with pytest.raises(DecodeError) as caught:
        decode_event(data)
    assert caught.value.reason == "bad_event"


# --- times ahead of the clock, numbers beyond sense -------------------------------------------------------------------

NOON = 1_700_000_000_000
FIVE_MINUTES = 300_000


def _with(time_ms: int, at: str) -> CollectedEvent:
    """An event of which the time of this name is that, and every other one noon."""

    def ms(name: str) -> int:
        return time_ms if name == at else NOON

    member = Member("m", reconciliation=Reconciliation(since_ms=ms("member since")))
    offset = ObservedOffset("t", 0, 1, ms("committed"))
    events: dict[str, CollectedEvent] = {
        "pass": PassCompleted("c", ms("pass began"), ms("pass ended"), 0),
        "listing": GroupsListed("c", Source.ADMIN, ms("listing began"), ms("listing ended")),
        "topic": TopicObserved("c", "t", ms("topic pass"), ms("topic observed"), ()),
        "group": GroupObserved(
            cluster="c",
            group="g",
            kind=GroupKind.CLASSIC,
            source=Source.ADMIN,
            pass_ms=ms("group pass"),
            observed_ms=ms("group observed"),
            members=(member,),
            offsets=(offset,),
        ),
        "asked": OffsetsListed("c", "g", ms("asked"), ()),
        "held": OffsetsListed(
            "c",
            "g",
            NOON,
            (),
            pending=(PendingOffsets((), 0, 0, 1, 0, ms("held sent"), started_ms=ms("held started")),),
        ),
        "sample": RebalanceSampled("c", "g", None, ms("sample since"), ms("sample at"), seen_ms=ms("sample seen")),
        "configs": ShareGroupRead("c", "g", ms("configs read"), ShareConfig()),
    }
    of = {"committed": "group", "member": "group", "topic": "topic", "group": "group"}
    first = at.split(maxsplit=1)[0]
    return events[of.get(first, first)]


@pytest.mark.parametrize(
    "at",
    [
        *("pass began", "pass ended", "listing began", "listing ended", "topic pass", "topic observed"),
        *("group pass", "group observed", "committed", "member since", "asked", "held sent", "held started"),
        *("sample since", "sample at", "sample seen", "configs read"),
    ],
)
def test_no_time_of_an_event_may_be_more_than_five_minutes_ahead_of_its_record(at):
    require_past(_with(NOON + FIVE_MINUTES, at), NOON)
    with pytest.raises(DecodeError) as caught:
        require_past(_with(NOON + FIVE_MINUTES + 1, at), NOON)
    assert caught.value.reason == "from_the_future"


def test_without_a_time_of_the_record_only_what_is_no_date_is_refused():
    year_9999 = 253_402_300_799_999
    require_past(PassCompleted("c", year_9999, year_9999, 0), -1)
    with pytest.raises(DecodeError):
        require_past(PassCompleted("c", year_9999 + 1, 1, 0), -1)


def test_what_a_rebalance_of_streams_waits_for_may_lie_ahead():
    """A leader tells when the next rebalance is to be: that is no time at which something was."""
    notice = StreamsNotice(version=11, next_rebalance_ms=NOON + 10 * FIVE_MINUTES)
    member = Member("m", streams=notice)
    require_past(GroupObserved("c", "g", GroupKind.CLASSIC, Source.ADMIN, NOON, NOON, members=(member,)), NOON)


EVERYTHING = GroupObserved(
    cluster="c",
    group="g",
    kind=GroupKind.CLASSIC,
    source=Source.ADMIN,
    pass_ms=NOON,
    observed_ms=NOON,
    members=(
        Member(
            "m",
            generation=1,
            session_timeout_ms=1,
            rebalance_timeout_ms=1,
            connections=2,
            assigned=(TopicPartitions("t", (1,)),),
            reconciliation=Reconciliation(
                epoch=1,
                previous_epoch=1,
                assigned=(IdPartitions("i", (1,)),),
                since_ms=NOON,
                spare=SpareTasks(standby=(IdPartitions("0", (1,)),)),
                spare_revoking=SpareTasks(standby=(IdPartitions("0", (2,)),)),
                spare_target=SpareTasks(warmup=(IdPartitions("0", (3,)),)),
            ),
            streams=StreamsNotice(
                version=11,
                error=1,
                next_rebalance_ms=NOON,
                active=(StreamsTask(0, 1),),
                standby=(StreamsTask(0, 2, "named"),),
            ),
            streams_client=StreamsClient(process_id="p", version=11, error=1, topology_epoch=1),
            connect=ConnectWorker(
                version=2,
                url="http://w",
                config_offset=5,
                allocation=(ConnectorTasks("orders", (1, 2)),),
                assignment=ConnectAssignment(
                    leader="m",
                    leader_url="http://w",
                    config_offset=5,
                    error=1,
                    assigned=(ConnectorTasks("orders", (3,)),),
                    revoked=(ConnectorTasks("orders", (2,)),),
                    delay_ms=5,
                ),
            ),
        ),
    ),
    offsets=(ObservedOffset("t", 0, 1, NOON),),
    generation=1,
    target_epoch=1,
    topology=Topology(epoch=1, subtopologies=(Subtopology("0", source_topics=("t",)),)),
)
SAMPLE_OF_ALL = RebalanceSampled(
    "c", "g", "Stable", NOON, NOON, interval_ms=1, seen_ms=NOON, gap_ms=1, took_ms=1, broker=1
)
WHOLE = [
    EVERYTHING,
    SAMPLE_OF_ALL,
    TopicObserved("c", "t", NOON, NOON, (PartitionObserved(0, 1, 2, (), 1),)),
    PassCompleted("c", NOON, NOON, 1),
    GroupsListed("c", Source.ADMIN, NOON, NOON),
    OffsetsListed(
        "c",
        "g",
        NOON,
        (ListedOffset("t", 0, 1),),
        pending=(PendingOffsets((TopicPartitions("t", (1,)),), 1, 2, 3, 4, NOON, "app", NOON, 5),),
    ),
]


def _numbers_in(value: object, path: tuple[object, ...] = ()):
    """The place of every number in a piece of JSON."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _numbers_in(inner, (*path, key))


def _placed(event: CollectedEvent, path: tuple, number: int) -> bytes:
    whole = json.loads(encode_event(event))
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = number
    return json.dumps(whole).encode()


NUMBERS = [(event, path) for event in WHOLE for path in _numbers_in(json.loads(encode_event(event)))]


SUMS = replace(
    EVERYTHING,
    members=(
        Member("m", streams_client=StreamsClient(process_id="p", offset_sums=(TaskOffset(StreamsTask(0, 1), -3),))),
    ),
)
OF_SUMS = ("members", 0, "streams_client", "offset_sums", 0)


@pytest.mark.parametrize("path", [(*OF_SUMS, 1), (*OF_SUMS, 0, 0), (*OF_SUMS, 0, 1)])
def test_a_sum_of_offsets_may_be_one_that_is_none(path):
    assert decode_event(encode_event(SUMS)) == SUMS
    with pytest.raises(DecodeError):
        decode_event(_placed(SUMS, path, -4))
    with pytest.raises(DecodeError):
        decode_event(_placed(SUMS, path, 2**63))


@pytest.mark.parametrize("number", [-3, 2**63, 2**70])
@pytest.mark.parametrize(("event", "path"), NUMBERS, ids=lambda value: str(value)[:60])
def test_no_number_anywhere_in_an_event_is_one_that_a_state_cannot_hold(event, path, number):
    """What has another limit is refused before it: no event of a stranger ends the job where it is stored."""
    with pytest.raises(DecodeError) as caught:
        decode_event(_placed(event, path, number))
    assert caught.value.reason == "bad_event"
