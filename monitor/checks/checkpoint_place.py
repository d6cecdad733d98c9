"""Whether ``spark.checkpoint`` and ``history.folder`` can be folders: here by a trial, elsewhere by their writing."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from monitor.config import Settings

OF_SPARK: Final = frozenset({"hdfs", "webhdfs", "swebhdfs", "viewfs"})
"""File systems whose jars PySpark brings, and that can be written."""

WITH_JARS: Final = frozenset({"s3a", "abfs", "abfss", "wasb", "wasbs", "gs", "oss", "cosn", "obs", "o3fs", "ofs"})
"""Those whose jars a deployment adds."""

JARS: Final = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
JAR_VARIABLES: Final = (
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_DIST_CLASSPATH",
    "SPARK_CONF_DIR",
    "SPARK_HOME",
    "PYSPARK_GATEWAY_PORT",
)
"""Where else jars may come from; what is there is not looked into."""

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


def no_checkpoint(settings: Settings) -> Iterator[str]:
    """A job that is told of no checkpoint."""
    if settings.spark.checkpoint is None:
        yield (
            "spark.checkpoint is required: a folder for the job's state that survives restarts"
            " (groupwatch collect needs none; check its file with --collect)."
        )


def unusable_checkpoint(settings: Settings) -> Iterator[str]:
    """A place where no folder can be made, or that is on no file system that Spark knows."""
    yield from _unusable("spark.checkpoint", settings.spark.checkpoint, settings.spark.conf)


def unusable_recording(settings: Settings) -> Iterator[str]:
    """The same of the folder of the recording: the job starts without it, and records nothing."""
    for problem in _unusable("history.folder", settings.history.folder, settings.spark.conf):
        yield f"{problem} The job starts, and records nothing."


def _unusable(name: str, place: str | None, conf: dict[str, str]) -> Iterator[str]:
    if place is None:
        return
    folder = folder_here(place)
    if folder is not None:
        reason = _trial(folder)
        if reason is not None:
            yield f"{name}: {folder} cannot be used as a folder ({reason})."
    elif not _is_written_well(place):
        yield f"{name} should be the path of a folder, or a URI like hdfs://HOST/FOLDER or s3a://BUCKET/FOLDER."
    elif not _may_be_known(_scheme(place), conf):
        yield (
            f"{name} is on {_scheme(place)}:, a file system unknown to Spark: it supports"
            f" {', '.join(sorted(OF_SPARK))} and those with jars named in spark.conf (spark.jars.packages)."
        )


def checkpoint_without_jars(settings: Settings) -> Iterator[str]:
    """A file system that is well known and that Spark does not bring; its jars may have been put beside Spark's."""
    place = settings.spark.checkpoint or ""
    scheme = _scheme(place)
    if scheme in WITH_JARS and _is_written_well(place) and not _has_jars(scheme, settings.spark.conf):
        yield (
            f"spark.checkpoint is on {scheme}:, whose jars are not part of Spark: name them in spark.conf"
            " (spark.jars.packages), unless they are in Spark's jars folder."
        )


def folder_here(place: str) -> Path | None:
    """The folder of this machine that is meant, None if it is elsewhere.

    >>> folder_here("/var/lib/x"), folder_here("file:///x"), folder_here("s3a://bucket/x")
    (PosixPath('/var/lib/x'), PosixPath('/x'), None)
    """
    if not _scheme(place):
        return Path(place)
    path = place.removeprefix("file:")
    path = path.removeprefix("//") if path.startswith("///") else path
    return Path(path) if place.startswith("file:/") and not path.startswith("//") else None


def _scheme(place: str) -> str:
    found = _SCHEME.match(place)
    return found[1] if found else ""


def _is_written_well(place: str) -> bool:
    try:
        parts = urlsplit(place)
    except ValueError:  # half an IPv6 address
        return False
    is_rooted = parts.path.startswith("/") or (bool(parts.netloc) and not parts.path)
    return parts.scheme != "file" and is_rooted and (bool(parts.netloc) or parts.scheme not in WITH_JARS)


def _may_be_known(scheme: str, conf: dict[str, str]) -> bool:
    return scheme in OF_SPARK | WITH_JARS or _has_jars(scheme, conf)


def _has_jars(scheme: str, conf: dict[str, str]) -> bool:
    named = f"spark.hadoop.fs.{scheme}.impl" in conf or any(key in conf for key in JARS)
    return named or any(os.environ.get(name) for name in JAR_VARIABLES)


def _trial(folder: Path) -> str | None:
    """Why nothing can be written there, None if it can. What has to be made for that is taken away again."""
    made: list[Path] = []
    try:
        for each in (*reversed(folder.absolute().parents), folder.absolute()):
            if not each.exists():
                each.mkdir(mode=0o700)
                made.append(each)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error.strerror or str(error)
    finally:
        for each in reversed(made):
            with suppress(OSError):  # somebody has begun to use it
                each.rmdir()
