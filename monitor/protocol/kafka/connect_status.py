"""Records of a Connect cluster's status topic, without the stack traces in them, which may hold anything.

What they say of a dead worker's tasks is wrong until another worker has them: they stay RUNNING. So nothing is
concluded from them here; they alone tell that a task has failed. Source: ``KafkaStatusBackingStore`` of
connect-runtime 4.3.
"""

from __future__ import annotations

from typing import Final

import msgspec

from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.json_value import decode_json_struct

STATUS_SUFFIX: Final = "-status"
"""How the names of these topics usually end; the default is ``connect-status``."""

_TASKS: Final = ("status-task-", "status-connector-")
_TOPICS: Final = "status-topic-"


class TaskStatus(msgspec.Struct, frozen=True):
    """The state of a connector or task, and the worker that wrote it in a generation."""

    state: str
    worker_id: str
    generation: int
    version: str | None = None


class UsedTopic(msgspec.Struct, frozen=True, rename={"discovered_ms": "discoverTimestamp"}):
    """A topic, and the task of a connector that used it first."""

    name: str
    connector: str
    task: int
    discovered_ms: int


class TopicStatus(msgspec.Struct, frozen=True):
    """That a connector uses a topic."""

    topic: UsedTopic


_TASK_STATUSES: Final = msgspec.json.Decoder(TaskStatus)
_TOPIC_STATUSES: Final = msgspec.json.Decoder(TopicStatus)


def read_status(key: str, value: bytes | None) -> TaskStatus | TopicStatus | None:
    """What a record says; None: it is a deletion, or of a kind that is not known.

    Raises:
        DecodeError: The value is not what Connect writes under such a key.
    """
    if value is None:
        return None
    try:
        if key.startswith(_TASKS):
            return decode_json_struct(_TASK_STATUSES, value)
        return decode_json_struct(_TOPIC_STATUSES, value) if key.startswith(_TOPICS) else None
    except DecodeError as error:
        reason = error.reason
    raise DecodeError(reason, 0)  # without the first error, whose cause may hold the value
