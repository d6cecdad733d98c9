"""The offsets topic of a broker, read whole, as states of groups; and what two sources know alike of a group."""

from __future__ import annotations

from collections import defaultdict

from kafka import KafkaConsumer, TopicPartition

from monitor.model import GroupEvent, GroupState, IdPartitions, Member, TopicPartitions
from monitor.protocol.offsets_topic import Foreign, decode_record
from monitor.tracking.group import fold_group

OFFSETS_TOPIC = "__consumer_offsets"


def states_by_the_log(bootstrap: str, cluster: str) -> dict[str, GroupState]:
    """Every group as the log tells it."""
    events: dict[str, list[GroupEvent]] = defaultdict(list)
    for key, value, timestamp_ms in _records(bootstrap):
        event = decode_record(key, value, timestamp_ms)
        if not isinstance(event, Foreign):
            events[event.group].append(event)
    folded = {group: fold_group(cluster, group, None, some) for group, some in events.items()}
    return {group: state for group, state in folded.items() if state is not None}


def known_to_both(state: GroupState) -> dict[str, object]:
    """What the log and the broker's answers both tell of a group, in one order."""
    is_classic = state.kind == "kafka-classic"
    return {
        "kind": state.kind,
        "phase": state.phase,
        "protocol": (state.protocol, state.protocol_type) if is_classic else None,
        "epochs": None if is_classic else (state.generation, state.target_epoch or 0),
        "regexes": {entry.regex: sorted(entry.topics) for entry in state.regexes},
        "members": {member.member_id: _member(member) for member in state.members},
        "offsets": {(offset.topic, offset.partition): offset.offset for offset in state.offsets},
    }


def _member(member: Member) -> dict[str, object]:
    standing = member.reconciliation
    return {
        "topics": sorted(member.topics),
        "instance": member.instance_id,
        "rack": member.rack,
        "client": (member.client_id, member.host),
        "regex": member.regex,
        "joined with": (member.generation, _places(member.owned), member.user_data),
        "owns": _places(member.assigned),
        "stands": standing
        and (standing.epoch, _places((*standing.assigned, *standing.revoking)), _places(standing.target or ())),
    }


def _places(entries: tuple[TopicPartitions | IdPartitions, ...]) -> list[tuple[str, object]]:
    return sorted(
        (entry.topic if isinstance(entry, TopicPartitions) else entry.id, partition)
        for entry in entries
        for partition in entry.partitions
    )


def _records(bootstrap: str) -> list[tuple[bytes, bytes | None, int]]:
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", group_id=None)
    try:
        places = [TopicPartition(OFFSETS_TOPIC, each) for each in consumer.partitions_for_topic(OFFSETS_TOPIC) or ()]
        consumer.assign(places)
        ends = consumer.end_offsets(places)
        found = []
        while any(consumer.position(place) < ends[place] for place in places):
            for batch in consumer.poll(timeout_ms=1000).values():
                found += [(record.key, record.value, record.timestamp) for record in batch]
        return found
    finally:
        consumer.close()
