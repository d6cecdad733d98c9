"""The upkeep of a recording by itself, in a process of its own: other tests have Spark without Delta Lake's jars.

``python -m tests.streaming_jobs.recording.keep_up FOLDER CLUSTER [DAYS_LATER]`` writes states; with DAYS_LATER, it then
tidies as if it were so many days later.
"""

from __future__ import annotations

import sys

from monitor.history.tables import DAY_MS
from monitor.java_runtime.jars import job_jars
from streaming_jobs.recording.upkeep import Upkeep
from streaming_jobs.runtime.clock import now_ms
from streaming_jobs.runtime.session import DELTA, create_session, stop_session


def main() -> None:
    """Keep it up, and print when the newest portion was recorded of which there are states now."""
    folder, cluster, *later = sys.argv[1:]
    spark = create_session("local[2]", 2, job_jars(is_recorded=True), DELTA)
    upkeep = Upkeep(spark, cluster, folder, keep_days=30)
    sys.stdout.write(f"{upkeep.write_states()}\n")
    if later:
        upkeep.tidy(now_ms() + int(later[0]) * DAY_MS)
    stop_session(spark, 20)


if __name__ == "__main__":
    main()
