"""Exactly-once applications that abort now and then, and readers of what they committed."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Final

from kafka import KafkaProducer

from tests.kind_churn.healthy_groups import Action
from tests.kind_churn.members import MemberGroups, Members
from tests.scenarios.settings import COOPERATIVE_ASSIGNOR, KIP_848, RANGE_ASSIGNOR
from tests.support.clients import create_topic
from tests.support.crowd import Crowd

INPUT, OUTPUT = "exactly-once.input", "exactly-once.output"
PARTITIONS: Final = 3
LONGEST_OPEN_S: Final = 6.0
ABORTED: Final = 0.2
READ_COMMITTED: Final = {"isolation.level": "read_committed"}


class ExactlyOnce(MemberGroups):
    """Two applications that commit their offsets in transactions, and two groups that read what these wrote.

    Of their input, a part is written in transactions that stay open for seconds.
    """

    def __init__(self, bootstrap: str, crowd: Crowd) -> None:
        copies = {"topics": [INPUT], "output": OUTPUT, "aborts": ABORTED}
        reads = {"topics": [OUTPUT]}
        groups = [
            Members(crowd, "exactly-once-classic", RANGE_ASSIGNOR | READ_COMMITTED, copies),
            Members(crowd, "exactly-once-kip848", KIP_848 | READ_COMMITTED, copies),
            Members(crowd, "committed-cooperative", COOPERATIVE_ASSIGNOR | READ_COMMITTED, reads),
            Members(crowd, "committed-kip848", KIP_848, reads),
        ]
        super().__init__("exactly-once", {INPUT: PARTITIONS}, groups)
        self._bootstrap = bootstrap
        self._producer: KafkaProducer | None = None

    def set_up(self) -> None:
        """Also the producer, and the topic that nobody writes otherwise."""
        create_topic(self._bootstrap, OUTPUT, PARTITIONS)
        self._producer = KafkaProducer(bootstrap_servers=self._bootstrap, transactional_id="exactly-once.producer")
        self._producer.init_transactions()
        super().set_up()

    def end(self) -> None:
        if self._producer is not None:
            self._producer.close(timeout=5)

    def actions(self, chance: random.Random) -> Sequence[Action]:
        return [*super().actions(chance), self._commit, self._abort]

    def _commit(self) -> bool:
        self._write().commit_transaction()
        return True

    def _abort(self) -> bool:
        self._write().abort_transaction()
        return True

    def _write(self) -> KafkaProducer:
        """Some records in an open transaction, after some seconds."""
        assert self._producer is not None
        self._producer.begin_transaction()
        for partition in range(PARTITIONS):
            self._producer.send(INPUT, b"x", partition=partition)
        self._producer.flush()
        time.sleep(self.chance.uniform(0.0, LONGEST_OPEN_S))
        return self._producer
