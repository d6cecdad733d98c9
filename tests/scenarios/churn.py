"""Does a healthy group ever alarm somebody? ``python -m tests.scenarios.churn [--minutes 10] [--seed N]``.

Groups of all assignors, whose members join, leave and restart all the time under a steady load. Prints a report.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.scenarios.churn_groups import GRACE, Churn
from tests.scenarios.hearing import Hearing, Pace, cpu_seconds
from tests.scenarios.run import NAME, await_evaluations, job_of
from tests.scenarios.settings import BROKER
from tests.scenarios.stage import Load, miss_soon
from tests.support.clients import commit, create_topic
from tests.support.crowd import Crowd
from tests.support.progress import exit_code, say


def run(minutes: float, seed: int, folder: Path) -> dict[str, Any]:
    """The report of so many minutes."""
    with ExitStack() as stack:
        kafka = stack.enter_context(EmbeddedKafka(BrokerSettings(properties=BROKER), data_dir=folder / "kafka"))
        bootstrap = kafka.bootstrap_servers
        for topic, partitions in Churn.topics.items():
            create_topic(bootstrap, topic, partitions)
        commit(bootstrap, "first", "churn.t", {0: 0})  # the offsets topic exists from now on
        crowd, load = stack.enter_context(Crowd(bootstrap)), stack.enter_context(Load(bootstrap))
        load.add(*Churn.topics)
        churn = Churn(seed, crowd)
        miss_soon(bootstrap, churn.groups)
        churn.set_up()
        job = stack.enter_context(job_of(bootstrap, folder))
        job.await_ready()
        await_evaluations(job, 3)
        hearing = stack.enter_context(Hearing(bootstrap))
        pace = stack.enter_context(Pace(job))
        say(f"the job is ready; {minutes:g} minutes of churn begin")
        churn.start()
        time.sleep(minutes * 60)
        churn.stop()
        return {
            "seed": seed,
            "minutes": minutes,
            **churn.report(hearing, pace.late_s),
            "longest_without_evaluation_s": round(pace.longest_s, 1),
            "failures": [*crowd.failures(), *load.errors],
            "rebalances": {group: job.group(NAME, group).get("rebalances", 0) for group in churn.groups},
            "cpu_s": cpu_seconds(),
        }


def main() -> int:
    """1 if a finding of a healthy group grew older than it may."""
    parser = argparse.ArgumentParser(prog="python -m tests.scenarios.churn", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (10)")
    parser.add_argument("--seed", type=int, default=None, help="anything; random if not given")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else secrets.randbelow(10**6)
    folder = Path(tempfile.mkdtemp(prefix="groupwatch-churn-"))
    say(f"seed {seed}; logs in {folder}")
    report = run(options.minutes, seed, folder)
    for grace in GRACE:
        age = report["oldest_s"].get(f"{grace.kind}/{grace.reason}")
        seen = "never told" if age is None else f"oldest {age:g} s"
        say(f"{grace.kind}/{grace.reason}: {seen}, at most {grace.most_s:g} s: {grace.why}")
    for line in report["too_old"]:
        say(f"FALSE ALARM {line}")
    sys.stdout.write(json.dumps(report) + "\n")
    return exit_code(folder, report["too_old"] or report["failures"])


if __name__ == "__main__":
    sys.exit(main())
