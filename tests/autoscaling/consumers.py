"""Deployments of real consumers: pods that are threads of one JVM (java/Pods.java): 5 ms a record, a commit a second.

Members are dynamic. A pod that meets the poison dies without a commit and starts again after a growing pause.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Final

from tests.autoscaling.times import BACKOFF_LIMIT_S, BACKOFF_S, SESSION_S, WORK_MS
from tests.support.consumers import Consumers
from tests.support.crowd import NEEDED
from tests.support.java_program import jars_of_kafka, java_command
from tests.support.job_process import eventually

POISON: Final = b"poison"
_PROGRAM: Final = Path(__file__).parent / "java" / "Pods.java"
_JVM: Final = ("-Xmx768m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
_CLASSIC: Final = {"session.timeout.ms": str(int(1000 * SESSION_S)), "heartbeat.interval.ms": "1000"}
_ASSIGNORS: Final = "org.apache.kafka.clients.consumer."
_FETCHES: Final = {
    "max.poll.records": "100",  # half a second of work: a rebalance waits for no more
    "fetch.min.bytes": "10000",
    "fetch.max.wait.ms": "250",
    "max.partition.fetch.bytes": "65536",
}


class Assignor(StrEnum):
    """Who shares out the partitions."""

    RANGE = "range"
    STICKY = "sticky"
    KIP848 = "kip848"


PROPS: Final = {
    Assignor.RANGE: {**_CLASSIC, "partition.assignment.strategy": f"{_ASSIGNORS}RangeAssignor"},
    Assignor.STICKY: {**_CLASSIC, "partition.assignment.strategy": f"{_ASSIGNORS}CooperativeStickyAssignor"},
    Assignor.KIP848: {"group.protocol": "consumer", "group.remote.assignor": "uniform"},
}


class Fleet(Consumers):
    """The JVM. It dies with its input."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(bootstrap, java_command(_PROGRAM, options=_JVM, jars=jars_of_kafka(NEEDED)))

    def cure(self, topic: str) -> None:
        """From now on the poison of this topic is a record like any other."""
        self.tell("cure", topic=topic)

    def generation(self, group: str) -> int | None:
        """The newest generation (KIP-848: member epoch) that a member of the group here has seen."""
        found = self._state(group).get("generation")
        return None if found is None else int(found)

    def owners(self, group: str) -> int:
        """How many members of the group own partitions, by the newest state."""
        return int(self._state(group).get("members", 0))

    def deaths(self, group: str) -> int:
        """How often a pod of the group has died."""
        return sum(each["group"] == group for each in self.events("died"))

    def _state(self, group: str) -> dict[str, int]:
        assert self.ended is None, f"the JVM of the pods ended with {self.ended}: {self.last_words()}"
        states = self.events("state")
        found: dict[str, int] = states[-1]["groups"].get(group, {}) if states else {}
        return found


class Deployment:
    """The pods of one group. As of a ReplicaSet, the youngest go first."""

    def __init__(self, fleet: Fleet, group: str, topic: str, assignor: Assignor = Assignor.STICKY) -> None:
        self.group, self.topic = group, topic
        self._fleet, self._assignor = fleet, assignor
        self._started = 0
        self._pods: list[str] = []

    @property
    def replicas(self) -> int:
        """How many pods there are to be."""
        return len(self._pods)

    def scale(self, replicas: int) -> None:
        """Start or stop pods; nothing is awaited."""
        while len(self._pods) > replicas:
            self._fleet.tell("stop", name=self._pods.pop())
        while len(self._pods) < replicas:
            self._pods.append(self._start())

    def await_owners(self, owners: int, seconds: float = 90.0) -> None:
        """Until so many members own partitions."""
        eventually(lambda: self._fleet.owners(self.group) == owners, f"{owners} owners in {self.group}", seconds)

    def _start(self) -> str:
        self._started += 1
        name = f"{self.group}-{self._started}"
        self._fleet.tell(
            "start",
            name=name,
            group=self.group,
            topic=self.topic,
            work_ms=WORK_MS,
            backoff_ms=int(1000 * BACKOFF_S),
            backoff_limit_ms=int(1000 * BACKOFF_LIMIT_S),
            props={**_FETCHES, **PROPS[self._assignor]},
        )
        return name
