"""How collectors go, as Prometheus text: beside a job's own metrics, or alone where only collectors run. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.metrics import specs
from monitor.metrics.compiled_rows import add_values
from monitor.metrics.exposition_format import OPENMETRICS_END, Samples, header, labels, openmetrics_header
from monitor.metrics.spec_types import CollectorMetric
from monitor.metrics.specs import FAMILIES, METRICS
from monitor.metrics.version import installed_version
from monitor.model import CollectorHealth
from monitor.model.cluster_label import CLUSTER_LABEL
from monitor.model.escaping import escaped

_add_health: Final = add_values([spec for spec in METRICS if isinstance(spec, CollectorMetric)])


def add_collectors(samples: Samples, collectors: Iterable[CollectorHealth], label: str = CLUSTER_LABEL) -> None:
    """What is known of their passes. A collector that has not ended a pass yet has no ``up``.

    ``label`` names the cluster.
    """
    for health in collectors:
        pairs = labels(**{label: health.cluster}, collector=health.collector, name=health.name)
        _add_health(samples, pairs, health)
        results = {"complete": health.complete, "incomplete": health.incomplete, "failed": health.failed}
        samples.add_each(specs.COLLECTOR_PASSES_TOTAL, pairs, "result", results)


def collectors_exposition(
    collectors: Iterable[CollectorHealth],
    version: str | None = None,
    *,
    openmetrics: bool = False,
    label: str = CLUSTER_LABEL,
) -> str:
    """The whole text of a metrics endpoint where only collectors run.

    ``version`` is the installed one unless given; ``label`` names the cluster.
    """
    samples = Samples()
    add_collectors(samples, collectors, label)
    samples.add(specs.BUILD_INFO, labels(version=version or installed_version()), 1)
    head, end = (openmetrics_header, OPENMETRICS_END) if openmetrics else (header, "")
    given = {block.family: block.samples for block in samples.blocks()}
    return "".join([head(spec) + given[name] for name, spec in FAMILIES.items() if name in given]) + end


def collectors_text(collectors: Iterable[CollectorHealth]) -> str:
    """One line for each collector that is not well, "ready" if there is none."""
    lines = [f"{escaped(health.name)}: {_condition(health)}\n" for health in collectors if not is_well(health)]
    return "".join(lines) or "ready\n"


def is_well(health: CollectorHealth) -> bool:
    """Whether it has written a complete pass, and its newest one was."""
    return health.last_success_ms is not None and health.problem is None


def _condition(health: CollectorHealth) -> str:
    return escaped(health.problem or "") or "The first pass has not ended."
