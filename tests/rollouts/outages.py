"""``python -m tests.rollouts.outages``: gates of a healthy group whose job can say nothing. Each has to end with 2."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from kafka.admin import KafkaAdminClient, NewTopic

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.rollouts.members import LIBRDKAFKA, Pods
from tests.rollouts.run import Producers
from tests.support.clients import commit, create_topic
from tests.support.job_process import JobProcess, await_end, eventually, processes_of
from tests.support.without_spark import JobWithoutSpark

GROUP: Final = "steady"
MEMBERS: Final = ("steady-1", "steady-2")
SOON_S: Final = 12
STALE_AFTER_S: Final = 50
"""The evaluation of a cluster is stale after 30 s."""


class Outage(StrEnum):
    """Why nothing is known of the group when the gate ends."""

    KILLED = "the job was killed"
    HANGS = "the job hangs"
    NOT_READY = "the job has started and does not get ready"
    BLIND = "the broker has stopped answering"


@dataclass
class Scene:
    """A healthy group, its broker, and the job that watches it."""

    kafka: EmbeddedKafka
    job: JobProcess
    folder: Path


@contextmanager
def healthy_group(folder: Path) -> Iterator[Scene]:
    """A group of two members that commit, and a job that is ready."""
    with EmbeddedKafka(BrokerSettings(heap_mb=512)) as kafka:
        bootstrap = kafka.bootstrap_servers
        create_topic(bootstrap, "first", 1)
        commit(bootstrap, "first", "first", {0: 0})  # there is no offsets topic before the first commit
        with KafkaAdminClient(bootstrap_servers=bootstrap) as admin:
            admin.create_topics([NewTopic(GROUP, 4, 1)])
        pods, producers = Pods(bootstrap, None), Producers(bootstrap)
        job = JobWithoutSpark(folder, {"main": {"bootstrap_servers": bootstrap, "collect_interval_s": 1.0}})
        try:
            producers.add(GROUP, 4)
            for name in MEMBERS:
                pods.start(name, GROUP, GROUP, LIBRDKAFKA)
            eventually(lambda: [pods.held(name) for name in MEMBERS] == [2, 2], "an even group", 90)
            job.start()
            job.await_ready()
            yield Scene(kafka, job, folder)
        finally:
            job.kill_all()
            pods.close()
            producers.close()


def exit_code(scene: Scene, outage: Outage) -> int:
    """The exit code of a gate during which this happens. Then, job and broker are as before."""
    said = scene.folder / f"{outage.name}.log"
    with said.open("wb") as log, subprocess.Popen(gate_command(scene, outage), stdout=log, stderr=log) as gate:
        eventually(said.read_bytes, "the first look of the gate", 60)
        BEGIN[outage](scene)
        try:
            return await_end(gate, f"the gate while {outage}", 120)
        finally:
            gate.kill()
            END[outage](scene)
            scene.job.await_ready()


def gate_command(scene: Scene, outage: Outage) -> list[str]:
    """A gate that needs all of its time to pass."""
    file = scene.folder / "steady.toml"
    file.write_text(f'[[expect]]\ngroups = "{GROUP}"\nmembers = {len(MEMBERS)}\n')
    time = f"{STALE_AFTER_S if outage is Outage.BLIND else SOON_S}s"
    words = ["verify", str(file), "--group", GROUP, "--url", scene.job.url, "--wait", time, "--stable", time]
    return [sys.executable, "-m", "monitor.cli", *words]


def _kill(scene: Scene) -> None:
    scene.job.kill_9()


def _start(scene: Scene) -> None:
    scene.job.start()


def _stop_job(scene: Scene) -> None:
    _signal(processes_of(scene.job.session), signal.SIGSTOP)


def _continue_job(scene: Scene) -> None:
    _signal(processes_of(scene.job.session), signal.SIGCONT)


def _stop_broker(scene: Scene) -> None:
    assert scene.kafka.process_group is not None
    os.killpg(scene.kafka.process_group, signal.SIGSTOP)


def _continue_broker(scene: Scene) -> None:
    assert scene.kafka.process_group is not None
    os.killpg(scene.kafka.process_group, signal.SIGCONT)


def _start_and_stop_broker(scene: Scene) -> None:
    """The broker stops answering once the job serves its page, which is about a second before it would be ready."""
    _kill(scene)
    _start(scene)
    assert eventually(lambda: scene.job.status("/readyz"), "the page of the job", pause_s=0.01) == 503
    _stop_broker(scene)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        os.kill(pid, number)


BEGIN: Final[Mapping[Outage, Callable[[Scene], None]]] = {
    Outage.KILLED: _kill,
    Outage.HANGS: _stop_job,
    Outage.NOT_READY: _start_and_stop_broker,
    Outage.BLIND: _stop_broker,
}
END: Final[Mapping[Outage, Callable[[Scene], None]]] = {
    Outage.KILLED: _start,
    Outage.HANGS: _continue_job,
    Outage.NOT_READY: _continue_broker,
    Outage.BLIND: _continue_broker,
}


def main() -> None:
    """Each of them three times."""
    with tempfile.TemporaryDirectory(prefix="groupwatch-outages-") as folder, healthy_group(Path(folder)) as scene:
        codes = []
        for outage in [*Outage] * 3:
            codes.append(exit_code(scene, outage))
            said = (scene.folder / f"{outage.name}.log").read_text().strip().replace("\n", " | ")
            print(f"{codes[-1]} {outage}: {said[-300:]}", flush=True)  # noqa: T201
    sys.exit(codes != [2] * len(codes))


if __name__ == "__main__":
    main()
