"""The upkeep of a recording by itself, in a process of its own: other tests have Spark without Delta Lake's jars.

``python -m tests.streaming_jobs.recording.keep_up FOLDER CLUSTER [--complete-ms MS] [--days-later DAYS]`` writes
states, evaluates all minutes that are over by then, and tidies as if it were so many days later.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from monitor.history.tables import DAY_MS
from monitor.java_runtime.jars import job_jars
from streaming_jobs.recording.upkeep import Upkeep
from streaming_jobs.runtime.clock import now_ms
from streaming_jobs.runtime.session import DELTA, create_session, stop_session
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM


def main() -> None:
    """Keep it up, and print when the newest portion was recorded of which there are states now."""
    parser = ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("cluster")
    parser.add_argument("--complete-ms", type=int, default=0)
    parser.add_argument("--days-later", type=int)
    asked = parser.parse_args()
    spark = create_session("local[2]", 2, job_jars(is_recorded=True), {**DELTA, DRIVER_JVM: BRIEF_JVM})
    upkeep = Upkeep(spark, asked.cluster, asked.folder, keep_days=30)
    sys.stdout.write(f"{upkeep.write_states()}\n")
    while upkeep.evaluate(asked.complete_ms):
        pass
    if asked.days_later is not None:
        upkeep.tidy(now_ms() + asked.days_later * DAY_MS)
    stop_session(spark, 20)


if __name__ == "__main__":
    main()
