"""The settings as values: defaults, bounds and names. Reading them is the work of ``monitor.config.load``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict

from monitor.config.client import ClientProperties, texts
from monitor.config.metrics import MetricsSettings
from monitor.config.section import Section, checked_addresses, checked_expression
from monitor.config.systems import RocketMQSettings, SparkQueriesSettings, System, ZooKeeperSettings
from monitor.model import ALL_GROUPS, Shard

ENVIRONMENT_PREFIX: Final = "GROUPWATCH_"
ENVIRONMENT_DELIMITER: Final = "__"

NAMED_TABLES: Final = ("clusters", "rocketmq", "zookeeper", "spark_queries")
"""The tables that hold one table for each watched system, under its name."""

_SHARD: Final = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")


def shard_of_text(text: str) -> Shard:
    """The shard that a text like "1/3" names.

    >>> shard_of_text("2/3")
    Shard(number=2, of=3)

    Raises:
        ValueError: it names none; the text says what it should be.
    """
    found = _SHARD.fullmatch(text)
    shard = Shard(*map(int, found.groups())) if found else None
    if shard is None or shard.number > shard.of:
        raise ValueError("should be like 1/3, the first of three shards")
    return shard


def _as_shard(given: object) -> object:
    return given if isinstance(given, Shard) else shard_of_text(given if isinstance(given, str) else "")


def _as_client_properties(given: object) -> object:
    return ClientProperties(given) if isinstance(given, Mapping) else given


def _as_flat_text(given: object) -> object:
    return texts(given) if isinstance(given, Mapping) else given


class ClusterSettings(Section):
    """One Kafka cluster. ``name`` is the ``cluster`` label; in a file it is the name of the table.

    ``collect_interval_s`` is the time between the starts of two passes over the topics, in seconds.
    ``findings_topic`` is where findings are told as records; "": nowhere.
    ``offsets_isolation`` is how the offsets topic is read: "read_uncommitted" sees every commit at once, and those of
    aborted transactions are put right by the broker's own answer; "read_committed" sees only what is committed, and
    nothing of a partition of that topic behind a transaction that is open there (docs/decisions/0008).
    ``groups_from`` is where the groups are read: "log", the offsets topic; "admin", what the brokers answer, for a
    cluster whose offsets topic may not be read. ``collect`` False: the collectors of this cluster run elsewhere
    (``groupwatch collect``), and the job only awaits what they write.
    """

    name: str = Field(min_length=1)
    bootstrap_servers: str = Field(min_length=1)
    events_topic: str = Field(default="groupwatch.events", pattern=r"^[A-Za-z0-9._-]{1,249}$")
    findings_topic: str = Field(default="groupwatch.findings", pattern=r"^[A-Za-z0-9._-]{0,249}$")
    collect_interval_s: float = Field(default=10.0, gt=0, allow_inf_nan=False)
    offsets_isolation: Literal["read_uncommitted", "read_committed"] = "read_uncommitted"
    client: Annotated[ClientProperties, BeforeValidator(_as_client_properties)] = ClientProperties()
    groups_from: Literal["log", "admin"] = "log"
    collect: bool = True

    @field_validator("bootstrap_servers")
    @classmethod
    def _has_ports(cls, given: str) -> str:
        return checked_addresses(given, ",")

    @model_validator(mode="after")
    def _has_a_findings_topic_of_its_own(self) -> Self:
        if self.findings_topic in {self.events_topic, ".", ".."} or self.findings_topic.startswith("__"):
            raise ValueError("findings_topic should be a topic of its own, not one that groupwatch reads")
        return self

    @property
    def addresses(self) -> tuple[str, ...]:
        """The bootstrap servers, each ``host:port``."""
        return tuple(self.bootstrap_servers.split(","))

    def client_properties(self) -> dict[str, str]:
        """The client properties with their references looked up now. See ``ClientProperties.resolve``."""
        return self.client.resolve(self.client_place)

    @property
    def client_place(self) -> str:
        """Where the client properties stand in the configuration; errors start with it."""
        return f"clusters.{self.name}.client"


class HttpSettings(Section):
    """Where the metrics, the status page and the API are served."""

    bind: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=9464, ge=0, le=65535)


class SparkSettings(Section):
    """The streaming job. ``checkpoint`` is a directory or a URI.

    ``shuffle_partitions`` 0 means one for each core, ``buckets`` 0 some for each of those partitions. A checkpoint
    keeps both from its first micro-batch on; 0 then means its own.

    ``conf`` goes to Spark as it is. ``trigger_s`` is the time between the starts of two batches, in seconds.
    """

    master: str = Field(default="local[*]", min_length=1)
    checkpoint: str | None = Field(default=None, min_length=1)
    buckets: int = Field(default=0, ge=0, le=4096)
    shuffle_partitions: int = Field(default=0, ge=0)
    trigger_s: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    max_records_per_batch: int = Field(default=4_000_000, ge=1)
    conf: Annotated[dict[str, str], BeforeValidator(_as_flat_text)] = Field(default={})


class Thresholds(Section):
    """From where on something is a finding.

    ``imbalance_ratio``: the largest member's partitions over the smallest largest that any assignment could reach.
    ``commit_silence_s``: seconds without a commit while records wait. ``lag_records``: the lag of a group in records,
    above which it is reported; None: never. ``retention_share``: as much as this share of what the last cut left of a
    partition has to wait for a group to be close to losing records. ``burrow_allowed_lag`` and
    ``burrow_minimum_complete`` are those of Burrow's rules. ``handover_s``: seconds that a partition may take from one
    member of a KIP-848 group to another; None: the member's rebalance timeout. ``rebalance_long_s``: seconds that a
    rebalance may last. ``storm_rebalances`` within ``storm_window_s`` seconds are too many, until that has been over
    for as long. ``skew_records`` that have waited ``skew_s`` seconds for one member are its group's imbalance. The
    meaning and the defaults are those of ``monitor.detection.settings``.
    """

    imbalance_ratio: float = Field(default=1.25, ge=1, allow_inf_nan=False)
    commit_silence_s: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    lag_records: int | None = Field(default=None, ge=0)
    retention_share: float = Field(default=0.9, gt=0, le=1, allow_inf_nan=False)
    burrow_allowed_lag: int = Field(default=0, ge=0)
    burrow_minimum_complete: float = Field(default=0.0, ge=0, le=1, allow_inf_nan=False)
    handover_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    rebalance_long_s: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    storm_rebalances: int = Field(default=20, ge=2, le=20)
    storm_window_s: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    skew_records: int = Field(default=10_000, ge=1)
    skew_s: float = Field(default=300.0, gt=0, allow_inf_nan=False)


class DetectionOverride(Thresholds):
    """Thresholds for some groups: ``groups`` is an expression of RE2 for the whole name, ``cluster`` None is any.

    What it does not name is as in the section.
    """

    groups: str = Field(min_length=1)
    cluster: str | None = None

    @field_validator("groups")
    @classmethod
    def _is_an_expression(cls, given: str) -> str:
        return checked_expression(given)


class DetectionOptions(Thresholds):
    """The thresholds of all groups, and of some: of ``overrides``, the first that matches a group counts."""

    overrides: tuple[DetectionOverride, ...] = ()

    def with_override(self, override: DetectionOverride) -> Thresholds:
        """The thresholds with those that the override names."""
        named = override.model_fields_set & Thresholds.model_fields.keys()
        return Thresholds(
            **{name: getattr(override if name in named else self, name) for name in Thresholds.model_fields}
        )


class Settings(BaseSettings):
    """Everything a deployment chooses. Clusters and the other systems are keyed by their name.

    ``shard`` is the job's share of the groups, "1/3" for the first of three jobs that share them.
    """

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        hide_input_in_errors=True,
        env_prefix=ENVIRONMENT_PREFIX,
        env_nested_delimiter=ENVIRONMENT_DELIMITER,
    )

    shard: Annotated[Shard, BeforeValidator(_as_shard)] = ALL_GROUPS
    clusters: dict[str, ClusterSettings] = {}
    http: HttpSettings = HttpSettings()
    spark: SparkSettings = SparkSettings()
    detection: DetectionOptions = DetectionOptions()
    rocketmq: dict[str, RocketMQSettings] = {}
    zookeeper: dict[str, ZooKeeperSettings] = {}
    spark_queries: dict[str, SparkQueriesSettings] = {}
    metrics: MetricsSettings = MetricsSettings()

    @property
    def systems(self) -> tuple[System, ...]:
        """The watched systems that have a query of their own and are no Kafka cluster of today."""
        return (*self.rocketmq.values(), *self.zookeeper.values())

    @property
    def watched_names(self) -> tuple[str, ...]:
        """The names of all that has a query of its own: the values of the ``cluster`` label."""
        return (*self.clusters, *(system.name for system in self.systems))

    def carrier_of(self, watched: System | SparkQueriesSettings) -> ClusterSettings:
        """The Kafka cluster whose events topic carries what is read of this system."""
        return self.clusters[watched.carrier] if watched.carrier else next(iter(self.clusters.values()))

    @model_validator(mode="before")
    @classmethod
    def _name_clusters(cls, given: Any) -> Any:  # noqa: ANN401 - pydantic gives whatever was configured
        if not isinstance(given, Mapping):
            return given
        tables = {table: given[table] for table in NAMED_TABLES if isinstance(given.get(table), Mapping)}
        return {**given, **{table: _all_named(table, entries) for table, entries in tables.items()}}

    @model_validator(mode="after")
    def _names_are_different(self) -> Self:
        seen: dict[str, str] = {}
        for table in NAMED_TABLES:
            for name in getattr(self, table):
                if name in seen:
                    raise _misplaced(f"{table}.{name}", f"needs another name: there is a {seen[name]}.{name}")
                seen[name] = table
        return self

    @model_validator(mode="after")
    def _carriers_are_clusters(self) -> Self:
        for table, key in (("rocketmq", "via"), ("zookeeper", "via"), ("spark_queries", "cluster")):
            for name, watched in getattr(self, table).items():
                self._require_a_carrier(f"{table}.{name}", key, watched.carrier)
        return self

    def _require_a_carrier(self, place: str, key: str, carrier: str) -> None:
        if carrier and carrier not in self.clusters:
            raise _misplaced(place, f"{key} should be the name of one of the clusters")
        if not self.clusters:
            raise _misplaced(place, "needs a Kafka cluster: add a table [clusters.NAME] with bootstrap_servers")
        if not carrier and len(self.clusters) > 1:
            raise _misplaced(place, f"{key} is required, since there are several clusters: the name of one of them")

    @model_validator(mode="after")
    def _queries_of_a_cluster_are_in_one_table(self) -> Self:
        """Each listing of a collector says that all groups of its source that it does not name are gone."""
        first: dict[str, str] = {}
        for name, queries in self.spark_queries.items():
            cluster = self.carrier_of(queries).name
            if cluster in first:
                place, other = f"spark_queries.{name}", f"spark_queries.{first[cluster]}"
                what = f"reads the cluster {cluster}, as {other} does: put all its checkpoints into one table"
                raise _misplaced(place, what)
            first[cluster] = name
        return self

    @model_validator(mode="after")
    def _overrides_name_clusters(self) -> Self:
        known = {*self.clusters, *self.rocketmq, *self.zookeeper}
        named = {
            "detection": [override.cluster for override in self.detection.overrides],
            "metrics": [override.cluster for override in self.metrics.overrides],
        }
        for section, clusters in named.items():
            for number, cluster in enumerate(clusters, start=1):
                if cluster is not None and cluster not in known:
                    place = {"section": section, "number": number}
                    message = "{section}.overrides#{number}.cluster should be the name of one of the clusters"
                    raise PydanticCustomError("override_cluster", message, place)
        return self


def _misplaced(place: str, what: str) -> PydanticCustomError:
    return PydanticCustomError("place_in_the_whole", "{place} {what}", {"place": place, "what": what})


def _all_named(table: str, entries: Mapping[str, object]) -> dict[str, object]:
    return {name: _named(table, name, entry) for name, entry in entries.items()}


def _named(table: str, name: str, entry: object) -> object:
    if not isinstance(entry, Mapping):
        return entry
    if "name" in entry:
        place = {"table": table, "name": name}
        raise PydanticCustomError("cluster_name", "{table}.{name}.name is not a known key", place)
    return {**entry, "name": name}
