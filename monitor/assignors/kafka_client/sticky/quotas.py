"""How much each member of a uniform group may have, and who may still take something."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.order import string_key
from monitor.assignors.kafka_client.sticky.partition_index import Places


class Quotas:
    """Keeps the books while partitions are given out. Members are named by their positions.

    Attributes:
        share: what everybody gets.
        most: the share, plus one if there are extras.
        extras: how many members may still get one more than the share.
        short: those with less than the share, in the order in which they are served.
        ready: those who take the extras, in the order in which they are served.
    """

    def __init__(self, partitions: int, member_ids: Sequence[str]) -> None:
        self.share, self.extras = divmod(partitions, len(member_ids))
        self.most = self.share + (self.extras > 0)
        self.short: list[int] = []
        self.ready: list[int] = []
        self.count = [0] * len(member_ids)
        self._ids = member_ids

    def keep(self, member: int, owned: int) -> int:
        """How many of its partitions the member keeps. To be called once for each, in the order of visits."""
        if owned < self.share:
            self.short.append(member)
            keeps = owned
        elif owned >= self.most and self.extras:
            self.take_extra()
            keeps = self.most
        else:
            keeps = self.share
            if self.extras:
                self.ready.append(member)
        self.count[member] = keeps
        return keeps

    def take_extra(self) -> None:
        """One extra is gone; after the last one, no member is ready for another."""
        self.extras -= 1
        if not self.extras:
            self.ready.clear()

    def queue_up(self) -> None:
        """From here on members are served by id."""
        for queue in (self.short, self.ready):
            queue.sort(key=lambda member: string_key(self._ids[member]))

    def deal(self, partitions: int) -> Places:
        """Who takes each of so many partitions: round the short members, then one each to those who take extras.

        Raises:
            AssignorError: there are too many partitions or too few, which happens only where members keep partitions
                that do not exist.
        """
        short = np.array(self.short, np.int64)
        needs = self.share - np.array([self.count[member] for member in self.short], np.int64)
        rounds = np.unique(needs)  # the same members take part from one of these rounds to the next
        repeats = np.diff(rounds, prepend=0).tolist()
        turns = [np.tile(short[needs >= last], times) for last, times in zip(rounds.tolist(), repeats, strict=True)]
        shares = np.concatenate(turns) if turns else short
        if partitions < len(shares):
            raise self._shortage(shares[partitions:])
        served = short[np.argsort(needs, kind="stable")]
        queue = np.concatenate([np.array(self.ready, np.int64), served])
        if partitions - len(shares) > len(queue):
            raise AssignorError("IllegalStateException", "No more unfilled consumers to be assigned.")
        return np.concatenate([shares, queue[: partitions - len(shares)]])

    def _shortage(self, waiting: Places) -> AssignorError:
        if self.extras:
            return AssignorError(
                "IllegalStateException",
                "We haven't reached the expected number of members with more than the minQuota partitions, "
                "but no more partitions to be assigned",
            )
        still = set(waiting.tolist())
        first = next(self._ids[member] for member in self.short if member in still)
        return AssignorError(
            "IllegalStateException",
            f"Consumer: [{first}] doesn't reach minQuota partitions, and no more partitions to be assigned",
        )
