"""Disturb the job and the broker again and again under load: ``python -m tests.chaos.run [--seed N] [--kills N]``.

What is served at each second is held against the log of offsets; what is served in the end, against the broker's own
answers and a job that nobody disturbed, whose Spark is played. In the end no coordinator answers at a start, and then
the broker is another one.

With ``--brief`` both are left to test_no_coordinator and test_another_source, and the load is lighter: on a busy
machine most of the CPU would be that of the load, which goes on for as long as the faults take.
"""

from __future__ import annotations

import argparse
import json
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from kafka import TopicPartition

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.chaos.disk import Disk, NoDisk
from tests.chaos.faults import CLUSTER, OTHERS, Fault, Havoc, await_evaluation, kill_all, plan
from tests.chaos.load import GROUPS, LOG_PARTITIONS, RECORDS, TOPIC, TOPIC_PARTITIONS, Load
from tests.chaos.outcome import Told, committed, findings_in, log_ends, records_of_log, spoilt, told, unreadable
from tests.chaos.witness import Witness, commits_in, contradictions
from tests.live.script import SESSION_MS
from tests.streaming_jobs.runtime.stalling_job import command_of
from tests.support.brokers import SOON_BACK
from tests.support.clients import commit, create_topic, produce, spoil_offsets_log
from tests.support.crowd import Crowd
from tests.support.job_process import JobProcess, eventually, processes_of
from tests.support.progress import exit_code, say
from tests.support.without_spark import JobWithoutSpark

BROKER: Final = {
    # the undisturbed job has to find every record that the other one read
    "log.cleaner.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": str(SESSION_MS),
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.min.session.timeout.ms": str(SESSION_MS),
    "group.consumer.session.timeout.ms": str(SESSION_MS),
    **SOON_BACK,
}
STILL_S: Final = SESSION_MS / 1000 + 1
"""How long the offsets log must not have grown: a member that is gone would have been missed by then."""

BEHIND: Final = RECORDS * TOPIC_PARTITIONS // 2
"""Half of the records at the start: each commit of a group without members may change whether it is behind."""

LIGHTER: Final = 4.0
"""How much rarer all but commits happens in a brief run."""

Tell = Callable[[str], Any]


@dataclass(frozen=True)
class Outcome:
    """The job that was disturbed and the one that was not, and what is true."""

    faults: list[Fault]
    log: str
    disturbed: Told
    undisturbed: Told
    committed: dict[str, dict[int, int]]
    spoilt: Counter[str]
    ends_before: dict[TopicPartition, int]
    ends_after: dict[TopicPartition, int]
    errors: list[Exception]
    looks: int
    contradictions: list[str]
    apart: list[str]

    def differences(self) -> list[str]:
        """What is not as it must be."""
        served = [f"served: {line}" for line in self.contradictions]
        return [*self._unfit(), *self._between_jobs(), *self._from_the_truth(), *served, *self.apart]

    def _unfit(self) -> list[str]:
        """Why nothing can be said."""
        found = [f"the load ended early: {error!r}" for error in self.errors]
        if self.ends_before != self.ends_after:
            found.append(f"the log has grown: {self.ends_before} {self.ends_after}")
        if self.undisturbed.groups.keys() != set(GROUPS):
            found.append(f"not the groups of the load: {sorted(self.undisturbed.groups)}")
        return found

    def _between_jobs(self) -> list[str]:
        ours, wanted = self.disturbed, self.undisturbed
        return [
            *different("group", ours.groups, wanted.groups),
            *different("counter", ours.counters, wanted.counters),
            *different("evaluation errors", {"": ours.evaluation_errors}, {"": 0}),
            *different("finding", ours.findings.open, wanted.findings.open),
        ]

    def _from_the_truth(self) -> list[str]:
        return [
            *different("committed", self.disturbed.offsets(), self.committed),
            *different("unreadable", unreadable(self.disturbed.counters), self.spoilt),
            *different("told findings", self.disturbed.findings.told_apart(), self.disturbed.open_findings()),
            *(f"told without an opening: {line}" for line in self.disturbed.findings.unfounded),
        ]


def different(what: str, ours: Any, wanted: Any) -> list[str]:
    """Where two values differ, as deep as they have the same keys."""
    if ours == wanted:
        return []
    if not (isinstance(ours, dict) and isinstance(wanted, dict)):
        return [f"{what}: {ours} is not {wanted}"]
    keys = sorted(ours.keys() | wanted.keys())
    return [line for key in keys for line in different(f"{what} {key}", ours.get(key), wanted.get(key))]


def run(folder: Path, faults: list[Fault], seed: int, tell: Tell, *, brief: bool = False) -> Outcome:
    """Let the faults happen under load, then compare."""
    settings = BrokerSettings(offsets_topic_partitions=LOG_PARTITIONS, properties=BROKER)
    with EmbeddedKafka(settings, data_dir=folder / "kafka") as kafka, ExitStack() as disks:
        create_topic(kafka.bootstrap_servers, TOPIC, TOPIC_PARTITIONS)
        produce(kafka.bootstrap_servers, TOPIC, dict.fromkeys(range(TOPIC_PARTITIONS), RECORDS))
        for group in GROUPS:  # the offsets topic and all groups exist from now on
            commit(kafka.bootstrap_servers, group, TOPIC, {0: 0})
        disk = mounted(folder, disks, tell)
        place = folder / "disturbed" if disk is None else disk.path
        havoc = Havoc(job_of(kafka, folder / "disturbed", place / "checkpoint"), kafka, disk)
        havoc.job.command = command_of(havoc.job)
        try:
            havoc.start_job()
            with Crowd(kafka.bootstrap_servers) as crowd:
                load = Load(seed, kafka.bootstrap_servers, crowd, LIGHTER if brief else 1.0)
                outcome = compared(havoc, faults, load, folder, tell)
            if brief:
                return outcome
            # without the crowd: its consumers would look for a coordinator again and again, for most of a core
            return replace(outcome, apart=[*without_a_coordinator(havoc, tell), *on_another_kafka(havoc, tell)])
        finally:
            kill_all(processes_of(havoc.job.session))
            havoc.job.wait()


def mounted(folder: Path, disks: ExitStack, tell: Tell) -> Disk | None:
    """A file system for the checkpoint; None where none can be mounted: its faults are passed over then."""
    disk = Disk(folder)
    try:
        disks.enter_context(disk)
    except NoDisk as error:
        tell(f"no file system of its own, so none is full or stands still: {error}")
        return None
    return disk


def without_a_coordinator(havoc: Havoc, tell: Tell) -> list[str]:
    """Start where no coordinator answers: the job needs none."""
    spoil_offsets_log(havoc.kafka.bootstrap_servers, LOG_PARTITIONS)
    havoc.kafka.kill()
    havoc.kafka.start()
    havoc.start_job()
    havoc.job.await_ready()
    code = havoc.job.stop()
    tell(f"without a coordinator: ready, and ended with {code}")
    return [] if code == 0 else [f"without a coordinator it ended with {code}"]


def on_another_kafka(havoc: Havoc, tell: Tell) -> list[str]:
    """Start where an empty cluster has the address of the one that the checkpoint is of."""
    havoc.kafka.stop()
    shutil.rmtree(havoc.kafka.data_dir)
    havoc.kafka.start()
    havoc.start_job()
    code, last = havoc.job.wait(), havoc.job.log().splitlines()[-1]
    tell(f"on another Kafka: {code}, {last}")
    return [] if code == 2 and "--rebuild" in last else [f"on another Kafka it ended with {code}: {last}"]


def job_of(kafka: EmbeddedKafka, folder: Path, checkpoint: Path, new_job: type[JobProcess] = JobProcess) -> JobProcess:
    """A job that finds the same whenever it looks: lag is a finding at once, that nobody commits only after a day."""
    folder.mkdir()
    clusters = {
        CLUSTER: {
            "bootstrap_servers": kafka.bootstrap_servers,
            "collect_interval_s": 1.0,
            "findings_topic": findings_topic_of(folder),
        }
    }
    return new_job(
        folder,
        clusters,
        spark={"checkpoint": str(checkpoint)},
        detection={"commit_silence_s": 86_400, "lag_records": BEHIND},
    )


def findings_topic_of(folder: Path) -> str:
    """Each job has its own, named as its folder is."""
    return f"findings.{folder.name}"


def compared(havoc: Havoc, faults: list[Fault], load: Load, folder: Path, tell: Tell) -> Outcome:
    bootstrap = havoc.kafka.bootstrap_servers
    with Witness(havoc.job, CLUSTER) as witness, load:
        for number, fault in enumerate(faults, 1):
            havoc.happen(fault)
            tell(f"{number}. happened: {fault}")
        await_evaluation(havoc, time.time())
    ends = still(bootstrap)
    tell("nothing moves any more")
    disturbed = final(havoc)
    havoc.job.stop()
    with job_of(
        havoc.kafka, folder / "undisturbed", folder / "undisturbed" / "checkpoint", JobWithoutSpark
    ) as undisturbed:
        wanted = final(Havoc(undisturbed, havoc.kafka))
    return Outcome(
        faults=faults,
        log=havoc.job.log(),
        disturbed=disturbed,
        undisturbed=wanted,
        committed=committed(bootstrap),
        spoilt=spoilt(bootstrap),
        ends_before=ends,
        ends_after=log_ends(bootstrap),
        errors=load.errors,
        looks=len(witness.seen),
        contradictions=[*contradictions(witness.seen, commits_in(records_of_log(bootstrap)))],
        apart=[],
    )


def still(bootstrap: str) -> dict[TopicPartition, int]:
    """Where the offsets log ends, once it has not grown for a while."""
    seen, since = log_ends(bootstrap), time.monotonic()

    def look() -> bool:
        nonlocal seen, since
        now = log_ends(bootstrap)
        if now != seen:
            seen, since = now, time.monotonic()
        return time.monotonic() - since > STILL_S

    eventually(look, "an offsets log that stands still")
    return seen


def final(havoc: Havoc) -> Told:
    """What the job tells when it has judged by all that there is: by a micro-batch that began after this call."""
    began = time.time()

    def collected() -> bool:
        return (havoc.job.metrics().value("groupwatch_catalog_timestamp_seconds", cluster=CLUSTER) or 0) > began

    evaluated = await_evaluation(havoc, began)
    eventually(collected, "a pass of the collector")
    for _ in range(3):  # one that may have begun earlier, one that reads all, one that judges by its catalog
        evaluated = await_evaluation(havoc, evaluated)
    findings = findings_in(havoc.kafka.bootstrap_servers, findings_topic_of(havoc.job.folder))
    return told(havoc.job, CLUSTER, findings)


def main() -> int:
    """Print what happens and every difference; 1 if there was any."""
    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="groupwatch-chaos-"))
    say(f"seed {options.seed}, {options.kills} kills, {options.others} other faults; logs in {folder}")
    faults = plan(options.seed, options.kills, options.others)
    outcome = run(folder, faults, options.seed, say, brief=options.brief)
    sys.stdout.write(json.dumps(report(outcome)) + "\n")
    return exit_code(folder, outcome.differences())


def report(outcome: Outcome) -> dict[str, Any]:
    """What was seen, as JSON has it."""
    return {
        "faults": Counter(str(fault.victim) for fault in outcome.faults),
        "looks": outcome.looks,
        "jvm_ends_told": outcome.log.count("groupwatch stopped: Spark has ended"),
        "spoilt": outcome.spoilt,
        "rebalances": {name: verdict.get("rebalances", 0) for name, verdict in outcome.undisturbed.groups.items()},
        "commits": sum(map(len, outcome.committed.values())),
        "open_findings": len(outcome.disturbed.findings.open),
        "closed_findings": outcome.disturbed.findings.closed,
        "differences": outcome.differences(),
    }


def _options() -> Any:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.run", description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="anything; random if not given")
    parser.add_argument("--kills", type=int, default=20, help="of the job or the broker (20)")
    parser.add_argument("--others", type=int, default=len(OTHERS), help=f"faults that are no kills ({len(OTHERS)})")
    parser.add_argument("--brief", action="store_true", help="with less load, and without what comes in the end")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = secrets.randbelow(10**6)
    return options


if __name__ == "__main__":
    sys.exit(main())
