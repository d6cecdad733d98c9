"""The topics from which stream processors restore their state: members read them and commit nothing there."""

from __future__ import annotations

from typing import Final

from monitor.model import GroupState

_SUFFIX: Final = "-changelog"
"""Source: ``ProcessorStateManager.STATE_CHANGELOG_TOPIC_SUFFIX`` of Kafka Streams, and ``Collection`` of Faust.

In Kafka Streams members do not subscribe to them. In Faust they do, and each has the partitions of its tables.
"""


def is_changelog_topic(group: GroupState, topic: str) -> bool:
    """Whether the topic is one of the group's application, by its name: that of the group is the application's id.

    >>> group = GroupState(cluster="c", group="billing")
    >>> is_changelog_topic(group, "billing-totals-changelog"), is_changelog_topic(group, "orders-changelog")
    (True, False)
    """
    return topic.endswith(_SUFFIX) and topic.startswith(f"{group.group}-")
