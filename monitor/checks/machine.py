"""What a job needs of this machine beside the configuration: Java, files that it may open, programs that are there."""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from monitor.config import Settings
from monitor.java_runtime.errors import JavaNotFound
from monitor.java_runtime.find_java import find_java
from monitor.model.installing import how_to_install, is_installed

FEWEST_FILES: Final = 1024
"""The JVM alone has 400 files open when it watches one small cluster; more with every cluster and partition."""

_HOW: Final = "raise the limit (ulimit -n; LimitNOFILE of systemd)"


def java(_: Settings) -> Iterator[str]:
    """No Java, or none that Spark runs on."""
    try:
        find_java()
    except JavaNotFound as error:
        yield f"{error}."


def no_spark(_: Settings) -> Iterator[str]:
    """The packages of the job are an extra: an installation for collectors has none."""
    if not is_installed("pyspark"):
        yield f"groupwatch run needs PySpark, which is not installed here: {how_to_install('job')}."


def too_few_files(_: Settings) -> Iterator[str]:
    """The JVM raises its own limit as far as it may."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most != resource.RLIM_INFINITY and most < FEWEST_FILES:
        yield f"A process of this user may open {most} files, and a job needs {FEWEST_FILES}: {_HOW}."


def rather_few_files(_: Settings) -> Iterator[str]:
    """Python does not: readers of the page are turned away earlier than they need be."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if now != resource.RLIM_INFINITY and now < FEWEST_FILES <= (most if most > 0 else FEWEST_FILES):
        yield f"A process may open {now} files at first: that is too few for many connections to the page; {_HOW}."


def no_temporary_folder(_: Settings) -> Iterator[str]:
    """The JVM's files have to lie somewhere while it runs."""
    try:
        tempfile.TemporaryDirectory().cleanup()
    except OSError as error:
        yield f"No folder for temporary files is usable ({error.strerror or error}): set TMPDIR."


def absent_programs(settings: Settings) -> Iterator[str]:
    """A Spark or a Python that variables or properties name, and that is not there. Of a cluster only Spark is here."""
    home = os.environ.get("SPARK_HOME")
    if home and not os.access(Path(home) / "bin" / "spark-submit", os.X_OK):
        yield f"SPARK_HOME is {home}, which has no Spark (no bin/spark-submit): unset it."
    variable, key = "PYSPARK_PYTHON", "spark.pyspark.python"
    python = os.environ.get(variable) or settings.spark.conf.get(key)
    if python and "${" in python:  # looked up at the start
        return
    if python and settings.spark.master.startswith("local") and shutil.which(python) is None:
        named = variable if os.environ.get(variable) else f'spark.conf."{key}"'
        yield f"{named} is {python}, which is not a program on this machine."
