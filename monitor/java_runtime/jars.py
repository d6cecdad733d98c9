"""Fetch jars by the Ivy that PySpark ships, once per user."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from monitor.java_runtime.cached_folder import fill_folder
from monitor.java_runtime.errors import JarsNotResolved
from monitor.java_runtime.find_java import Java, find_java
from monitor.java_runtime.kafka_versions import kafka_version
from monitor.model import Value

Progress = Callable[[str], None]
"""Takes a line of text for a person, now and then."""

IVY_LIMIT_S: Final = 900
"""When Ivy is given up on: 43 MB take 15-40 s here, and a slow line should have its chance."""

TELL_EVERY_S: Final = 5.0
"""How often the progress is reported: a jar of tens of MB can take minutes on a slow line."""

_JAR_NAME = re.compile(r"(.+?)-\d+\.\d[^-]*(-[^-]+)?\.jar")


class Coordinate(Value):
    """A Maven coordinate."""

    organisation: str
    artifact: str
    version: str


DELTA_OF_SPARK: Final[Mapping[str, Coordinate]] = {
    "4.0": Coordinate(organisation="io.delta", artifact="delta-spark_2.13", version="4.0.1"),
    "4.1": Coordinate(organisation="io.delta", artifact="delta-spark_4.1_2.13", version="4.1.0"),
    "4.2": Coordinate(organisation="io.delta", artifact="delta-spark_4.2_2.13", version="4.4.0"),
}
"""The release of Delta Lake for each of Spark's."""

CONNECTOR_OF_SPARK: Final[Mapping[str, str]] = {"4.2": "4.2.0"}
"""The release of Spark's Kafka connector for each of Spark's, repairs of it included: that of 4.2.1 does not resolve.

PySpark has to be 4.2.1 or newer: the state server of 4.2.0 never closes the socket that it accepts (SPARK-58932)."""

IAM_ARTIFACT: Final = "aws-msk-iam-auth"
IAM_OF_AMAZON: Final = Coordinate(organisation="software.amazon.msk", artifact=IAM_ARTIFACT, version="2.3.5")
"""Amazon's login module for Kafka's Java clients."""


def kafka_artifact(name: str, version: str | None = None) -> Coordinate:
    """An artifact of Kafka; at the version that brokers and clients are started with, unless another one is named."""
    return Coordinate(organisation="org.apache.kafka", artifact=name, version=version or kafka_version().version)


def quiet(_line: str) -> None:
    """A progress callback that says nothing."""


def cache_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Where jars are kept: GROUPWATCH_CACHE, else groupwatch in XDG_CACHE_HOME, else in ~/.cache.

    >>> cache_dir({"XDG_CACHE_HOME": "/c"})
    PosixPath('/c/groupwatch')
    """
    environ = os.environ if environ is None else environ
    if chosen := environ.get("GROUPWATCH_CACHE"):
        return Path(chosen)
    base = environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "groupwatch"


def kafka_jars(progress: Progress = quiet) -> list[Path]:
    """The jars of a Kafka broker, fetched if this user does not have them yet.

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    kafka = kafka_artifact("kafka_2.13")
    return resolve(kafka, cache_dir() / f"kafka-{kafka.version}", progress)


def spark_kafka_jars(progress: Progress = quiet) -> list[Path]:
    """The jars of the Kafka connector that serves the installed PySpark, without those that PySpark has itself.

    Give them to Spark as ``spark.jars``: no other resolution is needed then.

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    coordinate = connector_of(importlib.metadata.version("pyspark"))
    present = frozenset(artifact_name(jar) for jar in pyspark_jars_dir().glob("*.jar"))
    return resolve(coordinate, cache_dir() / f"spark-kafka-{coordinate.version}", progress, leave_out=present)


def connector_of(pyspark: str) -> Coordinate:
    """The Kafka connector that serves a PySpark: that of its release, else the one of the same version.

    >>> connector_of("4.2.7").version, connector_of("4.0.1").version
    ('4.2.0', '4.0.1')
    """
    version = CONNECTOR_OF_SPARK.get(_release_of(pyspark), pyspark)
    return Coordinate(organisation="org.apache.spark", artifact="spark-sql-kafka-0-10_2.13", version=version)


def _release_of(pyspark: str) -> str:
    """The first two numbers, which all repairs of a release share."""
    return ".".join(pyspark.split(".")[:2])


def delta_jars(progress: Progress = quiet) -> list[Path]:
    """The jars of Delta Lake for the installed PySpark that PySpark does not have itself.

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    coordinate = DELTA_OF_SPARK[_release_of(importlib.metadata.version("pyspark"))]
    present = frozenset(artifact_name(jar) for jar in pyspark_jars_dir().glob("*.jar"))
    into = cache_dir() / f"{coordinate.artifact}-{coordinate.version}"
    return resolve(coordinate, into, progress, leave_out=present)


def iam_jars(progress: Progress = quiet) -> list[Path]:
    """The jars of Amazon's login module that PySpark does not have itself.

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    present = frozenset(artifact_name(jar) for jar in pyspark_jars_dir().glob("*.jar"))
    return resolve(IAM_OF_AMAZON, cache_dir() / f"{IAM_ARTIFACT}-{IAM_OF_AMAZON.version}", progress, leave_out=present)


def job_jars(progress: Progress = quiet, *, is_recorded: bool, uses_iam: bool = False) -> list[Path]:
    """The jars that a job gives to Spark; those of Delta Lake only if it records, Amazon's only for its log-in.

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    more = [*(delta_jars(progress) if is_recorded else []), *(iam_jars(progress) if uses_iam else [])]
    return [*spark_kafka_jars(progress), *more]


def resolve(
    coordinate: Coordinate,
    into: Path,
    progress: Progress = quiet,
    leave_out: frozenset[str] = frozenset(),
    beside: tuple[Coordinate, ...] = (),
) -> list[Path]:
    """The jars of a coordinate and all it needs, sorted by name. Ivy runs only if the folder ``into`` is not there.

    Args:
        coordinate: What to fetch.
        into: The folder for the jars; afterwards it is complete.
        progress: Is called with each report of the progress.
        leave_out: Names of artifacts (without version) that are not kept.
        beside: What else is fetched, in one resolution: of a jar that several of them need, the newest version.

    Raises:
        JarsNotResolved: Ivy failed or took too long; the message names its log, beside ``into``.
        JavaNotFound: There is no Java to run Ivy.
    """
    fill_folder(into, lambda work: _fetch((coordinate, *beside), work, into, progress, leave_out), progress)
    return sorted(into.glob("*.jar"))


def artifact_name(jar: Path) -> str:
    """The name of a jar's artifact, without version.

    >>> artifact_name(Path("spark-sql-kafka-0-10_2.13-4.0.0.jar"))
    'spark-sql-kafka-0-10_2.13'
    >>> artifact_name(Path("zstd-jni-1.5.6-9.jar"))
    'zstd-jni'
    """
    match = _JAR_NAME.fullmatch(jar.name)
    return match[1] if match else jar.stem


def pyspark_jars_dir() -> Path:
    """The folder of PySpark's own jars, found without importing PySpark."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("pyspark is not installed", name="pyspark")
    return Path(spec.origin).parent / "jars"


def pyspark_jar(artifact: str) -> Path:
    """One of PySpark's own jars by the name of its artifact."""
    for jar in pyspark_jars_dir().glob(f"{artifact}-*.jar"):
        if artifact_name(jar) == artifact:
            return jar
    raise FileNotFoundError(f"no jar of {artifact} in {pyspark_jars_dir()}")


def _fetch(
    coordinates: tuple[Coordinate, ...], work: Path, into: Path, progress: Progress, leave_out: frozenset[str]
) -> Path:
    """The folder with the jars, in the working folder, which has Ivy's own cache as well."""
    _run_ivy(find_java(), coordinates, work, into.with_name(into.name + ".log"), progress)
    for jar in (work / "jars").glob("*.jar"):
        if artifact_name(jar) in leave_out:
            jar.unlink()
    return work / "jars"


def _run_ivy(java: Java, coordinates: tuple[Coordinate, ...], work: Path, log_file: Path, progress: Progress) -> None:
    what = f"{coordinates[0].artifact} {coordinates[0].version}"
    progress(f"fetching {what} (once; log in {log_file})")
    (work / "ivy.xml").write_text(ivy_file(coordinates), encoding="utf-8")
    command = _ivy_command(java, work)
    with (
        log_file.open("w", encoding="utf-8") as log,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        ) as ivy,
    ):
        limit = threading.Timer(IVY_LIMIT_S, ivy.kill)
        limit.daemon = True
        limit.start()
        try:
            with _tell_arrivals(Arrivals(what, work), progress) as arrivals:
                _follow(ivy.stdout, log, arrivals)
            code = ivy.wait()
        except BaseException:
            ivy.kill()  # an interrupt must not leave Ivy running
            raise
        finally:
            limit.cancel()
    if code != 0 or not any((work / "jars").glob("*.jar")):
        raise JarsNotResolved(f"Ivy could not fetch {what} (exit code {code}); check the network.", log_file)


def ivy_file(coordinates: tuple[Coordinate, ...]) -> str:
    """Ivy's description of a module that needs these, with all that they need to run."""
    dependencies = "".join(
        f'<dependency org="{each.organisation}" name="{each.artifact}" rev="{each.version}"'
        ' conf="default->default,master,runtime"/>\n'
        for each in coordinates
    )
    return (
        '<ivy-module version="2.0">\n<info organisation="groupwatch" module="jars"/>\n'
        '<configurations><conf name="default"/></configurations>\n'
        f"<dependencies>\n{dependencies}</dependencies>\n</ivy-module>\n"
    )


def _ivy_command(java: Java, work: Path) -> list[str]:
    """Ivy's own cache lies in the working folder too: a shared one has no lock and may be half written by others."""
    settings = os.environ.get("GROUPWATCH_IVY_SETTINGS")
    return [
        java.executable,
        "-XX:TieredStopAtLevel=1",
        "-jar",
        str(pyspark_jar("ivy")),
        *(["-settings", settings] if settings else []),
        *["-cache", str(work / "ivy")],
        *["-ivy", str(work / "ivy.xml"), "-confs", "default"],
        # netty comes as several jars of one artifact, one for each platform
        *["-retrieve", f"{work / 'jars'}/[artifact]-[revision](-[classifier]).[ext]"],
    ]


class Arrivals:
    """How much of what Ivy fetches has arrived: it lists every module first, then fetches each."""

    def __init__(self, what: str, work: Path) -> None:
        self.found = self.fetched = 0
        self._what, self._work = what, work

    def __str__(self) -> str:
        megabytes = sum(_size_of(file) for file in (self._work / "ivy").rglob("*.jar*")) / 1e6
        return f"fetching {self._what}: {self.fetched} of {self.found} jars, {megabytes:.1f} MB"


def _size_of(file: Path) -> int:
    """The size of a file; 0 for one that Ivy may just have renamed."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


@contextmanager
def _tell_arrivals(arrivals: Arrivals, progress: Progress) -> Iterator[Arrivals]:
    """Report what has arrived, repeatedly and at the end."""
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(TELL_EVERY_S):
            if arrivals.found:
                progress(str(arrivals))

    teller = threading.Thread(target=tell, name="jars", daemon=True)
    teller.start()
    try:
        yield arrivals
    finally:
        ended.set()
        teller.join()
    progress(str(arrivals))


def _follow(output: IO[str] | None, log: IO[str], arrivals: Arrivals) -> None:
    """Copy what Ivy says into the log, and count."""
    for line in output or ():
        log.write(line)
        arrivals.found += line.startswith("\tfound ")
        arrivals.fetched += "[SUCCESSFUL ]" in line
