"""Where Spark's Python processes take PySpark from: the folder in which it is installed, not its archives.

Spark puts three archives before all else on the path. Each process that imports modules from archives compiles them
again: 2.0 s of CPU in place of 0.5 for the process that a query starts with its first micro-batch. Spark gives that one
10 s to answer. On a busy machine it took longer, and the query was restarted for ever.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

from streaming_jobs.runtime import python_start

PATH_VARIABLE: Final = "PYTHONPATH"
ARCHIVES: Final = (".zip", ".jar")


def leave_out_archives() -> None:
    """Take the archives of the installed PySpark, which hold the same, off this process's path.

    Each task reads the directories of all archives again, too, thousands of entries: 40 % of the Python CPU of an idle
    micro-batch. Archives of a Spark elsewhere stay: they may be of another version.
    """
    folders = [place for place in sys.path if not place.endswith(ARCHIVES)]
    found = PathFinder.find_spec("pyspark", folders)
    if found is None or found.origin is None:
        return
    home = Path(found.origin).parent
    for place in [place for place in sys.path if place.endswith(ARCHIVES) and Path(place).is_relative_to(home)]:
        sys.path.remove(place)
        sys.path_importer_cache.pop(place, None)


def path_without_archives() -> str:
    """The ``PYTHONPATH`` of a JVM whose Python processes leave them out: this process's, and a folder behind it."""
    own = str(Path(python_start.__file__).parent)
    return os.pathsep.join([*filter(None, [os.environ.get(PATH_VARIABLE)]), own])
