"""All scenarios at the same time, on one broker and one job: ``python -m tests.scenarios.run [NAME ...]``.

Prints what happened as it does, and at last a report in JSON: each scenario's story (see tests.scenarios.scenario).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import msgspec

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.history.delta_tables import DeltaRecording
from monitor.history.report.assemble import group_report
from tests.scenarios.churn_groups import Churn
from tests.scenarios.hearing import Hearing, Pace, cpu_seconds, evaluated_s, now_ms
from tests.scenarios.judging import differences, has_opened, is_complete, is_past, latencies, timeline
from tests.scenarios.scenario import Scenario, Story, as_json
from tests.scenarios.settings import BROKER, CLUSTER, DETECTION
from tests.scenarios.stage import Load, Stage, miss_soon, short, wait_until
from tests.scenarios.table import SCENARIOS
from tests.support.clients import commit, create_topic
from tests.support.crowd import Crowd
from tests.support.job_process import JobProcess, eventually
from tests.support.progress import exit_code, say
from tests.support.without_spark import JobWithoutSpark

NAME: Final = "scenarios"
"""The cluster's."""
CALM_S: Final = 8
"""How long is listened after the last step, and after the last thing that had to be told."""

RECORDED_EVERY_S: Final = 10
"""How often the job writes its recording: the reports of incidents are made of it at the end."""

HISTORY: Final = "history"
"""The folder of the recording."""

CALM_BEFORE_S: Final = 5
"""A report begins so long before the script."""

SETTLED_S: Final = 60
"""How long a step waits for its group to settle."""
COUNTER: Final = re.compile(r'^groupwatch_group_(\w+_total)\{cluster="[^"]*",group="([^"]*)"\} (\S+)$', re.MULTILINE)

Tell = Callable[[str], Any]


class Play:
    """The scenarios on their stage, from the moment at which they begin."""

    def __init__(
        self, scenarios: Sequence[Scenario], stage: Stage, job: JobProcess, hearing: Hearing, pace: Pace
    ) -> None:
        self._scenarios = scenarios
        self._stage = stage
        self._job = job
        self._hearing = hearing
        self._pace = pace
        self._done: dict[str, dict[str, int]] = {each.name: {} for each in scenarios}
        self._rebalances_before = {each.name: self._verdict(each.name).get("rebalances", 0) for each in scenarios}
        self._counted_before = counters(job)
        self._counted: dict[str, dict[str, float]] = {}
        self._began_ms = now_ms()

    def perform(self, tell: Tell) -> None:
        """Every step at its time, each scenario by itself; errors are raised at the end."""
        with ThreadPoolExecutor(max(len(self._scenarios), 1)) as threads:
            for ended in [threads.submit(self._perform_all, each, tell) for each in self._scenarios]:
                ended.result()

    def _perform_all(self, scenario: Scenario, tell: Tell) -> None:
        for step in scenario.steps:
            wait_until(self._began_ms / 1000 + step.at_s)
            while not has_opened(scenario, self._story(scenario), step.name):
                time.sleep(0.5)
            if step.members is not None:
                self._await_settled(scenario, step.members)
            self._done[scenario.name][step.name] = now_ms()
            self._stage.perform(scenario.name, step.action)
            tell(f"{scenario.name}: {step.name}")
        members = max((step.members or 0 for step in scenario.steps), default=0)
        if members:  # what the last of them does belongs to the story
            self._await_settled(scenario, members)

    def _await_settled(self, scenario: Scenario, members: int) -> None:
        """If it does not come, the step is done all the same: the counters will tell."""
        deadline = time.monotonic() + SETTLED_S
        while time.monotonic() < deadline and not is_settled(self._verdict(scenario.name), members):
            time.sleep(0.5)

    def await_findings(self) -> None:
        """Until all has been told that must be, or it is too late for it."""
        while not all(self._is_over(each) for each in self._scenarios):
            time.sleep(0.5)
        time.sleep(CALM_S + self._pace.late_s)  # what must not be told would be told now

    def _is_over(self, scenario: Scenario) -> bool:
        story = self._story(scenario)
        return is_complete(scenario, story) or is_past(scenario, story)

    def stories(self) -> list[Story]:
        """What happened by now, with how the groups stand now."""
        self._counted = counters(self._job)
        return [self._with_its_end(self._story(each)) for each in self._scenarios]

    def _story(self, scenario: Scenario) -> Story:
        return Story(
            scenario=scenario.name,
            began_ms=self._began_ms,
            ended_ms=now_ms(),
            done_ms=dict(self._done[scenario.name]),
            told=self._hearing.of(scenario.name),
            late_s=self._pace.late_by_now_s,
            stalls=self._stage.stalls(scenario.name),
        )

    def _with_its_end(self, story: Story) -> Story:
        verdict = self._verdict(story.scenario)
        owners: dict[str, int] = {}
        for row in verdict.get("partitions", []):
            topic = short(story.scenario, row["topic"])
            owners[topic] = owners.get(topic, 0) + bool(row.get("owners"))
        before = self._rebalances_before[story.scenario]
        rebalances = verdict.get("rebalances", 0) - before if verdict else None
        counted_before = self._counted_before.get(story.scenario, {})
        counted = self._counted.get(story.scenario, {})
        return msgspec.structs.replace(
            story,
            rebalances=rebalances,
            owners=owners,
            late_s=self._pace.late_s,
            counted={name: round(value - counted_before.get(name, 0.0), 3) for name, value in counted.items()},
        )

    def _verdict(self, group: str) -> dict[str, Any]:
        """What the API says of a group; nothing of one that does not exist."""
        is_there = self._job.status(f"/api/v1/groups/{NAME}/{group}") == 200
        return self._job.group(NAME, group) if is_there else {}


def counters(job: JobProcess) -> dict[str, dict[str, float]]:
    """The counters of each group, by its name. To parse all of /metrics takes long."""
    found: dict[str, dict[str, float]] = {}
    for name, group, value in COUNTER.findall(job.get("/metrics")):
        found.setdefault(group, {})[name] = float(value)
    return found


def is_settled(verdict: Mapping[str, Any], members: int) -> bool:
    """Whether the group has so many members, and every partition an owner."""
    rows = verdict.get("partitions", [])
    is_owned = all(row.get("owners") for row in rows)
    return verdict.get("state") == "stable" and len(verdict["members"]) == members and is_owned


def run(
    scenarios: Sequence[Scenario], folder: Path, seed: int | None, tell: Tell, *, without_spark: bool = False
) -> dict[str, Any]:
    """The report of a play. With a seed, healthy groups churn beside it.

    ``without_spark``: it is played. Then nothing is recorded, and there are no reports.
    """
    begun = time.monotonic()
    with ExitStack() as stack:
        kafka = stack.enter_context(EmbeddedKafka(BrokerSettings(properties=BROKER), data_dir=folder / "kafka"))
        bootstrap = kafka.bootstrap_servers
        create_topic(bootstrap, "first", 1)
        commit(bootstrap, "first", "first", {0: 0})  # the offsets topic exists from now on
        # first, as the members take most of a core: beside them a job starts in minutes
        job = stack.enter_context(job_of(bootstrap, folder, scenarios, without_spark=without_spark))
        job.await_ready()
        tell("the job is ready")
        polite, doomed = (stack.enter_context(Crowd(bootstrap)) for _ in range(2))
        load = stack.enter_context(Load(bootstrap))
        stage = Stage(bootstrap, polite, doomed, load)
        stack.callback(stage.close)
        deadly = [each.name for each in scenarios if any(member.where == "doomed" for member in each.members)]
        miss_soon(bootstrap, deadly)
        stage.set_up(scenarios)
        churn = Churn(seed, polite) if seed is not None else None
        if churn is not None:
            stage.create(churn.topics)
            load.add(*churn.topics)
            miss_soon(bootstrap, churn.groups)
            churn.set_up()
        tell("all members have their assignments")
        await_evaluations(job, 3)
        hearing = stack.enter_context(Hearing(bootstrap))
        pace = stack.enter_context(Pace(job))
        play = Play(scenarios, stage, job, hearing, pace)
        if churn is not None:
            churn.start()
        play.perform(tell)
        play.await_findings()
        if churn is not None:
            churn.stop()
        stories = play.stories()
        return {
            "stories": [as_json(story) for story in stories],
            "reports": {} if without_spark else {story.scenario: reported(folder, story) for story in stories},
            "churn": churn.report(hearing, pace.late_s) if churn is not None else None,
            "failures": [*stage.failures(), *load.errors],
            "evaluation_errors": job.metrics().value("groupwatch_evaluation_errors_total", cluster=NAME),
            "strangers": sorted(
                hearing.groups() - {each.name for each in scenarios} - set(churn.groups if churn else ())
            ),
            "longest_without_evaluation_s": round(pace.longest_s, 1),
            "wall_s": round(time.monotonic() - begun, 1),
            "cpu_s": cpu_seconds(),
        }


def reported(folder: Path, story: Story) -> Any:
    """The report on a scenario from the recording, without what diagrams are drawn from; None: there was no group."""
    eventually(lambda: recording_of(folder).reach_ms(NAME) >= story.ended_ms, "the recording of all that happened")
    recording = recording_of(folder)
    report = group_report(recording, NAME, story.scenario, story.began_ms - CALM_BEFORE_S * 1000, story.ended_ms)
    return None if report is None else as_json(msgspec.structs.replace(report, points=(), owners=()))


def recording_of(folder: Path) -> DeltaRecording:
    """What is recorded by now."""
    return DeltaRecording(str(folder / HISTORY))


def job_of(
    bootstrap: str, folder: Path, scenarios: Sequence[Scenario] = (), *, without_spark: bool = False
) -> JobProcess:
    """A job with small thresholds, smaller ones for the scenarios that want them. With Spark, it records, too."""
    overrides = [{"groups": each.name, **DETECTION, **each.thresholds} for each in scenarios if each.thresholds]
    detection = DETECTION | {"overrides": overrides}
    clusters = {NAME: {"bootstrap_servers": bootstrap, **CLUSTER}}
    if without_spark:
        return JobWithoutSpark(folder, clusters, detection=detection)
    history = {"folder": str(folder / HISTORY), "every_s": RECORDED_EVERY_S}
    return JobProcess(folder, clusters, detection=detection, history=history)


def await_evaluations(job: JobProcess, count: int) -> None:
    """Until groups have been judged so many times more."""
    for _ in range(count):
        before = evaluated_s(job)
        eventually(lambda before=before: evaluated_s(job) != before, "an evaluation")


def main() -> int:
    """1 if something is not as the scenarios want it."""
    options = _options()
    chosen = [each for each in SCENARIOS if not options.names or each.name in options.names]
    folder = Path(tempfile.mkdtemp(prefix="groupwatch-scenarios-"))
    say(f"{len(chosen)} scenarios; logs in {folder}")
    report = run(chosen, folder, options.seed, say, without_spark=options.without_spark)
    stories = {story["scenario"]: story for story in report["stories"]}
    found = 0
    for scenario in chosen:
        found += _tell_of(scenario, stories[scenario.name], verbose=options.verbose)
    sys.stdout.write(json.dumps(report) + "\n")
    return exit_code(folder, found)


def _tell_of(scenario: Scenario, as_told: dict[str, Any], *, verbose: bool) -> int:
    story = story_of(as_told)
    different = differences(scenario, story)
    say(f"{scenario.name}: {'as it should be' if not different else 'NOT as it should be'}")
    for line in [*latencies(scenario, story), *different]:
        say(f"    {line}")
    if different or verbose:
        for line in timeline(story).splitlines():
            say(f"        {line}")
    return len(different)


def story_of(as_told: dict[str, Any]) -> Story:
    """A story as it was before it became JSON."""
    return msgspec.convert(as_told, Story)


def _options() -> Any:
    parser = argparse.ArgumentParser(prog="python -m tests.scenarios.run", description=__doc__)
    parser.add_argument("names", nargs="*", help="of scenarios; all if none is given")
    parser.add_argument("--seed", type=int, default=None, help="let healthy groups churn beside the scenarios")
    parser.add_argument("--without-spark", action="store_true", help="play Spark, and write no reports")
    parser.add_argument("--verbose", action="store_true", help="tell all that was told")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
