"""The command line. Its entry point is here; the commands are in :mod:`monitor.cli.app`.

Nothing of weight is imported before ``main`` has run: until then a signal would end the process with a code of its own.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Final

SERVICES: Final = frozenset({"run", "collect", "demo"})
"""The commands that run until they are stopped. At a SIGTERM or Ctrl-C, they end with 0 at any moment."""


def main() -> None:
    """Entry point of the ``groupwatch`` command."""
    if SERVICES & set(sys.argv[1:2]):
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _end)
    from monitor.cli.app import app  # noqa: PLC0415 -- see above

    try:
        app()
    except ModuleNotFoundError as error:
        from monitor.cli.extras import missing_extra  # noqa: PLC0415 -- see above

        sentence = missing_extra(error.name, "".join(sys.argv[1:2]))
        if sentence is None:
            raise
        sys.stderr.write(f"groupwatch: {sentence}\n")
        raise SystemExit(2) from None


def _end(_number: int, _frame: FrameType | None) -> None:
    """End while the command's code is still being loaded: nothing was started, so nothing has to be put in order.

    Once it is loaded, ``streaming_jobs.runtime.lifetime`` puts handlers of its own in the place of this one.
    """
    os._exit(0)
