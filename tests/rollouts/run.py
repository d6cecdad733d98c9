"""``python -m tests.rollouts.run``: 60 real rollouts beside a job, each with a gate. Ends with 1 if a code is wrong.

Each good one is forecast before it begins, and its moves have to lie in the range of that. Options: ``--runs N``
takes every so many, so that N remain; ``--only TEXT`` those whose story or assignor has it; ``--good`` makes all good.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import urlopen

from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.rollouts.members import Pods, running_pods
from tests.rollouts.stories import Rollout, Story, all_rollouts
from tests.support.clients import commit, create_topic
from tests.support.job_process import eventually, running
from tests.support.without_spark import JobWithoutSpark

AT_ONCE: Final = 4
WAVES: Final = 3
STABLE_S: Final = 8
WAVE_S: Final = 6.0
"""Between two waves."""
PATIENCE_S: Final = 35
"""How long the gate of a bad rollout waits after its last wave."""
LATE_S: Final = 5.0
PER_S: Final = 40
"""Records a second in each topic."""


@dataclass
class Seen:
    """What became of a rollout. ``late_s``: how long after the earliest possible moment a good one was told."""

    rollout: Rollout
    code: int
    late_s: float | None
    answer: dict[str, Any]
    forecast: dict[str, Any]

    @property
    def is_right(self) -> bool:
        return self.code == self.rollout.code and (self.late_s is None or self.late_s <= LATE_S)

    @property
    def is_within(self) -> bool | None:
        """Whether the measured moves are in the forecast's range; None: the rollout was a bad one."""
        if self.rollout.story is not Story.GOOD or self.code:
            return None
        least, _, most = self.forecast_of("moves")
        return least <= self._costs["moved"] <= most

    def forecast_of(self, name: str) -> list[int]:
        """The least, the median and the most of ``rebalances`` or ``moves``, by the forecast."""
        spread = self.forecast["ways"][0][name]
        return [spread["least"], spread["median"], spread["most"]]

    @property
    def costs(self) -> str:
        """The forecast beside what the gate says that it cost."""
        if self.is_within is None:
            return ""
        moves, rebalances = self.forecast_of("moves"), self.forecast_of("rebalances")
        return (
            f"moves: {moves}, measured {self._costs['moved']}{'' if self.is_within else ' OUTSIDE'}; "
            f"rebalances: {rebalances}, measured {self._costs['rebalances']}"
        )

    @property
    def _costs(self) -> dict[str, int]:
        return dict(self.answer["groups"][0]["progress"]["costs"])


class Producers:
    """Records for every partition of the topics, until the end."""

    def __init__(self, bootstrap: str) -> None:
        self._producer = KafkaProducer(bootstrap_servers=bootstrap, linger_ms=20)
        self._topics: dict[str, int] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, topic: str, partitions: int) -> None:
        self._topics[topic] = partitions

    def remove(self, topic: str) -> None:
        self._topics.pop(topic, None)

    def close(self) -> None:
        self._over.set()
        self._thread.join(30)
        self._producer.close(timeout=10)

    def _run(self) -> None:
        turn = 0
        while not self._over.wait(0.25):
            for topic, partitions in list(self._topics.items()):
                for number in range(PER_S // 4):
                    self._producer.send(topic, b"x", partition=(turn + number) % partitions)
            turn += PER_S // 4


@dataclass
class Kit:
    """What all rollouts share."""

    bootstrap: str
    url: str
    pods: Pods
    producers: Producers
    folder: Path


def play(kit: Kit, rollout: Rollout) -> Seen:
    """Start the old pods, then the gate, then replace them; what the gate said."""
    partitions = 2 * rollout.size
    with KafkaAdminClient(bootstrap_servers=kit.bootstrap) as admin:
        admin.create_topics([NewTopic(rollout.topic, partitions, 1)])
    kit.producers.add(rollout.topic, partitions)
    old = [f"{rollout.group}-old-{number}" for number in range(rollout.size)]
    new = [f"{rollout.group}-new-{number}" for number in range(rollout.size)]
    for name in old:
        kit.pods.start(name, rollout.group, rollout.topic, rollout.assignor)
    await_even(kit, old)
    try:
        return _gated(kit, rollout, old, new)
    finally:
        kit.producers.remove(rollout.topic)
        for name in [*old, *new]:
            stop_if_there(kit.pods, name)


def _gated(kit: Kit, rollout: Rollout, old: list[str], new: list[str]) -> Seen:
    answered = kit.folder / f"{rollout.group}.json"
    said = kit.folder / f"{rollout.group}.log"
    forecast = forecast_of(kit, rollout) if rollout.story is Story.GOOD else {}
    with answered.open("wb") as output, said.open("wb") as log:
        gate = subprocess.Popen(gate_command(kit, rollout), stdout=output, stderr=log)
        eventually(said.read_bytes, "the first look of the gate", 60)
        replace(kit, rollout, old, new)
        truth_s = None
        if rollout.story is Story.GOOD:
            await_even(kit, new)
            truth_s = time.monotonic() + 1.0  # the interval of commits
        code = gate.wait(PATIENCE_S * 4)
        ended_s = time.monotonic()
    late_s = None if truth_s is None or code else round(ended_s - truth_s - STABLE_S, 1)
    text = answered.read_text()
    return Seen(rollout, code, late_s, json.loads(text) if text else {}, forecast)


def gate_command(kit: Kit, rollout: Rollout) -> list[str]:
    """The command of a pipeline."""
    file = kit.folder / f"{rollout.group}.toml"
    file.write_text(f'[[expect]]\ngroups = "{rollout.group}"\nmembers = {rollout.size}\nmax_lag_s = 15\n')
    wait_s = 3 + WAVES * WAVE_S + PATIENCE_S
    words = ["verify", str(file), "--group", rollout.group, "--url", kit.url, "--json"]
    options = ["--wait", f"{wait_s:.0f}s", "--stable", f"{STABLE_S}s", "--replaced"]
    return [sys.executable, "-m", "monitor.cli", *words, *options]


def forecast_of(kit: Kit, rollout: Rollout) -> dict[str, Any]:
    """What the job says that it will cost, before it begins: the API has the forecast of groupwatch what-if."""
    surge = -(-rollout.size // WAVES)
    address = f"{kit.url}/api/v1/rollout/main/{rollout.group}?rollout=surge%3D{surge}%2Cstart%3D2s"
    forecast: dict[str, Any] = {}

    def knows_all() -> bool:
        try:
            with urlopen(address, timeout=240) as answer:  # the job answers one such question at a time
                forecast.update(json.load(answer))
        except HTTPError:  # it has not evaluated the group yet
            return False
        return bool(forecast["members"] == rollout.size)

    eventually(knows_all, f"the forecast of {rollout.group} with all members", 240)
    return forecast


def replace(kit: Kit, rollout: Rollout, old: list[str], new: list[str]) -> None:
    """Replace the pods in waves, well or not."""
    group = f"{rollout.group}-v2" if rollout.story is Story.OTHER_GROUP else rollout.group
    topic = f"{rollout.topic}-v2" if rollout.story is Story.NO_TOPIC else rollout.topic
    size = -(-len(old) // WAVES)
    for first in range(0, len(old), size):
        for number in range(first, min(first + size, len(old))):
            commits = not (rollout.story is Story.NEVER_COMMITS and number == 0)
            kit.pods.start(new[number], group, topic, rollout.assignor, commits=commits)
            if not (rollout.story is Story.ONE_STAYS and number == 0):
                kit.pods.stop(old[number])
        if first + size < len(old):
            time.sleep(WAVE_S)
    if rollout.story is Story.HANGS:
        await_even(kit, new)
        kit.pods.hang(new[0])


def await_even(kit: Kit, names: list[str]) -> None:
    """Until each of them has its two partitions."""
    eventually(lambda: [kit.pods.held(name) for name in names] == [2] * len(names), f"{names[0]} and others even", 90)


def stop_if_there(pods: Pods, name: str) -> None:
    try:
        pods.stop(name)
    except Exception:
        return


def run(rollouts: list[Rollout], folder: Path, at_once: int = AT_ONCE) -> list[Seen]:
    """Play them, some at once."""
    with EmbeddedKafka(BrokerSettings(heap_mb=512)) as kafka, running_pods(kafka.bootstrap_servers) as pods:
        create_topic(kafka.bootstrap_servers, "first", 1)
        commit(kafka.bootstrap_servers, "first", "first", {0: 0})  # there is no offsets topic before the first commit
        clusters = {"main": {"bootstrap_servers": kafka.bootstrap_servers, "collect_interval_s": 1.0}}
        with (
            running(JobWithoutSpark(folder, clusters)) as job,
            closing(Producers(kafka.bootstrap_servers)) as producers,
        ):
            kit = Kit(kafka.bootstrap_servers, job.url, pods, producers, folder)
            with ThreadPoolExecutor(at_once) as players:
                return list(players.map(lambda each: _told(kit, each), rollouts))


def _told(kit: Kit, rollout: Rollout) -> Seen:
    seen = play(kit, rollout)
    sign = "ok " if seen.is_right else "BAD"
    name = f"{rollout.number:3} {rollout.assignor:24} {rollout.size:3} {rollout.story:50}"
    print(f"{sign} {name} {seen.code} {seen.late_s} {seen.costs}", flush=True)  # noqa: T201
    if not seen.is_right:
        print(json.dumps(seen.answer)[:1500], flush=True)  # noqa: T201
    return seen


def main() -> None:
    """Play and report; JSON goes to build/rollouts.json."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--good", action="store_true")
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    chosen = parser.parse_args()
    rollouts = [each for each in all_rollouts() if chosen.only in f"{each.assignor} {each.story}"]
    if chosen.good:
        rollouts = [Rollout(each.number, each.assignor, each.size, Story.GOOD) for each in rollouts]
    rollouts = rollouts[:: max(1, len(rollouts) // chosen.runs)][: chosen.runs]
    with tempfile.TemporaryDirectory(prefix="groupwatch-rollouts-") as folder:
        seen = run(rollouts, Path(folder), chosen.at_once)
    report = Path("build/rollouts.json")
    report.parent.mkdir(exist_ok=True)
    report.write_text(
        json.dumps([asdict(each) | {"right": each.is_right, "within": each.is_within} for each in seen], indent=1)
        + "\n"
    )
    wrong = [each for each in seen if not each.is_right]
    late = sorted(each.late_s for each in seen if each.late_s is not None)
    print(f"{len(seen) - len(wrong)} of {len(seen)} right; late by at most {late[-1] if late else 0} s")  # noqa: T201
    forecast = [each.is_within for each in seen if each.is_within is not None]
    print(f"{sum(forecast)} of {len(forecast)} cost as many moves as forecast")  # noqa: T201
    sys.exit(bool(wrong) or not all(forecast))


if __name__ == "__main__":
    main()
