"""What every assignor promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from monitor.model import Assignment, Member, TopicShape


class Assignor(Protocol):
    """A strategy that decides who reads which partition. It keeps no state: equal inputs give equal answers."""

    @property
    def name(self) -> str:
        """The name that members announce on the wire, for example ``range``."""
        ...

    def assign(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> Assignment:
        """The assignment that the original computes for these members and these topics.

        Args:
            members: the members of one generation, in the order in which the coordinator lists them. Member ids are
                distinct; if one is repeated its last entry counts, as in the original's map.
            topics: the topics that exist. Some may have no subscribers, and members may subscribe to missing ones.

        Returns:
            One entry for every member, in the order of ``members``. Its topics are in Java's string order, the
            partitions of a topic in the order in which the original returns them.

        Raises:
            AssignorError: the original throws for this input.
        """
        ...
