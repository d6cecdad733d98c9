"""Topics that a group has committed and that polls no longer see: deleted, or without the permission to see them.

A deletion also deletes the committed offsets. What was found of a group while its topic was seen is not over because
it is seen no more: it is kept as of then, while the group is as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from monitor.messages.names import listed
from monitor.messages.notification import utc
from monitor.model import Catalog, Finding, GroupState, TopicPartition, Value
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC

INTERNAL: Final = frozenset({OFFSETS_TOPIC, "__transaction_state", SHARE_STATE_TOPIC})
"""Topics that polls leave out."""


class HiddenTopics(Value):
    """The topics of a group that are hidden, sorted, and the catalog as it was when one of them was last seen."""

    topics: tuple[str, ...]
    seen_ms: int
    catalog: Catalog


def hidden_topics(group: GroupState, catalog: Catalog) -> HiddenTopics | None:
    """The hidden topics that a group has committed; None: there are none."""
    if not catalog.hidden:
        return None
    topics = sorted({offset.topic for offset in group.offsets if offset.topic in catalog.hidden})
    if not topics:
        return None
    states = {name: catalog.hidden[name] for name in topics}
    pass_ms = max(state.pass_ms for state in states.values())
    seen_ms = max(state.observed_ms for state in states.values())
    then = replace(catalog, pass_ms=pass_ms, topics=catalog.topics | states, hidden={})
    return HiddenTopics(tuple(topics), seen_ms, then)


def unlisted_topics(committed: Iterable[TopicPartition], catalog: Catalog) -> tuple[str, ...]:
    """The committed topics that no poll has ever listed, sorted: the user of groupwatch may not see them.

    Brokers delete the offsets of a topic with it, so it is not one that was deleted before the first poll.
    """
    listed_once = catalog.topics.keys() | catalog.hidden.keys()
    return tuple(sorted({place.topic for place in committed} - listed_once - INTERNAL))


def still_true(found: Iterable[Finding], hidden: HiddenTopics, group: GroupState) -> Iterator[Finding]:
    """Of what was found when the topics were last seen, what is about them alone, in partitions not committed since."""
    moved = {(each.topic, each.partition) for each in group.offsets if each.committed_ms > hidden.seen_ms}
    for each in found:
        topics = {place.topic for place in each.partitions}
        is_theirs = bool(topics) and topics <= set(hidden.topics)
        if is_theirs and not any((place.topic, place.partition) in moved for place in each.partitions):
            since = f"No poll has seen {listed(sorted(topics))} since {utc(hidden.seen_ms)}: this is as of then."
            yield replace(each, sentence=f"{each.sentence} {since}")
