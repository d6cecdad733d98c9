"""groupwatch in spark-submit's hands: ``spark-submit [options] streaming_jobs/submit.py --config groupwatch.toml``.

It is ``groupwatch run`` with the same options; only its end differs, for spark-submit is then the process that gets
the signal to stop.
"""

from __future__ import annotations

import os
import sys
import threading

from monitor.cli.app import app
from streaming_jobs.runtime.session import SUBMITTED_VARIABLE


def main() -> None:
    """Run the job; end with spark-submit."""
    if SUBMITTED_VARIABLE in os.environ:
        threading.Thread(target=_end_with_spark, name="end-with-spark", daemon=True).start()
    app(["run", *sys.argv[1:]])


def _end_with_spark() -> None:
    """End when the JVM of spark-submit has ended, even by kill -9. It holds the other end of the standard input.

    Nothing is left to be put in order by then: without the JVM there is no query to stop. Left alone, this process
    would go on serving what it last saw.
    """
    while os.read(0, 1024):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
