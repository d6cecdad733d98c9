"""How each client library notices that a topic has got partitions, and what to do until a group leader has.

Sources, read on 2026-11-30: ``ConsumerConfig`` of kafka-clients; librdkafka's CONFIGURATION.md; Sarama 1.61.1
(``config.go``, ``loopCheckPartitionNumbers``: it compares what it last fetched, so two periods can pass); kafka-go
0.4.51 (``ReaderConfig``); franz-go 1.22.2 (``findNewAssignments``); KafkaJS 2.2.4 (``checkForStaleAssignment``);
@platformatic/kafka 2.12.1 (``consumer.js`` compares no numbers of partitions); kafka-python 3.0.12; aiokafka 0.14.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from monitor.messages.client_libraries import project_name
from monitor.model import Library, Value


class Refresh(Value):
    """The setting by which a library looks for new partitions, and how long it takes by default, in words.

    ``within`` is None where it does not look unless the setting is given. ``setting`` is None if it never does.
    """

    setting: str | None
    within: str | None = None


REFRESHES: Final[Mapping[Library, Refresh]] = {
    Library.JAVA: Refresh("metadata.max.age.ms", "5 minutes"),
    Library.LIBRDKAFKA: Refresh("topic.metadata.refresh.interval.ms", "5 minutes"),
    Library.SARAMA: Refresh("Metadata.RefreshFrequency, 10 minutes", "20 minutes"),
    Library.KAFKA_GO: Refresh("WatchPartitionChanges"),
    Library.FRANZ_GO: Refresh("MetadataMaxAge", "5 minutes"),
    Library.KAFKAJS: Refresh("metadataMaxAge", "5 minutes"),
    Library.PLATFORMATIC: Refresh(None),
    Library.KAFKA_PYTHON: Refresh("metadata_max_age_ms", "5 minutes"),
    Library.AIOKAFKA: Refresh("metadata_max_age_ms", "5 minutes"),
}
"""By library; its setting as its own documentation writes it."""


def new_partitions_advice(library: Library | None, restart: str) -> str:
    """What to do about new partitions that the group leader has not noticed; ``restart`` says how to restart it.

    None: its library is not known, so the words are true of any.

    >>> new_partitions_advice(Library.KAFKAJS, "restart it")
    'KafkaJS notices new partitions within 5 minutes by default (metadataMaxAge). If it takes longer, restart it.'
    >>> new_partitions_advice(Library.PLATFORMATIC, "restart it")
    'Do not wait: @platformatic/kafka does not look for new partitions. To assign them, restart it.'
    """
    if library is None:
        return (
            "Most client libraries notice new partitions within 5 minutes by default. If these still have no owner "
            f"then, {restart}."
        )
    name, refresh = project_name(library), REFRESHES[library]
    if refresh.within is not None:
        usual = f"within {refresh.within} by default ({refresh.setting})"
        return f"{name} notices new partitions {usual}. If it takes longer, {restart}."
    unless = "" if refresh.setting is None else f" unless {refresh.setting} is set"
    return f"Do not wait: {name} does not look for new partitions{unless}. To assign them, {restart}."
