"""The thresholds of the rules, in one frozen value."""

from __future__ import annotations

from monitor.detection.thresholds.burrow import BurrowSettings
from monitor.model import Value


class DetectionSettings(Value):
    """Thresholds. The defaults need no tuning for an ordinary Kafka client.

    Attributes:
        commit_silence_ms: a living group that has not committed for this long, while records waited for at least as
            long, is reported as not committing, unless that is usual there (monitor.detection.lag.commit_cadence).
            60 s is twelve times the commit interval of the Java client (``auto.commit.interval.ms``, 5 s).
        imbalance_ratio: report a group whose largest member has at least this many times the partitions of the largest
            member in the best assignment. A remainder never counts: 3 and 2 is the best for 5 partitions.
        lag_records: report a group when more records than this wait for it (of MetaQ: bytes). None, the default: never;
            how much lag is too much depends on the topic, so there is no honest default.
        retention_share: report a group as close to loss when as much waits for it as this share of what the last cut
            left of a partition, from 0 to 1. Of a week of records, 0.9 leaves about 17 hours.
        burrow: the settings of Burrow's rules, which give the status.
        handover_ms: how long a member of a KIP-848 group may keep what another is to have. None, the default: as
            long as its rebalance timeout (the Java client's ``max.poll.interval.ms``, 5 min), after which a broker
            fences it.
        skew_records: report a member that has most of its group's lag when at least so many records wait for it
            (of MetaQ, thousands of bytes).
        skew_ms: and when the oldest of them has waited for so long. 5 minutes are no burst: by then a lag that the
            group works off evenly has gone or has spread.
        rebalance_long_ms: report a rebalance that lasts for at least this long. 60 s is more than a member that was
            killed is waited for (``session.timeout.ms`` of the Java client, 45 s), and far less than one that does not
            poll may hold up all others (``max.poll.interval.ms``, 5 min).
        storm_rebalances: report a group that has rebalanced at least this often within ``storm_window_ms``, until that
            has been false for as long. A rolling restart of five members makes ten rebalances (five leave, five join),
            and is meant, also right after all have joined. The second halves of cooperative rebalances and returns of
            static members do not count. Not more than half of what is kept of a group (40,
            monitor.tracking.rebalances.history), or cooperative groups never have so many.
        storm_window_ms: see there; 10 min is longer than such a restart takes.
        rocketmq_settling_ms: for so long after the members of a RocketMQ group or what they hold have changed, the
            expected owners are not judged. A client allocates its queues every 20 s (``RebalanceService``; a broker
            notifies most of a change at once, but a notice may get lost), and groups are read every 10 s. New queues
            are known to clients 30 s later at most (``pollNameServerInterval``), which is waited for besides.
        zookeeper_settling_ms: the same of MetaQ and of Kafka's consumers with ZooKeeper. A consumer that finds a
            partition still taken gives all of its own back, waits and tries again: in MetaQ up to seven times with 5 s
            between (``ConsumerZooKeeper.syncedRebalance``, ``zkSyncTimeMs``), in Kafka up to four times with 2 s
            (``rebalance.max.retries``, ``rebalance.backoff.ms``). Groups are read every 10 s.
        route_refresh_ms: see rocketmq_settling_ms.
        delivery_limit: how often a share group delivers a record before it gives it up: ``share.delivery.count.limit``
            of the group, or ``group.share.delivery.count.limit`` of the brokers, whose default this is. No log has it.
        connection_expiry_ms: report a client id of RocketMQ with several connections when they have been seen for so
            long. A broker drops a connection whose client vanished without closing it after 120 s, and looks every
            10 s (``CHANNEL_EXPIRED_TIMEOUT``, ``ClientHousekeepingService``).
    """

    commit_silence_ms: int = 60_000
    imbalance_ratio: float = 1.25
    lag_records: int | None = None
    retention_share: float = 0.9
    burrow: BurrowSettings = BurrowSettings()
    handover_ms: int | None = None
    skew_records: int = 10_000
    skew_ms: int = 300_000
    rebalance_long_ms: int = 60_000
    storm_rebalances: int = 20
    storm_window_ms: int = 600_000
    rocketmq_settling_ms: int = 30_000
    zookeeper_settling_ms: int = 45_000
    route_refresh_ms: int = 30_000
    connection_expiry_ms: int = 130_000
    delivery_limit: int = 5
