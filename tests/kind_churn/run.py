"""Healthy groups of every kind on a broker: ``python -m tests.kind_churn.run [--minutes 10] [--seed N]``.

Their members come and go, topics, connectors and groups are created and deleted, and transactions are aborted, under a
steady load. All groups are judged once a second. Prints what was found, at last as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.detection import DetectionSettings
from tests.kind_churn.allowed import false_findings
from tests.kind_churn.connect import CLUSTER, ConnectGroups
from tests.kind_churn.faust import FaustGroup
from tests.kind_churn.healthy_groups import Churn, HealthyGroups
from tests.kind_churn.kept import KeptGroups
from tests.kind_churn.members import StaticMembers, healthy_members, readers_without_commits, two_applications
from tests.kind_churn.share import ShareGroup
from tests.kind_churn.streams import BROKER, StreamsGroup
from tests.kind_churn.subscriptions import Expressions, LateTopics
from tests.kind_churn.throwaway import ThrowawayGroups
from tests.kind_churn.transactions import ExactlyOnce
from tests.kind_churn.watching import Watch
from tests.scenarios.hearing import cpu_seconds, late_s, now_ms
from tests.scenarios.settings import BROKER as QUICK_BROKER
from tests.scenarios.settings import COMMIT_SILENCE_S, STORM_WINDOW_S
from tests.scenarios.stage import Load
from tests.support.clients import create_topic
from tests.support.crowd import Crowd
from tests.support.job_process import eventually
from tests.support.progress import exit_code, say

SETTINGS: Final = DetectionSettings(commit_silence_ms=COMMIT_SILENCE_S * 1000, storm_window_ms=STORM_WINDOW_S * 1000)


@dataclass(frozen=True)
class Shared:
    """What the groups of a run share: a broker, a folder, a process with consumers, and the load."""

    bootstrap: str
    folder: Path
    crowd: Crowd
    load: Load


KINDS: Final[Mapping[str, Callable[[Shared], HealthyGroups]]] = {
    "share": lambda own: ShareGroup(own.bootstrap),
    "streams-classic": lambda own: StreamsGroup(own.bootstrap, own.folder, "streams-classic"),
    "streams-kip1071": lambda own: StreamsGroup(own.bootstrap, own.folder, "streams-kip1071"),
    "connect": lambda own: ConnectGroups(own.bootstrap, own.folder),
    "members": lambda own: healthy_members(own.crowd),
    "static": lambda own: StaticMembers(own.crowd),
    "two-applications": lambda own: two_applications(own.crowd),
    "without-commits": lambda own: readers_without_commits(own.crowd),
    "late-topics": lambda own: LateTopics(own.bootstrap, own.crowd, own.load),
    "regex": lambda own: Expressions(own.bootstrap, own.crowd, own.load),
    "exactly-once": lambda own: ExactlyOnce(own.bootstrap, own.crowd),
    "kept": lambda own: KeptGroups(own.bootstrap),
    "throwaway": lambda own: ThrowawayGroups(own.bootstrap, own.crowd),
    "faust": lambda own: FaustGroup(own.bootstrap, own.folder),
}


def run(kinds: Sequence[str], minutes: float, seed: int, folder: Path) -> dict[str, Any]:
    """The report of so many minutes."""
    with ExitStack() as stack:
        of_workers = {"group.min.session.timeout.ms": str(CLUSTER.session_ms)}
        broker = BrokerSettings(properties={**QUICK_BROKER, **BROKER, **of_workers})
        kafka = stack.enter_context(EmbeddedKafka(broker, data_dir=folder / "kafka"))
        bootstrap = kafka.bootstrap_servers
        crowd, load = stack.enter_context(Crowd(bootstrap)), stack.enter_context(Load(bootstrap))
        shared = Shared(bootstrap, folder, crowd, load)
        healthy = [KINDS[kind](shared) for kind in kinds]
        for topic, partitions in ((topic, count) for groups in healthy for topic, count in groups.topics.items()):
            create_topic(bootstrap, topic, partitions)
            load.add(topic)
        watch = stack.enter_context(Watch(bootstrap, SETTINGS))
        with ThreadPoolExecutor(len(healthy)) as threads:
            begun = [threads.submit(_begin, stack, groups, seed) for groups in healthy]
            churns = [each.result() for each in begun]
        say(f"all groups are there; {minutes:g} minutes begin")
        time.sleep(minutes * 60)
        # On a machine that is busy, one action of Streams may take longer than half a minute.
        eventually(lambda: all(each.done or each.error for each in churns), "an action of each kind")
        passes = watch.passes
        eventually(lambda: watch.error or watch.passes > passes + 1, "two more passes")
        return {
            "seed": seed,
            "minutes": minutes,
            "done": {each.kind: dict(each.done) for each in churns},
            "errors": _errors(churns, watch) + load.errors + [repr(each) for each in crowd.failures()],
            **_findings(watch),
            "judged": {name: verdict.kind for name, verdict in watch.verdicts.items()},
            "rebalances": sum(verdict.rebalances for verdict in watch.verdicts.values()),
            "passes": watch.passes,
            "longest_pass_s": watch.longest_s,
            "load_average": os.getloadavg(),
            "cpu_s": cpu_seconds(),
        }


def _begin(stack: ExitStack, groups: HealthyGroups, seed: int) -> Churn:
    """Groups of a kind, and their churn: they do not wait for other kinds, which take longer to be there."""
    churn = Churn(groups, seed)
    try:
        stack.enter_context(groups)
        stack.enter_context(churn)
    except Exception as error:  # the other kinds go on; the report has it
        churn.error = error
    return churn


def _errors(churns: Sequence[Churn], watch: Watch) -> list[str]:
    return [repr(each.error) for each in (*churns, watch) if each.error is not None]


def _findings(watch: Watch) -> dict[str, Any]:
    end_ms, late = now_ms(), late_s(watch.longest_s)
    lasted: dict[str, list[float]] = defaultdict(list)
    for each in watch.found:
        lasted[f"{each.kind}/{each.reason}"].append(((each.closed_ms or end_ms) - each.opened_ms) / 1000)
    return {
        "found": [
            f"{each.group}: {each.kind}/{each.reason} at {each.opened_ms} "
            f"for {((each.closed_ms or end_ms) - each.opened_ms) / 1000:.1f} s: {each.sentence}"
            for each in watch.found
        ],
        "counts": {kind: {"times": len(all_s), "longest_s": max(all_s)} for kind, all_s in sorted(lasted.items())},
        "false": [
            *false_findings(watch.found, end_ms, late),
            *(f"the cluster: {what}: {sentence}" for what, sentence in watch.of_cluster.items()),
        ],
    }


def main() -> int:
    """1 if something was found that must not be, or if a member failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.kind_churn.run", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (10)")
    parser.add_argument("--seed", type=int, default=None, help="anything; random if not given")
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS], default=[*KINDS], help="which groups (all)")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else secrets.randbelow(10**6)
    folder = Path(tempfile.mkdtemp(prefix="groupwatch-kinds-"))
    say(f"seed {seed}; logs in {folder}")
    report = run(options.kinds, options.minutes, seed, folder)
    for line in [*report["false"], *report["errors"]]:
        say(f"WRONG {line}")
    sys.stdout.write(json.dumps(report) + "\n")
    return exit_code(folder, report["false"] or report["errors"])


if __name__ == "__main__":
    sys.exit(main())
