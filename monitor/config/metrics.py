"""The section ``[metrics]``: which series there are on /metrics. Judging, findings and the page are not affected."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from monitor.config.section import Patterns, Section, as_words, checked_expression
from monitor.model.cluster_label import CLUSTER_LABEL, checked_cluster_label

DetailName = Literal["cluster", "group", "topic", "partition"]

Compat = Literal["kafka_exporter"]


class MetricsOverride(Section):
    """Another detail for some groups or topics: every named condition must match."""

    detail: DetailName
    """The detail of these series, as ``metrics.detail``."""
    groups: str | None = None
    """RE2, for the whole name of a group; not set: every group."""
    topics: str | None = None
    """RE2, for the whole name of a topic; not set: every topic, and the groups themselves."""
    cluster: str | None = None
    """The name of one watched cluster or system; not set: every one."""

    @field_validator("groups", "topics")
    @classmethod
    def _is_an_expression(cls, given: str | None) -> str | None:
        return None if given is None else checked_expression(given)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.groups is None and self.topics is None and self.cluster is None:
            raise ValueError("should name groups, topics or a cluster")
        if self.topics is not None and self.detail == "cluster":
            raise ValueError('detail should be "group", "topic" or "partition" where topics are named')
        return self


class MetricsSettings(Section):
    """The series on ``/metrics``. Evaluation, findings and the page are not affected."""

    detail: DetailName = "partition"
    """The finest exposed series: "partition" (all), "topic" (sums of a group's topics instead of its partitions),
    "group" (no topics), or "cluster" (groups only count in the sums of their cluster)."""
    overrides: tuple[MetricsOverride, ...] = ()
    """Another detail for some groups or topics; the first match counts."""
    allow_groups: Patterns = ()
    """RE2, for the whole name: only matching groups have series of their own. Empty: all."""
    deny_groups: Patterns = ()
    """RE2, for the whole name: matching groups have no series of their own. It overrides ``allow_groups``."""
    allow_topics: Patterns = ()
    """RE2, for the whole name: only matching topics have series. Empty: all."""
    deny_topics: Patterns = ()
    """RE2, for the whole name: matching topics have no series. It overrides ``allow_topics``."""
    max_series: int | None = Field(default=None, ge=1, le=1_000_000_000)
    """The maximum number of series. Above it, detail is left out: partitions first, largest groups first.
    ``groupwatch_series_left_out`` counts the missing series. Not set: no limit."""
    compat: Annotated[tuple[Compat, ...], BeforeValidator(as_words)] = ()
    """Exporters under whose names lags are also exposed: "kafka_exporter"."""
    member_info: bool = False
    """Expose series for each member (``groupwatch_member_info``, ``groupwatch_member_lag``). They change with every
    rebalance."""
    owner_info: bool = False
    """Expose a series for each owner of a partition (``groupwatch_partition_owner_info``). They change with every
    rebalance."""
    commit_times: bool = False
    """Expose when each partition was last committed (``groupwatch_partition_last_commit_timestamp_seconds``) and how
    often (``groupwatch_partition_commits_total``): two series more for each partition of a group."""

    cluster_label: str = CLUSTER_LABEL
    """The name of the label ``cluster``, for example "kafka_cluster", if your Prometheus uses ``cluster`` for something
    else. `groupwatch rules` and `groupwatch dashboards` write it."""

    @field_validator("cluster_label")
    @classmethod
    def _is_a_free_label(cls, given: str) -> str:
        return checked_cluster_label(given)

    @field_validator("allow_groups", "deny_groups", "allow_topics", "deny_topics")
    @classmethod
    def _are_expressions(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(checked_expression, given))
