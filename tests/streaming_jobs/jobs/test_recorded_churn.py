"""Real groups of all assignors churn beside a job that records every minute: the past is as the job had shown it."""

from __future__ import annotations

import json
import random
import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.detection.evaluation_input import GroupInputs
from monitor.history.delta_tables import DeltaRecording
from monitor.history.recorded import NotRecordedError, RecordingError
from monitor.history.walk import GroupWalk
from monitor.snapshot_file import find_inputs
from tests.scenarios.churn_groups import Churn
from tests.scenarios.settings import BROKER
from tests.scenarios.stage import Load, miss_soon
from tests.streaming_jobs.jobs.test_recording import EARLY_MS, LATE, LATE_MS, told, told_by
from tests.support.clients import commit, create_topic
from tests.support.crowd import Crowd
from tests.support.job_process import JobProcess, eventually, running
from tests.support.progress import say

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(7_200)]

CLUSTER: Final = "churn"
FIRST_RECORDED_S: Final = 300
"""How long the first portion of a recording may take: a minute, and the start of its query."""


@dataclass(frozen=True)
class Length:
    """At how many instants the job is looked at, and how far apart these are on average."""

    instants: int
    apart_s: float


SHORT: Final = Length(60, 1.8)
LONG: Final = Length(1_000, 1.8)
"""Half an hour."""


@dataclass
class Churned:
    """What the job had shown at some instants, as snapshots of all groups, and what it recorded meanwhile."""

    folder: Path
    groups: list[str]
    shown: list[bytes] = field(default_factory=list)

    @property
    def recording(self) -> DeltaRecording:
        """As it is now."""
        return DeltaRecording(str(self.folder))

    def inputs_shown(self, group: str) -> list[GroupInputs]:
        """What the verdicts on a group had been made of, each once."""
        found = [find_inputs(snapshot.splitlines(keepends=True), CLUSTER, group) for snapshot in self.shown]
        return list({inputs.now_ms: inputs for inputs in found}.values())

    def reaches(self, at_ms: int) -> bool:
        """Whether the recording reaches until an instant."""
        try:
            return self.recording.reach_ms(CLUSTER) > at_ms
        except (NotRecordedError, RecordingError):
            return False


@pytest.fixture(
    scope="module",
    params=[
        # Long, too: with its start and its comparison it takes five minutes.
        pytest.param(SHORT, id="two minutes", marks=[pytest.mark.long]),
        pytest.param(LONG, id="half an hour", marks=[pytest.mark.long]),
    ],
)
def churned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Churned]:
    """Members of healthy groups came, went and restarted, and a job that records by default was looked at."""
    folder, length = tmp_path_factory.mktemp("churn"), request.param
    with ExitStack() as stack:
        kafka = stack.enter_context(EmbeddedKafka(BrokerSettings(properties=BROKER), data_dir=folder / "kafka"))
        churn, bootstrap = churn_of(kafka, stack), kafka.bootstrap_servers
        found = Churned(folder / "history", churn.groups)
        clusters = {CLUSTER: {"bootstrap_servers": bootstrap, "collect_interval_s": 1.0}}
        job = stack.enter_context(running(JobProcess(folder, clusters, history={"folder": str(found.folder)})))
        eventually(lambda: found.reaches(0), "the first portion of the recording", FIRST_RECORDED_S)
        churn.start()
        look(job, found, length, random.Random(length.instants))
        churn.stop()
        ended_ms = time.time_ns() // 1_000_000
        eventually(lambda: found.reaches(ended_ms + LATE_MS), "all that happened in the recording", FIRST_RECORDED_S)
        yield found


def churn_of(kafka: EmbeddedKafka, stack: ExitStack) -> Churn:
    """Members of all groups, which have their partitions, and records that keep coming."""
    bootstrap = kafka.bootstrap_servers
    for topic, partitions in Churn.topics.items():
        create_topic(bootstrap, topic, partitions)
    commit(bootstrap, "first", next(iter(Churn.topics)), {0: 0})  # the offsets topic exists from now on
    load = stack.enter_context(Load(bootstrap))
    load.add(*Churn.topics)
    churn = Churn(25, stack.enter_context(Crowd(bootstrap)), every_s=1.0)
    miss_soon(bootstrap, churn.groups)
    churn.set_up()
    return churn


def look(job: JobProcess, churned: Churned, length: Length, chance: random.Random) -> None:
    """Take snapshots of all groups at instants of chance."""
    for _ in range(length.instants):
        time.sleep(chance.uniform(0.1, 2 * length.apart_s - 0.1))  # instants by chance: nothing is awaited
        churned.shown.append(job.get("/api/v1/snapshot").encode())


@dataclass
class Compared:
    """How verdicts that were shown stand to those of the recording.

    ``late``: how many were as those of so many ms before, by quarters of a second. ``apart``: how many more are so by
    the pass that the job knew then: it reads the log of offsets and the events topic one after the other. ``unlike``:
    the others, with all that they were held against.
    """

    late: Counter[int] = field(default_factory=Counter)
    apart: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    generations: int = 0
    unlike: list[tuple[Any, ...]] = field(default_factory=list)


def compare(churned: Churned, group: str, compared: Compared) -> None:
    """Each verdict that was shown with those of the moments before it: what was known is what had been read by then."""
    shown = churned.inputs_shown(group)
    first, last = shown[0].now_ms, shown[-1].now_ms
    walk = GroupWalk(churned.recording, CLUSTER, group, first - LATE_MS, last + EARLY_MS)
    happened = sorted({*walk.event_times, *walk.further_times})
    moments = {inputs.now_ms: moments_of(inputs.now_ms, happened) for inputs in shown}
    walked = ((at_ms, walk.inputs_at(at_ms)) for at_ms in sorted(set(chain.from_iterable(moments.values()))))
    then = {at_ms: told(known) for at_ms, known in walked if known is not None}
    for inputs in shown:
        wanted, now_ms = told(inputs), inputs.now_ms
        compared.findings.update({f"{kind}/{reason}" for kind, reason, *_ in wanted[3]})
        replayed = [(now_ms - at_ms, told_by(then[at_ms], now_ms)) for at_ms in moments[now_ms] if at_ms in then]
        late = next((late_ms for late_ms, known in replayed if known == wanted), None)
        if late is not None:
            compared.late[late // 250 * 250] += 1
        elif wanted in told_by_pass(churned, group, inputs, moments[now_ms]):
            compared.apart += 1
        else:
            compared.unlike.append((group, now_ms, wanted, replayed))
    compared.generations += len({inputs.group.generation for inputs in shown})


def told_by_pass(churned: Churned, group: str, shown: GroupInputs, moments: list[int]) -> list[tuple[Any, ...]]:
    """What the recording tells of some moments if the newest pass is that of a verdict; none of an older pass."""
    pass_ms = shown.catalog.pass_ms
    if pass_ms < shown.now_ms - LATE_MS:
        return []
    walk = GroupWalk(churned.recording, CLUSTER, group, min(moments), max(moments))
    known = [inputs for at_ms in sorted(moments) if (inputs := walk.inputs_at(at_ms)) is not None]
    by_pass = [replace(inputs, catalog=replace(inputs.catalog, pass_ms=pass_ms)) for inputs in known]
    return [told_by(told(inputs), shown.now_ms) for inputs in by_pass]


def moments_of(now_ms: int, happened: list[int]) -> list[int]:
    """The moments whose state a verdict may have, the likeliest first: also those that lasted milliseconds."""
    between = happened[bisect_left(happened, now_ms - LATE_MS) : bisect_right(happened, now_ms + EARLY_MS)]
    return [*(now_ms - late_ms for late_ms in LATE), *reversed(between)]


def test_the_past_of_every_group_is_as_the_job_had_shown_it(churned: Churned):
    compared = Compared()
    for group in churned.groups:
        compare(churned, group, compared)
    told_of = {"late_ms": compared.late, "apart": compared.apart, "findings": compared.findings}
    say(json.dumps({**told_of, "generations": compared.generations}))
    for name, now_ms, wanted, replayed in compared.unlike:
        say(f"unlike: {name} at {now_ms}: {wanted}")
        for late_ms, known in replayed:
            say(f"    {late_ms} ms before: {[mine for mine, its in zip(known, wanted, strict=True) if mine != its]}")
    assert [each[:2] for each in compared.unlike] == []
    assert compared.late.total() > len(churned.shown)
    assert compared.generations > 2 * len(churned.groups)
