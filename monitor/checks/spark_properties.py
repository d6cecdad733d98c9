"""What Spark would refuse of ``spark.master`` and ``spark.conf``, told before it is asked.

The rules are those of Spark 4.2: SparkMasterRegex, internal.config, and UnifiedMemoryManager, which wants a heap of
450 MB (its reserve of 300 MB, half as much again). Properties that are not known here are left to Spark.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from monitor.config import ConfigError, Settings
from monitor.config.section import checked_addresses
from monitor.model import Value

MOST_CORES: Final = 1024
SMALLEST_HEAP: Final = 466 * 2**20
"""Spark's 450 MB, of what a collector of Java's lets it have: some keep a thirtieth of the heap to themselves."""
LARGEST_HEAP: Final = 16 * 2**40

HADOOP_VARIABLES: Final = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
MEMORY_VARIABLES: Final = {
    "spark.driver.memory": "SPARK_DRIVER_MEMORY",
    "spark.executor.memory": "SPARK_EXECUTOR_MEMORY",
}
"""Where Spark looks if there is no property."""

_LOCAL: Final = re.compile(r"local(?:\[([0-9]{1,9}|\*)(?:\s*,\s*([0-9]{1,9}))?\])?")
_KUBERNETES: Final = re.compile(r"k8s://(?:https?://)?[^/@:\s]+(?::[0-9]{1,5})?(?:/\S*)?")
_SIZE: Final = re.compile(r"([0-9]{1,12})([kmgt])(b?)", re.IGNORECASE)
_SUBMITTED: Final = ("PYSPARK_GATEWAY_PORT", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS")
_ELSEWHERE: Final = ("spark.hadoop.", "spark.executorEnv.", "spark.kubernetes.", "spark.yarn.", "spark.mesos.")
"""Beginnings of properties that are not Spark's own: any ending may mean anything."""


def wrong_master(settings: Settings) -> Iterator[str]:
    """A master that Spark cannot parse, or not reach with what is there."""
    master = settings.spark.master
    if not is_master(master):
        yield (
            f"spark.master should be local[N] (N from 1 to {MOST_CORES}), local[*], spark://HOST:PORT (several with"
            " commas), k8s://HOST:PORT or yarn."
        )
    if master == "yarn" and not any(os.environ.get(name) for name in HADOOP_VARIABLES):
        yield f"spark.master is yarn: Spark needs the variable {' or '.join(HADOOP_VARIABLES)}, which is not set."


def is_master(master: str) -> bool:
    """Whether Spark can parse it, and we can read off how many cores there are.

    >>> [is_master(each) for each in ("local[*]", "local[2, 4]", "spark://h:7077", "local[0]", "local-cluster[2,1,9]")]
    [True, True, True, False, False]
    """
    if local := _LOCAL.fullmatch(master):
        cores, failures = local.groups()
        return (cores in (None, "*") or 1 <= int(cores) <= MOST_CORES) and (failures is None or int(failures) > 0)
    if master.startswith("spark://"):
        try:
            return bool(checked_addresses(master.removeprefix("spark://"), ","))
        except ValueError:
            return False
    return master == "yarn" or _KUBERNETES.fullmatch(master) is not None


class _Rule(Value):
    """What the properties of some names should be. ``requirement`` goes on after "should"."""

    names: re.Pattern[str]
    fits: Callable[[str], bool]
    requirement: str


def _heap(value: str) -> bool:
    """Java itself reads the driver's: it knows no ``gb``."""
    found = _SIZE.fullmatch(value)
    return found is not None and SMALLEST_HEAP <= int(found[1]) * 1024 ** (1 + "kmgt".index(found[2].lower())) <= (
        LARGEST_HEAP
    )


def _matching(pattern: str) -> Callable[[str], bool]:
    expression = re.compile(pattern, re.IGNORECASE)
    return lambda value: expression.fullmatch(value.strip()) is not None


def _is_switch(value: str) -> bool:
    """Exactly: of the blanks around a switch, Spark removes some, and for some switches none."""
    return value.lower() in ("true", "false")


def _from(least: int, most: int = 1_000_000) -> Callable[[str], bool]:
    def fits(value: str) -> bool:
        return value.isascii() and value.isdigit() and len(value) < 10 and least <= int(value) <= most

    return fits


def _is_split(value: str) -> bool:
    try:
        shlex.split(value)
    except ValueError:
        return False
    return True


def _port(value: str) -> bool:
    return value == "0" or _from(1024, 65535)(value)


_HEAP: Final = "be a size like 2g, from 466m (Spark needs 450 MB of usable heap) to 16t"
_COUNTS: Final = (
    "default.parallelism|sql.shuffle.partitions|(driver|executor).cores|cores.max|task.cpus|task.maxFailures"
    "|sql.streaming.(minBatchesToRetain|numRecentProgressUpdates)|sql.execution.arrow.maxRecordsPerBatch"
)
_SIZES: Final = (
    "driver.(maxResultSize|memoryOverhead)|executor.memoryOverhead|memory.offHeap.size|sql.execution.arrow"
    ".maxBytesPerBatch|kryoserializer.buffer(.max)?"
)
_TIMES: Final = r"\w[\w.]*([.a-z]timeout|Timeout|heartbeatInterval|maintenanceInterval)"


def _names(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"spark\.(?:{pattern})")


_RULES: Final = (
    _Rule(
        names=_names(r"driver\.memory"),
        fits=lambda value: _heap(value) and not value.lower().endswith("b"),
        requirement=f"{_HEAP}, with k, m, g or t and nothing after it",
    ),
    _Rule(names=_names(r"executor\.memory"), fits=_heap, requirement=_HEAP),
    _Rule(names=_names(_SIZES), fits=_matching(r"[0-9]{1,15}(b|[kmgtp]b?)?"), requirement="be a size like 512m"),
    _Rule(names=_names(_COUNTS), fits=_from(1), requirement="be a whole number from 1 to 1000000"),
    _Rule(names=_names(r"executor\.instances"), fits=_from(0), requirement="be a whole number from 0 to 1000000"),
    _Rule(names=_names(r"\w[\w.]*\.port"), fits=_port, requirement="be 0 (any), or a port from 1024 to 65535"),
    _Rule(names=_names(_TIMES), fits=_matching(r"-?[0-9]{1,15}(us|ms|s|m|min|h|d)?"), requirement="be a time like 30s"),
    _Rule(names=_names(r"authenticate|\w[\w.]*\.enabled"), fits=_is_switch, requirement="be true or false"),
    _Rule(
        names=_names(r"log\.level"),
        fits=_matching("all|trace|debug|info|warn|error|fatal|off"),
        requirement="be a level of log4j: ERROR, WARN, INFO, DEBUG or the like",
    ),
    _Rule(
        names=_names(r"submit\.deployMode"),
        fits=_matching("client"),
        requirement="be client: the driver is this process",
    ),
    _Rule(names=_names("master"), fits=lambda _: False, requirement="not be set here: use master in [spark]"),
    _Rule(
        names=_names(r"(driver|executor)\.(extra|default)JavaOptions"),
        fits=lambda value: "-Xmx" not in value,
        requirement="not set the heap (-Xmx): spark.driver.memory and spark.executor.memory do",
    ),
    _Rule(
        names=_names(r"(driver|executor)\.(extra|default)JavaOptions"),
        fits=_is_split,
        requirement="be options of Java as a shell reads them: a quote in it is not closed",
    ),
)


def wrong_properties(settings: Settings) -> Iterator[str]:
    """Properties whose values Spark, or Java, would refuse at the start; also where the environment gives them."""
    conf = _resolved(settings)
    for key, value in conf.items():
        if told := _wrong(key, value):
            yield f'spark.conf."{key}" should {told}.'
    if _ms(conf.get(_HEARTBEAT, "10s")) >= _ms(conf.get(_TIMEOUT, "120s")) > 0:
        yield f'spark.conf."{_HEARTBEAT}" should be less than {_TIMEOUT}.'
    for key, variable in MEMORY_VARIABLES.items():
        if key not in conf and (told := _wrong(key, os.environ.get(variable, "1g"))):
            yield f"The environment variable {variable} should {told}."


def _resolved(settings: Settings) -> Mapping[str, str]:
    """With their references looked up; of those that lead nowhere another look tells."""
    try:
        return settings.spark.properties()
    except ConfigError:
        return {key: value for key, value in settings.spark.conf.items() if "${" not in value}


_HEARTBEAT, _TIMEOUT = "spark.executor.heartbeatInterval", "spark.network.timeout"
_UNITS: Final = {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


def _ms(time: str) -> float:
    """A time with its unit, 0 if it is none: without one, Spark takes the one for seconds and the other for ms."""
    found = re.fullmatch(r"([0-9]{1,15})(us|ms|s|m|min|h|d)", time.strip().lower())
    return int(found[1]) * _UNITS[found[2]] if found else 0


def _wrong(key: str, value: str) -> str | None:
    if key.startswith(_ELSEWHERE):
        return None
    return next((rule.requirement for rule in _RULES if rule.names.fullmatch(key) and not rule.fits(value)), None)


AUTHENTICATE: Final = "spark.authenticate"
SECRET: Final = "spark.authenticate.secret"
SECRET_FILE: Final = "spark.authenticate.secret.file"
MAKE_THEIR_SECRET: Final = ("local", "k8s://", "yarn")
"""Masters for which Spark makes up a secret, and hands it to the executors."""


def missing_secret(master: str, properties: Mapping[str, str]) -> str | None:
    """A sentence, if the driver's ports on a cluster would need a secret that nobody has given; else None.

    Args:
        master: a Spark master URL.
        properties: Spark's, as far as a deployment has chosen them.
    """
    is_wanted = properties.get(AUTHENTICATE, "true").lower() == "true"
    if not is_wanted or master.startswith(MAKE_THEIR_SECRET) or properties.get(SECRET) or properties.get(SECRET_FILE):
        return None
    return (
        f"spark.master {master} is a cluster, and its ports need a secret: give its master, its workers and"
        f' [spark.conf] the same "{SECRET}" and "{AUTHENTICATE}" = "true" (docs/access.md), or set'
        f' "{AUTHENTICATE}" = "false" if its network is private.'
    )


def unguarded_cluster(settings: Settings) -> Iterator[str]:
    """A cluster whose ports need a secret; under spark-submit, and with its defaults, that may come from elsewhere."""
    if is_master(settings.spark.master) and not any(os.environ.get(name) for name in _SUBMITTED):
        told = missing_secret(settings.spark.master, settings.spark.conf)
        if told is not None:
            yield told


def not_of_spark(settings: Settings) -> Iterator[str]:
    """Properties of which Spark takes no notice."""
    for key in settings.spark.conf:
        if not key.startswith("spark."):
            yield f'spark.conf."{key}" does not start with spark. and has no effect.'
