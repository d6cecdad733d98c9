"""Healthy share, Streams and Connect groups on a broker: ``python -m tests.kind_churn.run [--minutes 10] [--seed N]``.

Their members come and go, connectors are created, changed, paused and deleted, and workers restart, under a steady
load. All groups are judged once a second. Prints what was found, at last as JSON.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.detection import DetectionSettings
from tests.kind_churn.allowed import false_findings
from tests.kind_churn.connect import ConnectGroups
from tests.kind_churn.healthy_groups import Churn, HealthyGroups
from tests.kind_churn.share import ShareGroup
from tests.kind_churn.streams import BROKER, StreamsGroup
from tests.kind_churn.watching import Watch
from tests.scenarios.hearing import cpu_seconds, late_s, now_ms
from tests.scenarios.settings import COMMIT_SILENCE_S, STORM_WINDOW_S
from tests.scenarios.stage import Load
from tests.support.clients import create_topic
from tests.support.job_process import eventually
from tests.support.progress import exit_code, say

SETTINGS: Final = DetectionSettings(commit_silence_ms=COMMIT_SILENCE_S * 1000, storm_window_ms=STORM_WINDOW_S * 1000)
KINDS: Final = ("share", "streams-classic", "streams-kip1071", "connect")


def run(kinds: Sequence[str], minutes: float, seed: int, folder: Path) -> dict[str, Any]:
    """The report of so many minutes."""
    with ExitStack() as stack:
        kafka = stack.enter_context(EmbeddedKafka(BrokerSettings(properties=BROKER), data_dir=folder / "kafka"))
        bootstrap = kafka.bootstrap_servers
        healthy = [_groups(kind, bootstrap, folder) for kind in kinds]
        load = stack.enter_context(Load(bootstrap))
        for topic, partitions in ((topic, count) for groups in healthy for topic, count in groups.topics.items()):
            create_topic(bootstrap, topic, partitions)
            load.add(topic)
        watch = stack.enter_context(Watch(bootstrap, SETTINGS))
        with ThreadPoolExecutor(len(healthy)) as threads:
            for started in [threads.submit(stack.enter_context, groups) for groups in healthy]:
                started.result()
        churns = [stack.enter_context(Churn(groups, seed)) for groups in healthy]
        say(f"{minutes:g} minutes of churn begin")
        time.sleep(minutes * 60)
        passes = watch.passes
        eventually(lambda: watch.error or watch.passes > passes + 1, "two more passes")
        return {
            "seed": seed,
            "minutes": minutes,
            "done": {each.kind: dict(each.done) for each in churns},
            "errors": [repr(each.error) for each in (*churns, watch) if each.error is not None] + load.errors,
            **_findings(watch),
            "judged": {name: verdict.kind for name, verdict in watch.verdicts.items()},
            "passes": watch.passes,
            "longest_pass_s": watch.longest_s,
            "cpu_s": cpu_seconds(),
        }


def _groups(kind: str, bootstrap: str, folder: Path) -> HealthyGroups:
    match kind:
        case "share":
            return ShareGroup(bootstrap)
        case "connect":
            return ConnectGroups(bootstrap, folder)
        case _:
            return StreamsGroup(bootstrap, folder, kind)


def _findings(watch: Watch) -> dict[str, Any]:
    end_ms, late = now_ms(), late_s(watch.longest_s)
    return {
        "found": [
            f"{each.group}: {each.kind}/{each.reason} at {each.opened_ms} "
            f"for {((each.closed_ms or end_ms) - each.opened_ms) / 1000:.1f} s: {each.sentence}"
            for each in watch.found
        ],
        "false": list(false_findings(watch.found, end_ms, late)),
    }


def main() -> int:
    """1 if something was found that must not be, or if a member failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.kind_churn.run", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (10)")
    parser.add_argument("--seed", type=int, default=None, help="anything; random if not given")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="which groups (all)")
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
