"""What a configuration would watch, in words, with its secrets hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from monitor.checks.report import Property, Watched
from monitor.checks.spark_properties import is_master
from monitor.config import (
    ClusterSettings,
    DetectionOptions,
    HttpSettings,
    MetricsSettings,
    RocketMQSettings,
    Settings,
    SparkQueriesSettings,
    System,
    ZooKeeperSettings,
)
from monitor.config.client import HIDDEN, is_secret
from monitor.config.history import HistorySettings

GROUPS_FROM = {"log": "the offsets topic", "admin": "the admin API"}
WITH_SECRET: Final = re.compile(r"://.*@|\?")
"""A user, perhaps with a password (which may have any character), or a query, perhaps with a signature."""

AZURE: Final = re.compile(r"(abfs|wasb)s?://[a-z0-9-]+@[^@?]+")
"""What is before the @ there is a container."""

_CLASS: Final = r"[A-Za-z_][\w$]*(\.[A-Za-z_][\w$]*)+"

HARMLESS_CONF: Final = {
    "spark.app.name": r".*",
    "spark.driver.host": r"[A-Za-z0-9.:-]+",
    "spark.driver.bindAddress": r"[A-Za-z0-9.:-]+",
    "spark.log.level": r"(?i:all|trace|debug|info|warn|error|fatal|off)",
    "spark.scheduler.mode": r"FIFO|FAIR",
    "spark.serializer": _CLASS,
    "spark.submit.deployMode": r"client|cluster",
    "spark.sql.session.timeZone": r"[A-Z]{3}|[A-Z][a-z]+(/[A-Za-z_]+)+|[+-][0-9:]+",
    "spark.sql.streaming.stateStore.providerClass": _CLASS,
    "spark.sql.streaming.checkpointFileManagerClass": _CLASS,
}
"""Properties of Spark whose texts are shown, if they are like this. Of others the text may be, or hold, a secret."""

PLAIN: Final = re.compile(r"true|false|[0-9.]{1,12}(ms|min|[kmgtpsdh]b?)?", re.IGNORECASE)
"""On or off, a number, a size or a time."""

ENVIRONMENT: Final = re.compile(r"spark\.(executorEnv|kubernetes\.driverEnv|yarn\.appMasterEnv)\.", re.IGNORECASE)

SYSTEMS = {"metaq": "MetaQ in ZooKeeper", "kafka": "Kafka 0.8 to 0.10 in ZooKeeper"}


def watched(settings: Settings) -> tuple[Watched, ...]:
    """Every entry, in the order of the tables."""
    return (
        *(_cluster(cluster) for cluster in settings.clusters.values()),
        *(_system(settings, system) for system in settings.systems),
        *(_queries(settings, queries) for queries in settings.spark_queries.values()),
    )


def general(settings: Settings, *, with_job: bool) -> tuple[Property, ...]:
    """What is not about one system: where the page is served and to whom, and (of a job) where the state lies.

    Thresholds, and what there is on /metrics, are shown where they differ from what is there by default.
    """
    return (
        Property(name="http", value=f"{settings.http.bind}:{settings.http.port}"),
        *_guards(settings.http),
        *(_of_job(settings) if with_job else ()),
    )


def _guards(http: HttpSettings) -> Iterator[Property]:
    for name, path in (("web_config_file", http.web_config_file), ("token_file", http.token_file)):
        if path is not None:
            yield Property(name=f"http.{name}", value=str(path))


def _of_job(settings: Settings) -> Iterator[Property]:
    yield Property(name="spark.master", value=settings.spark.master if is_master(settings.spark.master) else HIDDEN)
    yield Property(name="spark.checkpoint", value=_place(settings.spark.checkpoint or "none"))
    yield Property(name="spark.trigger_s", value=_trigger(settings))
    for key, value in settings.spark.conf.items():
        yield Property(name=f"spark.conf.{key}", value=shown_property(key, value))
    if not settings.shard.is_all:
        yield Property(name="shard", value=str(settings.shard))
    yield from _recording(settings.history)
    yield from _thresholds(settings.detection)
    yield from _series(settings.metrics)


def _trigger(settings: Settings) -> str:
    chosen = settings.spark.trigger_s
    return f"{settings.trigger_s:g}" if chosen is not None else f"{settings.trigger_s:g} (from clusters and cores)"


def _recording(history: HistorySettings) -> Iterator[Property]:
    if history.folder is None:
        return
    yield Property(name="history.folder", value=_place(history.folder))
    yield Property(name="history.every_s", value=f"{history.every_s:g}")
    yield Property(name="history.keep_days", value=str(history.keep_days))


def _thresholds(chosen: DetectionOptions) -> Iterator[Property]:
    for name in type(chosen).model_fields:
        value = getattr(chosen, name)
        if name == "overrides" and value:
            yield Property(name="detection.overrides", value=", ".join(override.groups for override in value))
        elif value != getattr(DetectionOptions(), name):
            yield Property(name=f"detection.{name}", value=str(value))


def _series(chosen: MetricsSettings) -> Iterator[Property]:
    for name in type(chosen).model_fields:
        value = getattr(chosen, name)
        if name == "overrides":
            yield from _details(chosen)
        elif value != getattr(MetricsSettings(), name):
            yield Property(name=f"metrics.{name}", value=", ".join(value) if isinstance(value, tuple) else str(value))


def _details(chosen: MetricsSettings) -> Iterator[Property]:
    """One each, in their order, since the first that matches counts."""
    for override in chosen.overrides:
        named = override.model_dump(exclude={"detail"}, exclude_none=True)
        whose = ", ".join(f"{key} {pattern}" for key, pattern in named.items())
        yield Property(name="metrics.overrides", value=f"{override.detail} for {whose}")


def _cluster(cluster: ClusterSettings) -> Watched:
    topics = f"topics {_by_whom(cluster.collect)}{_through(cluster.via)}"
    return Watched(
        place=f"clusters.{cluster.name}",
        kind="Kafka",
        addresses=cluster.addresses,
        how=f"groups from {GROUPS_FROM[cluster.groups_from]}, {topics}",
        properties=tuple(Property(name=name, value=value) for name, value in cluster.client.shown().items()),
    )


def _system(settings: Settings, system: System) -> Watched:
    carrier = settings.carrier_of(system).name
    how = f"{_by_whom(system.collect)}{_through(carrier)}"
    if isinstance(system, RocketMQSettings):
        place, kind, addresses = system.place, "RocketMQ", system.addresses
        how = f"groups {system.groups}, {how}"
    else:
        place, kind, addresses = f"zookeeper.{system.name}", SYSTEMS[system.system], tuple(system.hosts.split(","))
        how = f"tree {system.root or '/'}, {how}"
    return Watched(place=place, kind=kind, addresses=addresses, how=how, properties=tuple(_login(system)))


def _login(system: RocketMQSettings | ZooKeeperSettings) -> Iterator[Property]:
    if isinstance(system, RocketMQSettings) and system.access_key is not None:
        yield Property(name="access_key", value=HIDDEN)
        yield Property(name="secret_key", value=HIDDEN)


def _queries(settings: Settings, queries: SparkQueriesSettings) -> Watched:
    return Watched(
        place=f"spark_queries.{queries.name}",
        kind="queries of Spark",
        addresses=tuple(map(_place, queries.checkpoints.values())),
        how=f"as groups of {settings.cluster_of(queries).name}, {_by_whom(queries.collect)}",
    )


def _through(carrier: str) -> str:
    return f", through {carrier}" if carrier else ""


def _by_whom(by_job: bool) -> str:
    return "collected by the job" if by_job else "collected by groupwatch collect elsewhere"


def shown_property(key: str, value: str) -> str:
    """The value where it cannot be a secret: by its key, or as it is a number, a size, a time, or on or off.

    Logins to file systems are among Hadoop's properties, by many names: of those, only what is on or off is shown.

    >>> shown_property("spark.driver.memory", "4g"), shown_property("spark.sql.session.timeZone", "UTC")
    ('4g', 'UTC')
    >>> shown_property("spark.driver.extraJavaOptions", "-Dx=tiger"), shown_property("spark.executorEnv.PIN", "1234")
    ('[hidden]', '[hidden]')
    >>> shown_property("spark.hadoop.fs.s3a.path.style.access", "true"), shown_property("spark.hadoop.fs.x.pin", "1234")
    ('true', '[hidden]')
    """
    if key in HARMLESS_CONF:
        return value if re.fullmatch(HARMLESS_CONF[key], value) else HIDDEN
    if is_secret(key) or ENVIRONMENT.match(key) or PLAIN.fullmatch(value) is None:
        return HIDDEN
    return value if value in ("true", "false") or not key.startswith("spark.hadoop.") else HIDDEN


def _place(address: str) -> str:
    """A path or an address, unless it has a login or a query in it.

    >>> _place("s3a://user:ti/ger@bucket/x"), _place("s3a://bucket/x"), _place("abfss://data@x.dfs.example/y")
    ('[hidden]', 's3a://bucket/x', 'abfss://data@x.dfs.example/y')
    """
    return address if AZURE.fullmatch(address) or WITH_SECRET.search(address) is None else HIDDEN
