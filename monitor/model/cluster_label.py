"""The name of the metrics' label ``cluster``: a setting, and an option of the generators of rules and dashboards."""

from __future__ import annotations

import re
from typing import Final

CLUSTER_LABEL: Final = "cluster"
"""The name unless another one is chosen."""

TAKEN_LABELS: Final = frozenset(
    """
    client_id collector consumergroup detail expectation group host instance_id kind le library member_id met name of
    partition reason result role shard source state status team topic url version
    alertname instance job severity
    """.split()  # noqa: SIM905 -- a name a line would be thirty lines
)
"""The other labels of the metrics, and in the last line those of Prometheus and of the alerts."""


def checked_cluster_label(given: str) -> str:
    """The name, which Prometheus takes and no other label has.

    >>> checked_cluster_label("kafka_cluster")
    'kafka_cluster'

    Raises:
        ValueError: it is none; the text says what it should be.
    """
    if re.fullmatch(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]*", given) is None:
        raise ValueError("should be a label of Prometheus: letters, digits and _, without a digit or __ in front")
    if given in TAKEN_LABELS:
        raise ValueError(f"should be another name, because metrics or alerts already have the label {given}")
    return given
