"""What each field of a response means: the text under the field, in the source of its class.

A field without one means the same wherever it is: ``COMMON`` has its text. Offsets and lags are in records (of MetaQ in
bytes), times in milliseconds since the epoch, durations in milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, get_args

import msgspec

from monitor.model.attribute_texts import attribute_text

COMMON: Final[Mapping[str, str]] = {
    "cluster": "The cluster, as the configuration names it.",
    "group": "The group.",
    "topic": "The topic.",
    "partition": "A number; of RocketMQ BROKER-QUEUE, of MetaQ BROKER-NUMBER.",
    "member_id": "The member's id, as the broker gave it.",
    "kind": "The kind of group.",
    "state": "The state of the group.",
    "evaluated_ms": "When the group was evaluated (ms since the epoch).",
    "lag": "The lag in records (of MetaQ bytes); null or absent: unknown.",
    "lag_at_least": (
        "Lower bound of a lag that is unknown because of uncommitted partitions: the sum of the known lags; absent: "
        "the lag is known, or nothing of it."
    ),
    "uncommitted_partitions": "Partitions with records in which the group has no committed offset; absent: none.",
    "uncommitted_records": "Upper bound of the records in these partitions (of MetaQ bytes); absent: none.",
    "lag_ms": "Age of the oldest record of the lag (ms).",
    "since_ms": "When it started (ms since the epoch).",
    "sentence": "The text for a person.",
    "reason": "The reason, in one word: docs/findings.md lists all.",
    "cause": "The most likely cause of a drift.",
    "severity": "How bad the finding is, once it has lasted.",
    "alert_age_s": "The age from which its alert fires (s), if [alerts] changes it; absent: the shipped age.",
    "settling_until_ms": "When the finding is old enough for its alert (ms since the epoch); absent: it is.",
    "advice": "What to do first; absent: there is no general advice.",
    "warning": "Warnings, in sentences: nothing has failed.",
    "status": "The lag status according to Burrow's rules.",
    "certainty": "How sure that is: certain, likely, possible or unknown (docs/explain.md).",
    "versions": "The releases of the library that fit, in words; absent: unknown.",
    "pace": "Throughput in the partitions with lag: consumed and produced.",
    "process": "The instance of a Kafka Streams application, by its process id; of Connect the worker's URL.",
    "connector": "The name of the connector.",
    "per_second": "What comes in by second, over about five minutes: records (of MetaQ bytes); null: unknown.",
    "rate_known_ms": (
        "From when on a poll makes an unknown per_second known (ms since the epoch); absent: it is known, or nothing "
        "was polled."
    ),
    "rate_polled_ms": "Of the partitions whose rate is unknown: the last poll of the one that waits longest (ms).",
    "rate_unpolled": "How many of them have not been polled since then.",
    "skew": "The busiest partition's share of what comes in, over an even share; null: unknown, or nothing comes in.",
}
"""By the name of a field that has no text of its own."""


def meaning(described: type[msgspec.Struct], field: str) -> str:
    """The text of a field, from its class or from one that this inherits from; else that of its name.

    Raises:
        KeyError: it is not described.
    """
    text = attribute_text(described, field)
    return COMMON[field] if text is None else text


def structs_by_name(types: Iterable[type[msgspec.Struct]]) -> Mapping[str, type[msgspec.Struct]]:
    """These structs and those that their fields hold, by the names of their classes."""
    found: dict[str, type[msgspec.Struct]] = {}
    waiting: list[object] = [*types]
    while waiting:
        each = waiting.pop()
        waiting += get_args(each)
        if isinstance(each, type) and issubclass(each, msgspec.Struct) and each.__name__ not in found:
            found[each.__name__] = each
            waiting += (field.type for field in msgspec.structs.fields(each))
    return found
