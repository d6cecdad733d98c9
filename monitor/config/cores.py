"""The cores that a Spark master may use."""

from __future__ import annotations

import os
from typing import Final

CORES_OF_A_CLUSTER: Final = 8
"""What is taken for a cluster's master, whose cores are not known here."""


def local_cores(master: str) -> int:
    """How many cores a local master uses; 8 for a cluster's master, and for text that is no master.

    >>> local_cores("local[3]"), local_cores("local[2,4]"), local_cores("spark://host:7077"), local_cores("local[x]")
    (3, 2, 8, 8)
    """
    if not master.startswith("local"):
        return CORES_OF_A_CLUSTER
    inside = master.removeprefix("local").strip("[]").split(",")[0].strip()
    if inside == "*":
        return os.cpu_count() or 1
    if not inside:
        return 1
    return int(inside) if inside.isdecimal() and int(inside) else CORES_OF_A_CLUSTER
