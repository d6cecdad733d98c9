"""Records of ``__consumer_offsets``: to events, and as a command to what Kafka itself reads in them."""

from monitor.protocol.kafka.records import DecodedRecord, read_record
from monitor.protocol.offsets_topic.decoder import (
    CommitPlace,
    Foreign,
    commit_place,
    decode_record,
    key_group,
    topic_key_of,
)
from monitor.protocol.offsets_topic.unread import unread_event

__all__ = [
    "CommitPlace",
    "DecodedRecord",
    "Foreign",
    "commit_place",
    "decode_record",
    "key_group",
    "read_record",
    "topic_key_of",
    "unread_event",
]
