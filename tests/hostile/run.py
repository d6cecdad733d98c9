"""Are healthy groups judged as if nobody wrote hostile records beside them? ``python -m tests.hostile.run``.

Ten groups are steady and one is behind. For ``--minutes`` strangers write mutated, extreme and forged records into both
logs; once a second it is looked at what the job serves. Prints what happens, a report, and every difference.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

from kafka import KafkaProducer, OffsetAndMetadata, TopicPartition

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.chaos.load import LOG_PARTITIONS, beside
from tests.chaos.outcome import records_in
from tests.chaos.run import different
from tests.chaos.witness import Commits, Seen, Witness, commits_in, contradictions
from tests.hostile.records import LOG, OWN, Stranger
from tests.live.script import CLASSIC, COOPERATIVE, MODERN, RANGE
from tests.scenarios.stage import Load
from tests.support.clients import commit, create_topic, offsets_log_producer, produce, simple_consumer
from tests.support.crowd import Crowd
from tests.support.job_process import JobProcess, Samples, eventually, running
from tests.support.progress import exit_code, say
from tests.support.without_spark import JobWithoutSpark

CLUSTER: Final = "hostile"
TOPIC, WAITING = "steady", "waiting"
PARTITIONS: Final = 6
MEMBERS: Final = 2
ERRORS: Final = "groupwatch_evaluation_errors_total"
RECORDS: Final = 500
"""In each partition of the topic in which they wait; that is a finding."""
PAUSE_S: Final = 0.1
"""Between two rounds of hostile records, each of seven."""
LIVELY: Final = {"session.timeout.ms": "45000", "max.poll.interval.ms": "300000"}
"""No member is lost on a busy machine: nothing is to happen but what strangers write."""
SAME_SINCE_S: Final = 2.0
"""The beginning of a lag is worked out anew from what is known of the partition."""

BROKER: Final = {
    "group.initial.rebalance.delay.ms": "0",
    # every record is to be there for the comparison
    "log.cleaner.enable": "false",
}


LIVE: Final = {
    beside(f"{name}{number}"): props
    for name, props in (
        ("range", CLASSIC | LIVELY | {"partition.assignment.strategy": RANGE}),
        ("cooperative", CLASSIC | LIVELY | {"partition.assignment.strategy": COOPERATIVE}),
        ("uniform", MODERN | {"max.poll.interval.ms": "300000"}),
    )
    for number in (1, 2)
}
SIMPLE: Final = tuple(beside(f"simple{number}") for number in range(4))
HEALTHY: Final = (*LIVE, *SIMPLE)
BEHIND: Final = beside("behind")

SHAPE: Final = ("kind", "state", "generation", "assignor", "expectation")


@dataclass
class Tally:
    """What was wrong in any of the looks, and how many there were."""

    looks: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    groups: set[str] = field(default_factory=set)


class Looks:
    """Once a second, whether each healthy group is there, with its members and without a finding."""

    def __init__(self, job: JobProcess) -> None:
        self._job = job
        self.tally = Tally()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(1.0):
            try:
                self.tally.wrong.update(self._wrong(self._job.metrics()))
            except Exception as error:
                self.tally.wrong[f"the job does not answer: {error!r}"] += 1
            self.tally.looks += 1

    def _wrong(self, samples: Samples) -> list[str]:
        there = {sample.labels["group"] for sample in samples.all("groupwatch_group_state")}
        vanished, self.tally.groups = self.tally.groups - there, self.tally.groups | there
        return [
            *(f"{group!r} has vanished" for group in vanished if group.startswith(OWN)),
            *(f"{group} is not there" for group in (*HEALTHY, BEHIND) if group not in there),
            *(line for group in LIVE for line in self._members(samples, group)),
            *(line for group in HEALTHY for line in findings(samples, group)),
            *("evaluation errors" for _ in range(int(samples.value(ERRORS, cluster=CLUSTER) or 0))),
            *(() if samples.value("groupwatch_up", cluster=CLUSTER) == 1 else ("not up",)),
        ]

    def _members(self, samples: Samples, group: str) -> list[str]:
        members = samples.value("groupwatch_group_members", group=group)
        return [] if members == MEMBERS else [f"{group} has {members} members"]


def findings(samples: Samples, group: str) -> list[str]:
    """The kinds and reasons that are found of a group."""
    found = samples.all("groupwatch_group_findings", group=group)
    return [f"{group}: {each.labels['kind']}/{each.labels['reason']}" for each in found if each.value]


def run(minutes: float, seed: int, folder: Path, made: type[JobProcess] = JobProcess) -> dict[str, Any]:
    """The report of so many minutes."""
    settings = BrokerSettings(offsets_topic_partitions=LOG_PARTITIONS, properties=BROKER)
    with ExitStack() as stack:
        bootstrap = stack.enter_context(EmbeddedKafka(settings, data_dir=folder / "kafka")).bootstrap_servers
        set_up(bootstrap)
        crowd, load = stack.enter_context(Crowd(bootstrap)), stack.enter_context(Load(bootstrap))
        load.add(TOPIC)
        start_members(crowd)
        stack.enter_context(Committing(bootstrap))
        job = stack.enter_context(running(job_of(bootstrap, folder, made)))
        began = settled(job)
        say(f"the job is ready; {minutes:g} minutes of hostile records begin")
        witness, looks = stack.enter_context(Witness(job, CLUSTER)), Looks(job)
        with looks:
            sent = write(Stranger(seed, CLUSTER, HEALTHY, TOPIC, PARTITIONS), bootstrap, minutes * 60)
        samples, ended, seen = job.metrics(), verdicts(job), [*witness.seen]
        served = contradicted(seen, commits_in(log_of(bootstrap)))
    errors = {sample.labels["reason"]: sample.value for sample in samples.all("groupwatch_decode_errors_total")}
    return {
        "seed": seed,
        "minutes": minutes,
        "sent": sent,
        "looks": looks.tally.looks,
        "groups": len(looks.tally.groups),
        "refused": errors,
        "differences": [
            *(f"{line} ({count} times)" for line, count in sorted(looks.tally.wrong.items())),
            *(f"served: {line}" for line in served),
            *changes(began, ended),
            *(f"failed: {each}" for each in (*crowd.failures(), *load.errors)),
        ],
    }


def contradicted(seen: list[Seen], true: Commits) -> list[str]:
    """What was served of the groups that are to be left alone, and was not so."""
    watched = (*HEALTHY, BEHIND)
    of_them = (replace(look, committed={p: o for p, o in look.committed.items() if p[0] in watched}) for look in seen)
    return [*contradictions(of_them, {place: known for place, known in true.items() if place[0] in watched})]


def set_up(bootstrap: str) -> None:
    """The topics, the groups' first commits, and the records that wait for the one that is behind."""
    for topic in (TOPIC, WAITING):
        create_topic(bootstrap, topic, PARTITIONS)
    produce(bootstrap, WAITING, dict.fromkeys(range(PARTITIONS), RECORDS))
    commit(bootstrap, BEHIND, WAITING, dict.fromkeys(range(PARTITIONS), 0))


def start_members(crowd: Crowd) -> None:
    """Two of each live group, one after the other."""
    for group, props in LIVE.items():
        for number in range(MEMBERS):
            since, name = crowd.seen(), f"{group}-{number}"
            crowd.tell("start", name=name, topics=[TOPIC], props=props | {"group.id": group})
            crowd.await_event(since, "assigned", name=name)


class Committing:
    """Groups without members commit the ends of the topic once a second, for the time of a ``with`` block."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(30)

    def _run(self) -> None:
        places = [TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
        with ExitStack() as stack:
            consumers = [stack.enter_context(simple_consumer(self._bootstrap, group)) for group in SIMPLE]
            for consumer in consumers:
                consumer.assign(places)
            while not self._stop.wait(1.0):
                ends = consumers[0].end_offsets(places)
                for consumer in consumers:
                    consumer.commit({place: OffsetAndMetadata(end, "", -1) for place, end in ends.items()})


def job_of(bootstrap: str, folder: Path, made: type[JobProcess]) -> JobProcess:
    """A job to which records that wait are a finding at once, and that reads the topics each second."""
    clusters = {CLUSTER: {"bootstrap_servers": bootstrap, "collect_interval_s": 1.0}}
    return made(folder, clusters, detection={"lag_records": RECORDS, "commit_silence_s": 86_400})


def settled(job: JobProcess) -> dict[str, Any]:
    """The verdicts once all is as it stays: members have their partitions, and the lag is told."""

    def look() -> dict[str, Any] | None:
        found = verdicts(job)
        live = [each for group, each in found.items() if group in LIVE]
        calm = all(len(each.get("members", ())) == MEMBERS and each["state"] == "stable" for each in live)
        told = len(found) == len(HEALTHY) + 1 and found[BEHIND].get("findings")
        return found if calm and told and not any(found[group].get("findings") for group in HEALTHY) else None

    return eventually(look, "ten groups without and one with a finding")


def verdicts(job: JobProcess) -> dict[str, Any]:
    """What is judged of the groups that are to be left alone."""
    there = {each["group"] for each in json.loads(job.get("/api/v1/groups?limit=1000"))}
    return {group: job.group(CLUSTER, group) for group in (*HEALTHY, BEHIND) if group in there}


def write(stranger: Stranger, bootstrap: str, seconds: float) -> Counter[str]:
    """Hostile records, again and again; how many went into each topic."""
    sent: Counter[str] = Counter()
    until = time.monotonic() + seconds
    with offsets_log_producer(bootstrap) as into_log:
        into_others = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
        while time.monotonic() < until:
            for record in stranger.records(int(time.time() * 1000)):
                producer = into_log if record.topic == LOG else into_others
                producer.send(record.topic, key=record.key, value=record.value, partition=record.partition)
                sent[record.topic] += 1
            time.sleep(PAUSE_S)  # the pace of the strangers, not a wait for anything
        into_others.close()
    return sent


def log_of(bootstrap: str) -> Iterator[tuple[bytes | None, bytes | None, int]]:
    """The log of offsets without commits of negative offsets, which are none."""
    for record in records_in(bootstrap, [TopicPartition(LOG, number) for number in range(LOG_PARTITIONS)]):
        is_of_nothing = len(record.value or b"") > 9 and record.value[2] & 0x80 and record.key[:2] == b"\x00\x01"
        if not is_of_nothing:
            yield record.key, record.value, record.timestamp


def changes(began: dict[str, Any], ended: dict[str, Any]) -> Iterator[str]:
    """What is judged otherwise in the end."""
    for group in (*HEALTHY, BEHIND):
        before, after = began[group], ended.get(group)
        if after is None:
            yield f"{group} is not judged in the end"
            continue
        yield from different(group, shape(after), shape(before))
        for old, new in zip(before.get("findings", ()), after.get("findings", ()), strict=False):
            if abs(new["since_ms"] - old["since_ms"]) > SAME_SINCE_S * 1000:
                yield f"{group}: {new['kind']} since {new['since_ms']}, before since {old['since_ms']}"


def shape(verdict: dict[str, Any]) -> dict[str, Any]:
    """What no commit changes: the group, its members with their partitions, owners, and what is found."""
    return {
        **{name: verdict.get(name) for name in SHAPE},
        "members": {each["member_id"]: each.get("partitions") for each in verdict.get("members", ())},
        "owners": {(p["topic"], p.get("partition", 0)): p.get("owners") for p in verdict.get("partitions", ())},
        "findings": [(each["kind"], each["reason"]) for each in verdict.get("findings", ())],
    }


def main() -> int:
    """1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.run", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (10)")
    parser.add_argument("--seed", type=int, default=None, help="anything; random if not given")
    parser.add_argument("--without-spark", action="store_true", help="beside a job whose Spark is played")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else secrets.randbelow(10**6)
    folder = Path(tempfile.mkdtemp(prefix="groupwatch-hostile-"))
    say(f"seed {seed}; logs in {folder}")
    report = run(options.minutes, seed, folder, JobWithoutSpark if options.without_spark else JobProcess)
    for line in report["differences"]:
        say(f"DIFFERENT {line}")
    sys.stdout.write(json.dumps(report) + "\n")
    return exit_code(folder, report["differences"])


if __name__ == "__main__":
    sys.exit(main())
