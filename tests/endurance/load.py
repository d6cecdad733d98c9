"""What a job under watch goes through: groups that commit, members that come and go, readers of its pages."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from kafka import OffsetAndMetadata, TopicPartition

from tests.live.script import COOPERATIVE, RANGE
from tests.support.background import Background
from tests.support.clients import simple_consumer
from tests.support.crowd import Crowd
from tests.support.job_process import JobProcess

SUBSCRIBED: Final = {
    "range": {"partition.assignment.strategy": RANGE},
    "cooperative": {"partition.assignment.strategy": COOPERATIVE},
    "uniform": {"group.protocol": "consumer"},
}
"""Groups with members, and the properties of these."""
MEMBERS: Final = 2
"""Of each group."""

OK: Final = 200


class Commits(Background):
    """Groups without members that commit in turn, one commit every so many seconds."""

    def __init__(self, bootstrap: str, topic: str, groups: Sequence[str], every_s: float) -> None:
        super().__init__()
        self._bootstrap = bootstrap
        self._place = TopicPartition(topic, 0)
        self._groups = groups
        self._every_s = every_s

    def _run(self) -> None:
        with ExitStack() as stack:
            consumers = [stack.enter_context(simple_consumer(self._bootstrap, group)) for group in self._groups]
            for consumer in consumers:
                consumer.assign([self._place])
            for offset in itertools.count():
                for consumer in consumers:
                    consumer.commit({self._place: OffsetAndMetadata(offset, "", -1)})
                    if self._stopping.wait(self._every_s):
                        return


class Members(Background):
    """Real members of several groups, of which one is replaced every so many seconds."""

    def __init__(self, crowd: Crowd, topic: str, replace_s: float) -> None:
        super().__init__()
        self._crowd = crowd
        self._topic = topic
        self._replace_s = replace_s
        self._number = itertools.count()
        self._names = {group: [self._start(group) for _ in range(MEMBERS)] for group in SUBSCRIBED}

    def _start(self, group: str) -> str:
        name = f"{group}-{next(self._number)}"
        self._crowd.tell("start", name=name, topics=[self._topic], props=SUBSCRIBED[group] | {"group.id": group})
        return name

    def _run(self) -> None:
        for group in itertools.cycle(SUBSCRIBED):
            if self._stopping.wait(self._replace_s):
                return
            self._crowd.tell("close", name=self._names[group].pop(0))
            self._names[group].append(self._start(group))


class Visitor(Background):
    """Reads addresses of a job in turn, one every so many seconds, and counts the answers by their status."""

    def __init__(self, job: JobProcess, paths: Sequence[str], every_s: float) -> None:
        super().__init__()
        self._job = job
        self._paths = paths
        self._every_s = every_s
        self.statuses: Counter[int | None] = Counter()
        self.failed: Counter[str] = Counter()
        """The paths with another answer than 200."""

    def _run(self) -> None:
        for path in itertools.cycle(self._paths):
            if self._stopping.wait(self._every_s):
                return
            status = self._job.status(path)
            self.statuses[status] += 1
            if status != OK:
                self.failed[path] += 1
