"""Which topic of its name a group commits: one that was deleted and made anew is another, and its commits begin anew.

From Kafka 4.1 on the broker writes the topic's id into every commit. Mostly it deletes a group's offsets with the
topic; where it does not, commits fall to the beginning of the new one, and nothing is delivered again by that.
"""

from __future__ import annotations

from collections.abc import Iterable

from monitor.model import CommitRun, CommittedOffset, CommittedTopic, OffsetCommitted, Rewind
from monitor.model.commit_history import points_of


class CommittedTopics:
    """The topics of a group's commits while a piece of its log is folded in."""

    __slots__ = ("_known",)

    def __init__(self, known: Iterable[CommittedTopic]) -> None:
        self._known = {topic.topic: topic for topic in known}

    def note(self, event: OffsetCommitted | CommitRun) -> None:
        """Take what a commit, or a run of them, shows of its topic. This is done for nearly every record of the log."""
        if event.topic_key is not None:
            known = self._known.get(event.topic)
            if known is None or known.key != event.topic_key:
                self._begin(event, event.topic_key)

    def is_recreated(self, before: CommittedOffset, fall: Rewind) -> bool:
        """Whether a partition went back because it is another one now: records that were never read are not read again.

        A consumer may commit its old position in the new topic first. So it is the first fall since the topic was made
        anew, of a partition of which commits from before are remembered.
        """
        topic = self._known.get(before.topic)
        if topic is None or topic.since_ms is None or fall.at_ms < topic.since_ms:
            return False
        if before.last_rewind is not None and before.last_rewind.at_ms >= topic.since_ms:
            return False
        return any(point.committed_ms < topic.since_ms for point in points_of(before.history))

    def key(self, topic: str) -> int | None:
        """Which topic of that name is committed; None: not known."""
        known = self._known.get(topic)
        return None if known is None else known.key

    def of(self, topics: Iterable[str]) -> tuple[CommittedTopic, ...]:
        """What is known of these topics."""
        return tuple(self._known[topic] for topic in sorted(self._known.keys() & set(topics))) if self._known else ()

    def names(self) -> dict[int, str]:
        """The names of all topics that are known, by their keys."""
        return {each.key: each.topic for each in self._known.values()}

    def _begin(self, event: OffsetCommitted | CommitRun, key: int) -> None:
        """The topic's first commit, or its first one since it was made anew."""
        first_ms = event.first.committed_ms if isinstance(event, CommitRun) else event.committed_ms
        since_ms = first_ms if event.topic in self._known else None
        self._known[event.topic] = CommittedTopic(event.topic, key, since_ms)
