"""The topics of the captured groups at a mark, as collectors would have them."""

from typing import Any

from monitor.model import Catalog, EndOffsetAt, PartitionState, TopicState

AN_HOUR_MS = 3_600_000


def catalog_at(mark: dict[str, Any]) -> Catalog:
    """The topics of a mark, just collected. They were there an hour ago."""
    at_ms = mark["t"]
    topics = {name: topic_at(name, own, at_ms) for name, own in mark["topics"].items()}
    names = {topic.topic_id: name for name, topic in topics.items() if topic.topic_id is not None}
    return Catalog(cluster="captured", pass_ms=at_ms, topics=topics, names=names, watched_ms=at_ms - AN_HOUR_MS)


def topic_at(name: str, own: dict[str, Any], at_ms: int) -> TopicState:
    return TopicState(
        cluster="captured",
        topic=name,
        pass_ms=at_ms,
        topic_id=own.get("id"),
        partitions=tuple(
            PartitionState(
                partition=number,
                first_seen_ms=at_ms - AN_HOUR_MS,
                earliest=own["start"].get(str(number)),
                end=own["end"].get(str(number)),
                ends=(EndOffsetAt(at_ms, own["end"].get(str(number), 0)),),
            )
            for number in range(own["partitions"])
        ),
    )
