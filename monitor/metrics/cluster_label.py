"""Rules and dashboards in which the label ``cluster`` has another name, as ``metrics.cluster_label`` may say."""

from __future__ import annotations

import re
from typing import Final

from monitor.model.cluster_label import CLUSTER_LABEL

_LABEL: Final = re.compile(r"([({,] ?|labels\.|fields\.|exported_)cluster\b")
"""Where it is a label: in matchers, lists of labels, templates and legends. No sentence has the word like this.

The chart of deploy/helm has the same expression, for Go."""

_COLUMN: Final = f'"{CLUSTER_LABEL}":'
"""Where a dashboard gives a column its place."""


def with_cluster_label(text: str, label: str) -> str:
    """The text of a rule file or of a dashboard with another name of the label. Variables keep theirs.

    >>> with_cluster_label('sum by (cluster) (groupwatch_up{cluster=~"$cluster"})', "kafka_cluster")
    'sum by (kafka_cluster) (groupwatch_up{kafka_cluster=~"$cluster"})'
    """
    return _LABEL.sub(rf"\g<1>{label}", text).replace(_COLUMN, f'"{label}":')
