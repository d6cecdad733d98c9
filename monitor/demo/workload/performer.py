"""The process that performs the demo's script: ``python -m monitor.demo.workload.performer BOOTSTRAP SETTINGS_JSON``.

It runs apart from the demo so that its threads do not share a GIL with it. Standard input is its leash: the line
``begin`` starts the script, the end of the input (also when the demo is killed) ends the process. Standard output has
one ``Happening`` as JSON a line; everything else goes to standard error.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time

import msgspec
from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError, TopicAlreadyExistsError

from monitor.demo.workload.members import GroupMember
from monitor.demo.workload.script import GROUPS, Action, Step, WorkloadSettings, steps
from monitor.model import Value

logger = logging.getLogger(__name__)

_PRODUCER_TICK_S = 0.25
REFRESH_LIMIT_S = 20.0


class Happening(Value):
    """What the workload did or saw. ``at_ms`` counts from ``begin`` (None: before it), ``wall_ms`` from the epoch.

    ``what`` is an ``Action``, or "ready", "begun", "assigned" (all partitions of the group's topic that exist have
    owners again, ``number`` of them) or "failed".
    """

    what: str
    wall_ms: int
    at_ms: int | None = None
    group: str | None = None
    number: int | None = None
    sentence: str = ""


class Performer:
    """Topics, producer and groups of the demo, and the thread that performs the script on them."""

    def __init__(self, bootstrap: str, settings: WorkloadSettings) -> None:
        self._bootstrap = bootstrap
        self._settings = settings
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._begun_s: float | None = None
        self._complete: dict[str, bool] = {}
        self._owned: dict[str, dict[int, frozenset[int]]] = {plan.name: {} for plan in GROUPS}
        self._ready = False
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap, client_id="demo-admin")
        self._partitions = self._create_topics()
        self._threads = [threading.Thread(target=self._produce, name="producer", daemon=True)]
        self._threads[0].start()
        self._members = {
            (plan.name, number): self._join(plan.name, number) for plan in GROUPS for number in range(plan.members)
        }

    def begin(self) -> None:
        """Start to perform the script, once."""
        if self._begun_s is None:
            self._begun_s = time.monotonic()
            self._say("begun")
            self._threads.append(threading.Thread(target=self._perform, name="script", daemon=True))
            self._threads[-1].start()

    def end(self) -> None:
        """Close everything and wait for it."""
        self._ended.set()
        for member in list(self._members.values()):
            member.ask_to_close()
        for thread in self._threads:
            thread.join(10)
        for member in list(self._members.values()):
            member.close()
        self._admin.close()

    def _create_topics(self) -> dict[str, int]:
        """Create the topics that are not there; how many partitions each has."""
        wanted = {plan.name: {"num_partitions": plan.partitions, "replication_factor": 1} for plan in GROUPS}
        for name, options in wanted.items():
            try:
                self._admin.create_topics({name: options}, wait_for_metadata=True)
            except TopicAlreadyExistsError:
                continue
        return {topic["name"]: len(topic["partitions"]) for topic in self._admin.describe_topics(list(wanted))}

    def _join(self, group: str, number: int) -> GroupMember:
        plan = next(plan for plan in GROUPS if plan.name == group)
        return GroupMember(self._bootstrap, plan, number, self._settings, self._assigned)

    def _assigned(self, group: str, number: int, partitions: frozenset[int]) -> None:
        """Called on the members' threads."""
        with self._lock:
            self._owned[group][number] = partitions
            owned = len(frozenset().union(*self._owned[group].values()))
            complete = owned == self._partitions[group]
            news = complete and not self._complete.get(group, False)
            self._complete[group] = complete
            ready = not self._ready and all(self._complete.get(plan.name) for plan in GROUPS)
            self._ready = self._ready or ready
        if news:
            self._say("assigned", group, owned, f"all {owned} partitions of {group} have an owner")
        if ready:
            self._say("ready")

    def _produce(self) -> None:
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            client_id="demo-producer",
            metadata_max_age_ms=3_000,  # the new partitions of a topic are written to soon after they are there
            linger_ms=100,
            metrics_enabled=False,
        )
        written, due = 0, 0.0
        while not self._ended.wait(_PRODUCER_TICK_S):
            due += self._settings.records_per_s * _PRODUCER_TICK_S
            try:
                while written < due:
                    _write(producer, GROUPS[written % len(GROUPS)].name, written)
                    written += 1
            except KafkaError:
                logger.exception("producer: trying again")
        producer.close(timeout=3)

    def _perform(self) -> None:
        begun = self._begun_s or time.monotonic()
        for step in steps(self._settings):
            if self._ended.wait(max(0.0, begun + step.at_ms / 1000 - time.monotonic())):
                return
            try:
                sentence = self._do(step)
                self._say(step.action, step.group, step.number, sentence)
            except KafkaError as error:
                logger.exception("%s", step)
                self._say("failed", step.group, step.number, f"{step.action}: {error}")

    def _do(self, step: Step) -> str:
        members = [member for (group, _), member in self._members.items() if group == step.group]
        match step.action:
            case Action.GROW_TOPIC:
                return self._grow(step.group, step.number)
            case Action.REFRESH_METADATA:
                return self._refresh(step.group, members)
            case Action.LOSE_MEMBER:
                self._members.pop((step.group, step.number)).close()
                return f"member {step.number} leaves {step.group}"
            case Action.RETURN_MEMBER:
                self._members[step.group, step.number] = self._join(step.group, step.number)
                return f"member {step.number} returns to {step.group}"
            case Action.STOP_COMMITTING:
                for member in members:
                    member.stop_committing()
                return f"{step.group} stops reading and committing, its member stays"
            case Action.RESUME_COMMITTING:
                for member in members:
                    member.resume_committing()
                return f"{step.group} reads and commits again"

    def _refresh(self, group: str, members: list[GroupMember]) -> str:
        """Wait for it: on a busy machine a member that looks late would see the growth that comes next at once."""
        for member in members:
            member.refresh_metadata()
        done = all(member.await_metadata(REFRESH_LIMIT_S) for member in members)
        return f"the members of {group} {'have looked' if done else 'look'} at their topic"

    def _grow(self, topic: str, more: int) -> str:
        before = self._partitions[topic]
        self._admin.create_partitions({topic: before + more})
        with self._lock:
            self._partitions[topic] = before + more
            self._complete[topic] = False
        return f"{topic} grows from {before} to {before + more} partitions"

    def _say(self, what: str, group: str | None = None, number: int | None = None, sentence: str = "") -> None:
        begun = self._begun_s
        happening = Happening(
            what=what,
            wall_ms=time.time_ns() // 1_000_000,
            at_ms=None if begun is None else round((time.monotonic() - begun) * 1000),
            group=group,
            number=number,
            sentence=sentence,
        )
        with self._lock:
            sys.stdout.buffer.write(msgspec.json.encode(happening) + b"\n")
            sys.stdout.buffer.flush()


def _write(producer: KafkaProducer, topic: str, number: int) -> None:
    """One record, to the partitions in turn: every partition gets records, the newest ones too."""
    partitions = len(producer.partitions_for(topic))
    value = json.dumps({"topic": topic, "number": number}).encode()
    producer.send(topic, value, partition=number // len(GROUPS) % partitions)


def main() -> None:
    """Obey standard input until it ends."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    performer = Performer(sys.argv[1], msgspec.json.decode(sys.argv[2], type=WorkloadSettings))
    for line in sys.stdin:
        if line.strip() == "begin":
            performer.begin()
    performer.end()


if __name__ == "__main__":
    main()
