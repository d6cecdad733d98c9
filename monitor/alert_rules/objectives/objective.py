"""An objective of an entry in one cluster: its names, and what Prometheus has to be queried for it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Final

from monitor.expectations.entries import EntriesOfCluster
from monitor.expectations.expectation import Expectations, Objective
from monitor.metrics import specs
from monitor.model import Value
from monitor.model.cluster_label import CLUSTER_LABEL

FAMILY: Final = specs.EXPECTATION_SECONDS_TOTAL.name
BAD: Final = 'met!="yes"'
"""Not met, and unknown: what is not measured is not good."""

_PLAIN: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST: Final = 63
"""The longest name of RFC 1123, which Kubernetes and OpenSLO take."""
_DIGEST: Final = 8


class ObjectiveError(Exception):
    """A file cannot be written for a tool; the text is one sentence."""


class ClusterObjective(Value):
    """An objective of an entry in one cluster. ``expression`` is the ``groups`` of the entry."""

    cluster: str
    expression: str
    objective: Objective
    team: str | None = None
    cluster_label: str = CLUSTER_LABEL

    @property
    def name(self) -> str:
        """A name of RFC 1123, which no other objective has.

        >>> ClusterObjective("prod", "orders", Objective(99.5, 30)).name
        'prod--orders'
        >>> ClusterObjective("prod", "batch-.*", Objective(99.5, 30)).name
        'prod--batch-30010111'
        """
        return name_of(self.cluster, self.expression)

    @property
    def window(self) -> str:
        """Its window in Prometheus' notation, which the other tools know, too."""
        return f"{self.objective.window_days}d"

    @property
    def percent(self) -> str:
        """Its percentage, as short as it is.

        >>> ClusterObjective("prod", "orders", Objective(99.0, 30)).percent
        '99'
        """
        return f"{self.objective.percent:.10g}"

    @property
    def description(self) -> str:
        """A sentence, in which Prometheus sees no template."""
        return without_template(
            f"The expectations of {self.expression} in {self.cluster} should be met for {self.percent} % of "
            f"{self.window}; unknown time counts as not met."
        )

    def series(self, *more: str) -> str:
        """The series of the entry, with more matchers.

        >>> ClusterObjective("prod", "orders", Objective(99.0, 30)).series(BAD)
        'groupwatch_expectation_seconds_total{cluster="prod",expectation="orders",met!="yes"}'
        """
        own = (f"{self.cluster_label}={quotation(self.cluster)}", f"expectation={quotation(self.expression)}")
        return f"{FAMILY}{{{','.join((*own, *more))}}}"


def without_template(text: str) -> str:
    """A text in which Prometheus, Sloth and Pyrra see no template.

    >>> without_template("a{{{")
    'a{ { {'
    """
    return re.sub(r"\{(?=\{)", "{ ", text)


def quotation(text: str) -> str:
    r"""A text in the quotes of PromQL. Two braces in a row would start a template, in Sloth and in rules.

    >>> quotation("a{{2}"), quotation('"')
    ('"a{\\x7b2}"', '"\\""')
    """
    return json.dumps(text, ensure_ascii=False).replace("{{", "{\\x7b")


def name_of(*parts: str) -> str:
    """A name of RFC 1123 for these; what makes others of them gets a digest, so that no two are alike.

    >>> name_of("prod"), name_of("Prod EU")
    ('prod', 'prod-eu-1b510b06')
    """
    name = "--".join(parts)
    if all(map(_PLAIN.fullmatch, parts)) and len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    readable = "--".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)
    return f"{readable[: _LONGEST - _DIGEST - 1].strip('-')}-{digest}".removeprefix("-")


def objectives_of(
    expectations: Expectations, clusters: Sequence[str], cluster_label: str = CLUSTER_LABEL
) -> tuple[ClusterObjective, ...]:
    """All objectives of a file, cluster by cluster. An entry without a cluster has one in each.

    Args:
        expectations: the file.
        clusters: the clusters that there are, beside those that entries name.
        cluster_label: what Prometheus has the cluster in.

    Raises:
        ObjectiveError: there is none, or an entry has no cluster and none is given.
    """
    entries = [each for each in expectations.entries if each.slo is not None]
    if not entries:
        raise ObjectiveError("No entry of the file has slo.")
    named = [each.cluster for each in expectations.entries if each.cluster is not None]
    open_entry = next((each for each in entries if each.cluster is None), None)
    if open_entry is not None and not clusters:
        raise ObjectiveError(
            f"The entry {open_entry.groups} has no cluster: name the clusters with --cluster, or by --config."
        )
    return tuple(
        [
            ClusterObjective(cluster, expression, each.slo, each.team, cluster_label)
            for cluster in dict.fromkeys([*clusters, *named])
            for expression, each in EntriesOfCluster(expectations, cluster).entries.items()
            if each.slo is not None
        ]
    )
