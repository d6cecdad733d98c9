"""The times of the loop, and by how much a run is faster than a cluster.

Every time of the loop is divided by one factor (GROUPWATCH_FASTER, 5): a load of 50 minutes takes ten. What belongs to
clients and brokers keeps its time: 5 ms for a record, a commit each second, the time until a new member has joined. As
do groupwatch's own times: the 20 s between two ends that it keeps, the two minutes of a rate. So the numbers
of records per second and for each pod are those of a cluster, and a lag of N records here stands for one of 5 N there.
"""

from __future__ import annotations

import os
from typing import Final

from tests.autoscaling.hpa import SYNC_S
from tests.autoscaling.keda import POLLING_S

FASTER: Final = float(os.environ.get("GROUPWATCH_FASTER", "5"))
"""So many seconds of a cluster are one of a run. Polls, commits and rebalances take as long as in a cluster."""

WORK_MS: Final = 5
"""What a record takes."""

CAPACITY: Final = 1000 / WORK_MS
"""Records a second that one pod can process at most."""

RUN_SYNC_S: Final = SYNC_S / FASTER
RUN_POLLING_S: Final = POLLING_S / FASTER
TARGET_S: Final = 60.0 / FASTER
"""How old an unread record may get: a minute of a cluster."""

DOWN_AFTER_S: Final = 600.0 / FASTER
"""``down_after_s`` of groupwatch: ten minutes of a cluster, its default."""

COLLECT_S: Final = 10.0 / FASTER
"""``collect_interval_s`` of groupwatch, its default in a cluster."""

BACKOFF_S: Final = 10.0 / FASTER
BACKOFF_LIMIT_S: Final = 300.0 / FASTER
"""Of a container that dies again and again (CrashLoopBackOff: 10 s, doubled each time, at most five minutes).

Source: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy
"""

SESSION_S: Final = 45.0 / FASTER
"""``session.timeout.ms`` of a consumer, whose default is 45 s."""
