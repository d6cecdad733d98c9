"""The thresholds of the rules, in one frozen value."""

from __future__ import annotations

from monitor.model import Value


class DetectionSettings(Value):
    """Thresholds. The defaults need no tuning for an ordinary Kafka client.

    Attributes:
        commit_silence_ms: a living group that has not committed for this long, while records waited for at least as
            long, is reported as not committing. 60 s is twelve times the commit interval of the Java client
            (``auto.commit.interval.ms``, 5 s), so a slow batch is not an alarm.
        imbalance_ratio: report a group whose largest member has at least this many times the partitions of the largest
            member in the best assignment. A remainder never counts: 3 and 2 is the best for 5 partitions.
        lag_records: report a group when more records than this wait for it. None, the default: never; how much lag is
            too much depends on the topic, so there is no honest default.
        rebalance_long_ms: report a rebalance that lasts for at least this long. 60 s is more than a member that was
            killed is waited for (``session.timeout.ms`` of the Java client, 45 s), and far less than one that does not
            poll may hold up all others (``max.poll.interval.ms``, 5 min).
        storm_rebalances: report a group that has rebalanced at least this often within ``storm_window_ms``. A rolling
            restart of five members makes ten rebalances (five leave, five join), and is meant. The second halves of
            cooperative rebalances and returns of static members do not count. Not more than half of what is kept of a
            group (40, monitor.tracking.rebalances), or cooperative groups never have so many.
        storm_window_ms: see there; 10 min is longer than such a restart takes.
    """

    commit_silence_ms: int = 60_000
    imbalance_ratio: float = 1.25
    lag_records: int | None = None
    rebalance_long_ms: int = 60_000
    storm_rebalances: int = 15
    storm_window_ms: int = 600_000
