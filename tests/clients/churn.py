"""Real groups of all client libraries beside a job: ``python -m tests.clients.churn [--minutes 10] [--seed N]``.

Members join, leave and restart all the time. Prints a report, at last in JSON: findings of healthy groups that grew
older than they may, how soon orphans were told that KafkaJS and @platformatic/kafka leave, and of how many members the
library was recognized.
"""

from __future__ import annotations

import argparse
import json
import re
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.clients.fleet import Fleet
from tests.clients.generations import GroupLog, misplaced, unassigned
from tests.clients.groups import TOPICS, Group, groups_of
from tests.clients.judging import Orphaning, false_alarm, orphanings, recognition, spans_not_assigned
from tests.clients.libraries import CLIENTS, Client
from tests.clients.member_churn import MemberChurn
from tests.clients.recognizing import Recognizing
from tests.clients.toolchain import available_clients
from tests.scenarios.churn_groups import oldest_s
from tests.scenarios.hearing import Hearing, Pace, cpu_seconds, memory_mb, now_ms
from tests.scenarios.judging import spells_of
from tests.scenarios.run import NAME, await_evaluations, job_of
from tests.scenarios.settings import SESSION_S
from tests.scenarios.stage import Load
from tests.support.clients import commit, create_topic
from tests.support.progress import exit_code, say

LOG_PARTITIONS: Final = 8
BROKER: Final = BrokerSettings(
    offsets_topic_partitions=LOG_PARTITIONS,
    properties={
        "group.initial.rebalance.delay.ms": "0",
        "group.min.session.timeout.ms": str(SESSION_S * 1000),
    },
)


NUMBER: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+")
RECORDS: Final = "records.jsonl"
"""In the folder of a run: the generations of groups of which something was told that is not true, or that fail."""


class Watch:
    """What is observed of the groups from now on, while they churn: by the job, and beside it."""

    def __init__(self, hearing: Hearing, log: GroupLog, recognizing: Recognizing, pace: Pace) -> None:
        self._began_ms = now_ms()
        self._hearing = hearing
        self._log = log
        self._recognizing = recognizing
        self._pace = pace

    def report(self, groups: Sequence[Group]) -> dict[str, Any]:
        """Findings, orphans and recognized libraries of these groups, up to now."""
        for group in groups:
            self._recognizing.look(group)
        end_ms = now_ms()
        return {
            **self._findings(groups, end_ms),
            "orphans": {
                "unassigned": self._orphans(groups, end_ms, lambda each: unassigned(each, TOPICS)),
                "misplaced": self._orphans(groups, end_ms, misplaced),
            },
            "recognition": recognition(self._recognizing.members()),
            "late_s": self._pace.late_s,
            "longest_without_evaluation_s": round(self._pace.longest_s, 1),
        }

    def keep_records(self, groups: Iterable[str], file: Path) -> None:
        """Write all generations of these groups, in the form of captures."""
        lines = (json.dumps(record) + "\n" for group in groups for record in self._log.records(group))
        file.write_text("".join(lines), encoding="utf-8")

    def _findings(self, groups: Sequence[Group], end_ms: int) -> dict[str, Any]:
        spells = [(group, spell) for group in groups for spell in spells_of(self._hearing.of(group.name))]
        spans = {
            group.name: spans_not_assigned(
                self._log.generations(group.name), lambda each: unassigned(each, TOPICS) | misplaced(each), end_ms
            )
            for group in groups
        }
        false = [
            (group, spell, why)
            for group, spell in spells
            if (why := false_alarm(group, spell, end_ms, self._pace.late_s, spans[group.name])) is not None
        ]
        return {
            "told": len(spells),
            "oldest_s": oldest_s((group.name, spell) for group, spell in spells),
            "false_alarms": [why for _, spell, why in false if spell.kind != "drift"],
            "drift": [why for _, spell, why in false if spell.kind == "drift"],
            "sentences": {
                name: [f"{told.at_ms} {told.event} {told.sentence}" for told in self._hearing.of(name)]
                for name in sorted({group.name for group, _, _ in false} | {each.name for each in groups if each.fails})
            },
        }

    def _orphans(self, groups: Iterable[Group], end_ms: int, orphans: Any) -> dict[str, Any]:
        found = [
            each
            for group in groups
            if group.leaves_topics_out
            for each in orphanings(
                self._log.generations(group.name), orphans, self._hearing.of(group.name), self._began_ms, end_ms
            )
        ]
        return orphans_report(found, self._pace.late_s)


def orphans_report(found: Sequence[Orphaning], late_s: float) -> dict[str, Any]:
    """How many generations left partitions without a reader, and how soon that was told."""
    told = sorted(each.told_s for each in found if each.told_s is not None)
    return {
        "generations": len(found),
        "told": len(told),
        "median_s": told[len(told) // 2] if told else None,
        "longest_s": told[-1] if told else None,
        "over_before_told": len([each for each in found if each.told_s is None and not each.is_late(late_s)]),
        "late": [
            f"{each.group}: generation {each.generation} at {each.at_ms} left {each.partitions} for {each.lasted_s} s; "
            + (f"told after {each.told_s} s" if each.told_s is not None else "never told")
            for each in found
            if each.is_late(late_s)
        ],
    }


def run(
    clients: Iterable[Client],
    minutes: float,
    seed: int,
    folder: Path,
    names: Sequence[str] = (),
    *,
    without_spark: bool = False,
) -> dict[str, Any]:
    """The report of so many minutes. ``names``: only groups whose names contain one of these."""
    programs, skipped = available_clients(clients, say)
    for name, why in skipped.items():
        say(f"no members of {name}: {why}")
    groups = [group for group in groups_of(programs) if not names or any(name in group.name for name in names)]
    with ExitStack() as stack:
        kafka = stack.enter_context(EmbeddedKafka(BROKER, data_dir=folder / "kafka"))
        bootstrap = kafka.bootstrap_servers
        for topic, partitions in TOPICS.items():
            create_topic(bootstrap, topic, partitions)
        commit(bootstrap, "first", next(iter(TOPICS)), {0: 0})  # the offsets topic exists from now on
        load, fleet = stack.enter_context(Load(bootstrap)), stack.enter_context(Fleet(bootstrap, programs))
        load.add(*TOPICS)
        churn = MemberChurn(seed, fleet, groups)
        churn.set_up()
        say(f"the members of {len(groups)} groups have their partitions")
        job = stack.enter_context(job_of(bootstrap, folder, without_spark=without_spark))
        job.await_ready()
        await_evaluations(job, 3)
        hearing = stack.enter_context(Hearing(bootstrap))
        log = stack.enter_context(GroupLog(bootstrap, LOG_PARTITIONS))
        pace = stack.enter_context(Pace(job))
        recognizing = stack.enter_context(Recognizing(job, groups))
        watch = Watch(hearing, log, recognizing, pace)
        say(f"the job is ready; {minutes:g} minutes of churn begin")
        churn.start()
        time.sleep(minutes * 60)
        churn.stop()
        await_evaluations(job, 3)
        found = watch.report([replace(group, lost=group.name in churn.lost) for group in groups])
        watch.keep_records(found["sentences"], folder / RECORDS)
        return {
            "seed": seed,
            "minutes": minutes,
            "clients": {client.name: client.version for client in programs},
            "skipped": skipped,
            "groups": len(groups),
            "done": dict(churn.done),
            **found,
            "rebalances": {group.name: job.group(NAME, group.name).get("rebalances", 0) for group in groups},
            "ended": churn.ended,
            "failures": [*fleet.events("failed"), *load.errors],
            "troubles": troubles_of(fleet.events("trouble")),
            "cpu_s": cpu_seconds(),
            "memory_mb": memory_mb(),
        }


def troubles_of(events: Iterable[dict[str, Any]]) -> dict[str, int]:
    """How often members went on after which errors, the most frequent ones: by library, without their numbers."""
    texts = (f"{event['name'].partition('.')[0]}: {NUMBER.sub('#', event['error'])[:120]}" for event in events)
    return dict(Counter(texts).most_common(30))


def main() -> int:
    """1 if something was told wrongly or too late, or a library not recognized as it has to be."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients.churn", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (10)")
    parser.add_argument("--seed", type=int, default=None, help="anything; random if not given")
    parser.add_argument("--libraries", default=None, help="only these, with commas between them")
    parser.add_argument("--groups", default=None, help="only groups with one of these in their names")
    parser.add_argument("--without-spark", action="store_true", help="play Spark, and keep no recording")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else secrets.randbelow(10**6)
    folder = Path(tempfile.mkdtemp(prefix="groupwatch-clients-"))
    say(f"seed {seed}; logs in {folder}")
    report = run(
        [client for client in CLIENTS if options.libraries is None or client.name in options.libraries.split(",")],
        options.minutes,
        seed,
        folder,
        options.groups.split(",") if options.groups else (),
        without_spark=options.without_spark,
    )
    wrong = list(faults(report))
    for line in wrong:
        say(line)
    sys.stdout.write(json.dumps(report) + "\n")
    return exit_code(folder, wrong)


ONE_LIBRARY: Final = 0.8
"""Of so many members must be told which library it is, and not only a set that contains it."""


def faults(report: dict[str, Any]) -> Iterable[str]:
    """What in a report is not as it has to be."""
    yield from (f"FALSE ALARM {line}" for line in [*report["false_alarms"], *report["drift"]])
    for what, orphans in report["orphans"].items():
        yield from (f"LATE {what}: {line}" for line in orphans["late"])
    recognized = report["recognition"]
    yield from (f"WRONG LIBRARY {line}" for line in recognized["wrong"])
    if recognized["as_one"] < ONE_LIBRARY:
        yield f"only {recognized['as_one']:.0%} of the members were recognized as one library"
    yield from (f"FAILED {event}" for event in report["failures"])


if __name__ == "__main__":
    sys.exit(main())
