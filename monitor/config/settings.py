"""The settings as values: defaults, bounds and names. Reading them is the work of ``monitor.config.load``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict

from monitor.config.alerts import AlertsSettings
from monitor.config.client import ClientProperties, as_client_properties, as_texts
from monitor.config.cores import local_cores
from monitor.config.dashboards import DashboardsSettings
from monitor.config.expectations import ExpectationsSettings
from monitor.config.history import HistorySettings
from monitor.config.http import HttpSettings
from monitor.config.metrics import MetricsSettings
from monitor.config.otlp import OtlpSettings
from monitor.config.scale import ScaleSettings
from monitor.config.section import (
    LARGEST_OFFSET,
    LONGEST_S,
    Interval,
    Name,
    Section,
    checked_addresses,
    checked_expression,
)
from monitor.config.systems import RocketMQSettings, SparkQueriesSettings, System, ZooKeeperSettings
from monitor.config.webhook import WebhookSettings
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import ALL_GROUPS, Shard

ENVIRONMENT_PREFIX: Final = "GROUPWATCH_"
ENVIRONMENT_DELIMITER: Final = "__"

SYSTEM_TABLES: Final = ("rocketmq", "zookeeper")
"""The tables of systems that have a query of their own and are no Kafka cluster of today."""

NAMED_TABLES: Final = ("clusters", *SYSTEM_TABLES, "spark_queries")
"""The tables that hold one table for each watched system, under its name."""

EVENTS_TOPIC: Final = "groupwatch.events"

_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""What Kafka takes as the name of a topic."""

_NO_TOPIC_OF_NAME: Final = (
    "has via: set its events_topic, or give it another name. The default, {start}.NAME, may have only letters, digits, "
    "dots, _ and -"
)

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


class ClusterSettings(Section):
    """One Kafka cluster."""

    name: Name
    """The value of the label `cluster`; in a file it is the name of the table."""
    bootstrap_servers: str = Field(min_length=1)
    """Bootstrap brokers: `host:port`, or several of them separated by commas."""
    via: str = ""
    """Another cluster in `[clusters]`, the carrier: what groupwatch writes for this cluster goes to topics there. The
    user then needs no permission to write here ([access.md](access.md#permissions-in-kafka)). `""`: to topics of this
    cluster. A checkpoint keeps it."""
    events_topic: str = Field(default=EVENTS_TOPIC, pattern=r"^[A-Za-z0-9._-]{1,249}$")
    """The topic to which collectors write their events: of this cluster, or of the carrier (`via`), where
    `groupwatch.events.NAME` is the default. It is created if missing. A checkpoint keeps it."""
    findings_topic: str = Field(default="groupwatch.findings", pattern=r"^[A-Za-z0-9._-]{0,249}$")
    """The topic of this cluster to which findings are published as records ([findings.md](findings.md)); `""`: none.
    With `via`, findings go to that of the carrier."""
    collect_interval_s: Interval = 10.0
    """Time between the starts of two polls of the topics and their end offsets."""
    offsets_isolation: Literal["read_uncommitted", "read_committed"] = "read_uncommitted"
    """The isolation level for reading the offsets topic. `read_uncommitted` sees every commit at once; the broker's own
    response corrects those of aborted transactions. `read_committed` sees only committed records. It sees nothing
    behind an open transaction in a partition of that topic ([decision
    0008](decisions/0008-transactional-commits.md))."""
    client: Annotated[ClientProperties, BeforeValidator(as_client_properties)] = ClientProperties()
    """A table of Kafka client properties by their Java names, for every client of this cluster. A value may contain
    `${env:NAME}` and `${file:/path}`. They are resolved when a client is created, so a rotated secret needs no new
    settings. [Log-ins](#log-ins) has an example for each way to log in."""
    groups_from: Literal["log", "admin"] = "log"
    """The source of the groups: `log` reads the offsets topic. `admin` uses the admin API, for a cluster whose offsets
    topic may not be read ([collectors.md](collectors.md)). A checkpoint keeps it."""
    collect: bool = True
    """`false`: the collectors of this cluster run elsewhere (`groupwatch collect`), and the job only reads their
    events."""
    connect_configs: Annotated[dict[str, str], BeforeValidator(as_texts)] = Field(default={})
    """A table of the topics of configurations of Connect clusters: `group.id` of the workers = their
    `config.storage.topic`. They say which connectors and tasks should run; no group names its topic. groupwatch decodes
    only names, numbers of tasks, target states and `consumer.override.group.id`. A topic that is missing or may not be
    read is left out with a warning until the next start."""

    @model_validator(mode="before")
    @classmethod
    def _name_events_at_the_carrier(cls, given: Any) -> Any:  # noqa: ANN401 - pydantic gives whatever was configured
        """Clusters with one topic would read, and decode, each other's events."""
        if isinstance(given, Mapping) and given.get("via") and "events_topic" not in given:
            topic = f"{EVENTS_TOPIC}.{given.get('name', '')}"
            return {**given, "events_topic": topic} if _TOPIC.fullmatch(topic) else given
        return given

    @model_validator(mode="after")
    def _has_a_name_for_its_events_topic(self) -> Self:
        if self.via and "events_topic" not in self.model_fields_set:
            raise PydanticCustomError("events_of_carried", _NO_TOPIC_OF_NAME, {"start": EVENTS_TOPIC})
        return self

    @field_validator("connect_configs")
    @classmethod
    def _are_topics(cls, given: dict[str, str]) -> dict[str, str]:
        for topic in given.values():
            if not _TOPIC.fullmatch(topic) or topic.startswith("__"):
                raise ValueError("each value should be the name of a topic")
        return given

    @field_validator("events_topic")
    @classmethod
    def _is_no_topic_of_kafkas(cls, given: str) -> str:
        if given in (".", "..") or given.startswith("__"):
            raise ValueError("should be a topic of groupwatch's own, not one of Kafka's")
        return given

    @field_validator("bootstrap_servers")
    @classmethod
    def _has_ports(cls, given: str) -> str:
        return checked_addresses(given, ",")

    @model_validator(mode="after")
    def _has_a_findings_topic_of_its_own(self) -> Self:
        if self.findings_topic in {self.events_topic, ".", ".."} or self.findings_topic.startswith("__"):
            raise ValueError("findings_topic should be a topic of its own, not one that groupwatch reads")
        if {self.events_topic, self.findings_topic} & set(self.connect_configs.values()):
            raise ValueError("connect_configs should name topics of Connect, not groupwatch's own")
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


LEAST_TRIGGER_S: Final = 1.0
"""The least distance that is chosen for a deployment, in seconds."""

BATCH_CPU_S: Final = 1.0
"""The CPU of a micro-batch of one cluster that a deployment is to have, in seconds (docs/scaling.md)."""


class SparkSettings(Section):
    """The streaming job."""

    master: str = Field(default="local[*]", min_length=1)
    """The Spark master that runs the job ([scaling.md](scaling.md)): `local[N]`, `local[*]` (every core of this
    machine), `spark://HOST:PORT`, `k8s://HOST:PORT` or `yarn`. Of a local master, each query gets N task slots of its
    own, so a cluster that hangs takes none from the others."""
    checkpoint: str | None = Field(default=None, min_length=1)
    """The folder of the state: a directory, or a URI of a file system that Spark is set up for (`hdfs://`, `s3a://`).
    It has one folder for each cluster. `groupwatch run` does not start without it."""
    buckets: int = Field(default=0, ge=0, le=4096)
    """The number of buckets of groups in the state. 0: 8 for each of Spark's partitions, at most 512; a checkpoint
    keeps its first number ([scaling.md](scaling.md))."""
    shuffle_partitions: int = Field(default=0, ge=0, le=4096)
    """Spark's partitions, each a task of every micro-batch. 0: one for each core of a local master, 8 on any cluster; a
    checkpoint keeps its first number."""
    trigger_s: float | None = Field(default=None, ge=0, le=86_400, allow_inf_nan=False)
    """The least time between the starts of two micro-batches, on average, while records keep coming. After a pause a
    record is read at once. Not set: a second for each cluster and system, divided by the cores of a local master (8 on
    any cluster), and at least 1 s ([scaling.md](scaling.md#buckets-partitions-and-the-trigger)). `check-config` shows
    it."""
    max_records_per_batch: int = Field(default=4_000_000, ge=1, le=1_000_000_000)
    """The largest number of records (offsets) of a cluster in one micro-batch. It bounds the memory of a start with a
    large backlog."""
    conf: Annotated[dict[str, str], BeforeValidator(as_texts)] = Field(default={})
    """A table of Spark's own properties. A value may contain `${env:NAME}` and `${file:/path}`, which are resolved at
    the start; everything else is passed to Spark unchanged. No property is visible to other users of the machine
    ([access.md](access.md#sparks-ports-and-secrets))."""

    def trigger_s_for(self, queries: int) -> float:
        """The chosen distance of micro-batches in seconds, or what follows from the cores and the number of queries.

        >>> SparkSettings(master="local[2]").trigger_s_for(5), SparkSettings(master="local[4]").trigger_s_for(3)
        (2.5, 1.0)
        >>> SparkSettings(master="local[2]", trigger_s=0.5).trigger_s_for(5)
        0.5
        """
        if self.trigger_s is not None:
            return self.trigger_s
        return max(LEAST_TRIGGER_S, queries * BATCH_CPU_S / local_cores(self.master))

    def properties(self) -> dict[str, str]:
        """Spark's properties with their references looked up now. See ``ClientProperties.resolve``."""
        return ClientProperties(self.conf).resolve("spark.conf")


_RULES: Final = DetectionSettings()
"""The defaults of the thresholds, in the rules' own units."""


class Thresholds(Section):
    """The thresholds of findings.

    The defaults are those of the rules, ``monitor.detection.thresholds.thresholds``, which count time in ms.
    """

    imbalance_ratio: float = Field(default=_RULES.imbalance_ratio, ge=1, le=1_000_000, allow_inf_nan=False)
    """The imbalance threshold: partitions of the largest member divided by those of the largest member in the most even
    possible assignment. A remainder never counts: 3 and 2 is the best for 5 partitions."""
    commit_silence_s: float = Field(default=_RULES.commit_silence_ms / 1000, gt=0, le=LONGEST_S, allow_inf_nan=False)
    """A group with active members is a finding when it commits nothing for this long although it has lag, unless such
    gaps are usual there. 60 s is twelve times the commit interval of Kafka's Java client (`auto.commit.interval.ms`, 5
    s)."""
    lag_records: int | None = Field(default=_RULES.lag_records, ge=0, le=LARGEST_OFFSET)
    """A group with more lag than this is a finding (MetaQ: bytes). Not set: never. The acceptable lag depends on the
    topic, so there is no honest default."""
    retention_share: float = Field(default=_RULES.retention_share, gt=0, le=1, allow_inf_nan=False)
    """A group is close to losing records when its lag in a partition reaches this share of the records that retention
    last left there. For a week of records, 0.9 leaves about 17 hours."""
    burrow_allowed_lag: int = Field(default=_RULES.burrow.allowed_lag, ge=0, le=LARGEST_OFFSET)
    """Burrow's `allowed-lag`, for the status by its rules: a partition with at most this lag is OK."""
    burrow_minimum_complete: float = Field(default=_RULES.burrow.minimum_complete, ge=0, le=1, allow_inf_nan=False)
    """Burrow's `minimum-complete`: a partition is OK while less than this share of its last 10 commits is known."""
    handover_s: float | None = Field(default=None, gt=0, le=LONGEST_S, allow_inf_nan=False)
    """The time limit for moving a partition from one member of a KIP-848 group to another. Not set: the rebalance
    timeout of the member that revokes it (`max.poll.interval.ms` of the Java client, 5 minutes). The broker fences the
    member after that."""
    rebalance_long_s: float = Field(default=_RULES.rebalance_long_ms / 1000, gt=0, le=LONGEST_S, allow_inf_nan=False)
    """A rebalance of this duration is a finding. 60 s is longer than the wait for a killed member
    (`session.timeout.ms`, 45 s). It is far shorter than the delay by a member that does not poll
    (`max.poll.interval.ms`, 5 minutes)."""
    storm_rebalances: int = Field(default=_RULES.storm_rebalances, ge=2, le=20)
    """This many rebalances within `storm_window_s` are a finding. It closes after one such window with fewer. A rolling
    restart of five members causes ten and is intended."""
    storm_window_s: float = Field(default=_RULES.storm_window_ms / 1000, gt=0, le=LONGEST_S, allow_inf_nan=False)
    """The time window of `storm_rebalances`; longer than a rolling restart takes."""
    share_delivery_limit: int = Field(default=_RULES.delivery_limit, ge=2, le=25)
    """How often a share group delivers a record before it gives up, if the collector cannot read that from the configs
    of the group (`share.delivery.count.limit`) or of the brokers. No log contains it; 5 is the brokers' default."""
    skew_records: int = Field(default=_RULES.skew_records, ge=1, le=LARGEST_OFFSET // 1000)
    """A member with this lag (MetaQ: in thousands of bytes) is an imbalance of its group, if it has most of the group's
    lag. The finding opens once the member's oldest unread record is `skew_s` old."""
    skew_s: float = Field(default=_RULES.skew_ms / 1000, gt=0, le=LONGEST_S, allow_inf_nan=False)
    """See `skew_records`. Within 5 minutes, a lag that the group processes evenly disappears or spreads."""


class DetectionOverride(Thresholds):
    """Thresholds for some groups; unset keys keep the general value. The first override that matches a group counts."""

    groups: str = Field(min_length=1)
    """The groups: a regular expression of RE2 for the whole name."""
    cluster: str | None = None
    """Only groups of the cluster with this name; not set: every cluster."""

    @field_validator("groups")
    @classmethod
    def _is_an_expression(cls, given: str) -> str:
        return checked_expression(given)


class DetectionOptions(Thresholds):
    """The thresholds of all groups, with overrides."""

    overrides: tuple[DetectionOverride, ...] = ()
    """Thresholds for some groups, each a table `[[detection.overrides]]`; the first match counts."""

    def with_override(self, override: DetectionOverride) -> Thresholds:
        """The thresholds with those that the override names."""
        named = override.model_fields_set & Thresholds.model_fields.keys()
        return Thresholds(
            **{name: getattr(override if name in named else self, name) for name in Thresholds.model_fields}
        )


class Settings(BaseSettings):
    """Everything a deployment chooses. Clusters and the other systems are keyed by their name."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        hide_input_in_errors=True,
        env_prefix=ENVIRONMENT_PREFIX,
        env_nested_delimiter=ENVIRONMENT_DELIMITER,
        use_attribute_docstrings=True,
    )

    shard: Annotated[Shard, BeforeValidator(_as_shard)] = ALL_GROUPS
    """The job's share of the groups: `"1/3"` for the first of three jobs that share them ([scaling.md](scaling.md)).
    The option `--shard` of `groupwatch run` overrides it."""
    clusters: dict[str, ClusterSettings] = {}
    """Kafka clusters, each a table `[clusters.NAME]`."""
    http: HttpSettings = HttpSettings()
    """Where the metrics, the status page and the API are served."""
    spark: SparkSettings = SparkSettings()
    """The streaming job."""
    detection: DetectionOptions = DetectionOptions()
    """The thresholds of findings."""
    rocketmq: dict[str, RocketMQSettings] = {}
    """RocketMQ clusters, each a table `[rocketmq.NAME]`."""
    zookeeper: dict[str, ZooKeeperSettings] = {}
    """Consumers that keep their groups in ZooKeeper, each a table `[zookeeper.NAME]`."""
    spark_queries: dict[str, SparkQueriesSettings] = {}
    """Queries of Spark, each a table `[spark_queries.NAME]` for one Kafka cluster."""
    metrics: MetricsSettings = MetricsSettings()
    """The exposed series."""
    otlp: OtlpSettings = OtlpSettings()
    """The push to an OpenTelemetry collector."""
    webhook: WebhookSettings = WebhookSettings()
    """The delivery of findings to a webhook."""
    history: HistorySettings = HistorySettings()
    """The recording."""
    alerts: AlertsSettings = AlertsSettings()
    """The alert rules."""
    dashboards: DashboardsSettings = DashboardsSettings()
    """The dashboards."""
    expectations: ExpectationsSettings = ExpectationsSettings()
    """What groups should look like."""
    scale: tuple[ScaleSettings, ...] = ()
    """Groups of which groupwatch says how many members they need, each a table `[[scale]]`."""

    @property
    def systems(self) -> tuple[System, ...]:
        """All that SYSTEM_TABLES hold."""
        return tuple(system for table in SYSTEM_TABLES for system in self.systems_in(table).values())

    def systems_in(self, table: str) -> Mapping[str, System]:
        """The systems of one of SYSTEM_TABLES, by name."""
        found: Mapping[str, System] = getattr(self, table)
        return found

    @property
    def watched_names(self) -> tuple[str, ...]:
        """The names of all that has a query of its own: the values of the ``cluster`` label."""
        return (*self.clusters, *(system.name for system in self.systems))

    @property
    def trigger_s(self) -> float:
        """The distance of micro-batches that the job keeps, in seconds: as chosen, or by the number of its queries."""
        return self.spark.trigger_s_for(len(self.watched_names))

    def carrier_of(self, watched: ClusterSettings | System | SparkQueriesSettings) -> ClusterSettings:
        """The Kafka cluster whose topics carry what groupwatch writes of this one, or of this system.

        For a cluster that is not its own carrier, it has the events topic and the interval of that cluster.
        """
        if isinstance(watched, SparkQueriesSettings):
            return self.carrier_of(self.cluster_of(watched))
        if not isinstance(watched, ClusterSettings):
            return self._named_or_only(watched.carrier)
        if not watched.via:
            return watched
        own = {"events_topic": watched.events_topic, "collect_interval_s": watched.collect_interval_s}
        return self.clusters[watched.via].model_copy(update=own)

    def cluster_of(self, queries: SparkQueriesSettings) -> ClusterSettings:
        """The Kafka cluster that queries of Spark read."""
        return self._named_or_only(queries.carrier)

    def _named_or_only(self, name: str) -> ClusterSettings:
        return self.clusters[name] if name else next(iter(self.clusters.values()))

    def own_topics_at(self, cluster: ClusterSettings) -> frozenset[str]:
        """The topics of a Kafka cluster to which groupwatch writes."""
        carriers = (self.carrier_of(each) for each in self.clusters.values())
        here = [each for each in carriers if each.name == cluster.name]
        return frozenset(topic for each in here for topic in (each.events_topic, each.findings_topic) if topic)

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
        for table in SYSTEM_TABLES:
            for name, system in self.systems_in(table).items():
                self._require_a_carrier(f"{table}.{name}", "via", system.carrier)
                if self.carrier_of(system).via:
                    raise _misplaced(f"{table}.{name}", "via should be the name of a cluster without via")
        for name, queries in self.spark_queries.items():
            self._require_a_carrier(f"spark_queries.{name}", "cluster", queries.carrier)
        return self

    @model_validator(mode="after")
    def _clusters_have_carriers(self) -> Self:
        for name, cluster in self.clusters.items():
            if cluster.via and (wrong := self._wrong_with_carrier(cluster)):
                raise _misplaced(f"clusters.{name}", wrong)
        return self

    def _wrong_with_carrier(self, cluster: ClusterSettings) -> str | None:
        carrier = self.clusters.get(cluster.via)
        if carrier is None or carrier.via or carrier is cluster:
            return "via should be the name of another of the clusters, one without via"
        if "findings_topic" in cluster.model_fields_set:
            return f"findings_topic should stand in clusters.{cluster.via}: with via, findings go there"
        if cluster.events_topic in {carrier.findings_topic, *carrier.connect_configs.values()}:
            return f"events_topic should be a topic of its own at {cluster.via}"
        if cluster.connect_configs and cluster.groups_from == "admin":
            return 'connect_configs needs groups_from = "log" or no via'
        return None

    def _require_a_carrier(self, place: str, key: str, carrier: str) -> None:
        if carrier and carrier not in self.clusters:
            raise _misplaced(place, f"{key} should be the name of one of the clusters")
        if not self.clusters:
            raise _misplaced(place, "needs a Kafka cluster: add a table [clusters.NAME] with bootstrap_servers")
        if not carrier and len(self.clusters) > 1:
            raise _misplaced(place, f"{key} is required with several clusters: the name of one of them")

    @model_validator(mode="after")
    def _queries_of_a_cluster_are_in_one_table(self) -> Self:
        """Each listing of a collector says that all groups of its source that it does not name are gone."""
        first: dict[str, str] = {}
        for name, queries in self.spark_queries.items():
            cluster = self.cluster_of(queries).name
            if cluster in first:
                place, other = f"spark_queries.{name}", f"spark_queries.{first[cluster]}"
                what = f"reads the cluster {cluster}, as {other} does: put all its checkpoints into one table"
                raise _misplaced(place, what)
            first[cluster] = name
        return self

    @model_validator(mode="after")
    def _overrides_name_clusters(self) -> Self:
        known = frozenset(self.watched_names)
        named = {
            "detection": [override.cluster for override in self.detection.overrides],
            "metrics": [override.cluster for override in self.metrics.overrides],
            "scale": [entry.cluster for entry in self.scale],
        }
        for section, clusters in named.items():
            for number, cluster in enumerate(clusters, start=1):
                if cluster is not None and cluster not in known:
                    place = {"list": "scale" if section == "scale" else f"{section}.overrides", "number": number}
                    message = "{list}#{number}.cluster should be the name of one of the clusters"
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
