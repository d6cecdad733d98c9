"""Groups of real consumers, many in one process, whose members join, leave and restart as they should."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.kind_churn.healthy_groups import Action, HealthyGroups
from tests.scenarios.settings import CLASSIC, COOPERATIVE_ASSIGNOR, KIP_848, RANGE_ASSIGNOR, ROUNDROBIN, STICKY
from tests.support.crowd import Crowd

MOST_MEMBERS: Final = 3
ORDERS, EVENTS, AUDIT, SALES = "members.orders", "members.events", "members.audit", "members.sales"
TOPICS: Final = {ORDERS: 6, EVENTS: 6}
"""For one to three members, 6 partitions of a topic are always as even as 12 of both."""


class Members:
    """The members of a group in a crowd: they have their partitions before they are closed.

    ``how`` is what they subscribe to, and what else Crowd.java takes. ``name`` distinguishes members of one group that
    differ in that.
    """

    def __init__(
        self, crowd: Crowd, group: str, props: Mapping[str, str], how: Mapping[str, Any], name: str = ""
    ) -> None:
        self.group = group
        self.props = props
        self.how = how
        self._crowd = crowd
        self._name = name or group
        self._joined: dict[str, int] = {}
        self._started = 0

    def __len__(self) -> int:
        return len(self._joined)

    def join(self, **props: str) -> str:
        """Start one more; its name."""
        self._started += 1
        name = f"{self._name}.{self._started}"
        self._joined[name] = self._crowd.seen()
        self._crowd.tell("start", name=name, props={**self.props, "group.id": self.group, **props}, **self.how)
        return name

    def await_assigned(self) -> None:
        """Wait until each has been given its partitions, or none."""
        for name in self._joined:
            self._await_assigned(name)

    def leave(self, chance: random.Random) -> None:
        """Close one of them."""
        self.close(chance.choice(list(self._joined)))

    def close(self, name: str) -> None:
        """Close this one, once it has been given its partitions."""
        self._await_assigned(name)
        self.close_at_once(name)

    def close_at_once(self, name: str) -> None:
        """Close this one, whatever it has."""
        since = self._crowd.seen()
        self._crowd.tell("close", name=name)
        self._crowd.await_event(since, "closed", name=name)
        del self._joined[name]

    def close_all(self) -> None:
        """Close all of them, whatever they have."""
        for name in list(self._joined):
            self.close_at_once(name)

    def _await_assigned(self, name: str) -> None:
        self._crowd.await_event(self._joined[name], "assigned", name=name)


class MemberGroups(HealthyGroups):
    """Some groups, one to three members each. The members end with their crowd."""

    pause_s = (1.0, 4.0)

    def __init__(self, kind: str, topics: Mapping[str, int], groups: Sequence[Members]) -> None:
        self.kind = kind
        self.topics = topics
        self.groups = list(groups)

    def set_up(self) -> None:
        """Two members in each group."""
        for group in (*self.groups, *self.groups):
            group.join()
        for group in self.groups:
            group.await_assigned()

    def end(self) -> None:
        """Nothing is left to do here."""

    def actions(self, chance: random.Random) -> Sequence[Action]:
        self.chance = chance
        return [self._join, self._leave, self._restart]

    def _join(self) -> bool:
        group = self.chance.choice(self.groups)
        if len(group) >= MOST_MEMBERS:
            return False
        group.join()
        return True

    def _leave(self) -> bool:
        """Never the last one."""
        group = self.chance.choice(self.groups)
        if len(group) < 2:
            return False
        group.leave(self.chance)
        return True

    def _restart(self) -> bool:
        """Also of the only one."""
        group = self.chance.choice(self.groups)
        group.leave(self.chance)
        group.join()
        return True


def healthy_members(crowd: Crowd) -> MemberGroups:
    """A group of each assignor, and one of KIP-848."""
    protocols = {
        "range": RANGE_ASSIGNOR,
        "roundrobin": CLASSIC | {"partition.assignment.strategy": ROUNDROBIN},
        "sticky": CLASSIC | {"partition.assignment.strategy": STICKY},
        "cooperative": COOPERATIVE_ASSIGNOR,
        "kip848": KIP_848,
    }
    groups = [Members(crowd, f"members-{name}", props, {"topics": list(TOPICS)}) for name, props in protocols.items()]
    return MemberGroups("members", TOPICS, groups)


def two_applications(crowd: Crowd) -> MemberGroups:
    """Two applications with one ``group.id`` and different topics, in the classic protocol and that of KIP-848."""
    groups = [
        Members(crowd, f"shared-{protocol}", props, {"topics": [topic]}, name=f"{protocol}-{topic}")
        for protocol, props in (("classic", RANGE_ASSIGNOR), ("kip848", KIP_848))
        for topic in (AUDIT, SALES)
    ]
    return MemberGroups("two-applications", {AUDIT: 3, SALES: 3}, groups)


def readers_without_commits(crowd: Crowd) -> MemberGroups:
    """Consumers that begin at the end each time, and commit nothing."""
    how = {"topics": ["tailed"], "commits": False}
    props = {"auto.offset.reset": "latest"}
    protocols = (("classic", RANGE_ASSIGNOR), ("kip848", KIP_848))
    groups = [Members(crowd, f"tail-{name}", own | props, how) for name, own in protocols]
    return MemberGroups("without-commits", {"tailed": 3}, groups)


class StaticMembers(MemberGroups):
    """Static members, each with an id of its own, that restart now and then as in a deployment."""

    MOST_RESTARTS: Final = 4
    """Of one member: a fifth within ten minutes each time is a finding, as a process that restarts without end is."""

    def __init__(self, crowd: Crowd) -> None:
        how = {"topics": ["static.orders"]}
        protocols = (("range", RANGE_ASSIGNOR), ("cooperative", COOPERATIVE_ASSIGNOR), ("kip848", KIP_848))
        groups = [Members(crowd, f"static-{name}", props, how) for name, props in protocols]
        super().__init__("static", {"static.orders": 6}, groups)
        self._instances = {(group.group, f"{group.group}-{number}"): 0 for group in groups for number in range(3)}
        self._running: dict[str, str] = {}

    def set_up(self) -> None:
        """Three members in each group: nobody comes or goes for ever."""
        for group, instance in self._instances:
            self._running[instance] = self._of(group).join(**{"group.instance.id": instance})
        for group in self.groups:
            group.await_assigned()

    def actions(self, chance: random.Random) -> Sequence[Action]:
        self.chance = chance
        return [self._restart]

    def _restart(self) -> bool:
        left = [key for key, restarts in self._instances.items() if restarts < self.MOST_RESTARTS]
        if not left:
            return False
        group, instance = self.chance.choice(left)
        self._instances[group, instance] += 1
        self._of(group).close(self._running[instance])
        self._running[instance] = self._of(group).join(**{"group.instance.id": instance})
        return True

    def _of(self, name: str) -> Members:
        return next(group for group in self.groups if group.group == name)
