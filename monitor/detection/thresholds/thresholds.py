"""The thresholds of the rules, in one frozen value."""

from __future__ import annotations

from monitor.detection.thresholds.burrow import BurrowSettings
from monitor.model import Value
from monitor.model.alert_ages import AlertAges
from monitor.model.scaling import ScaleTarget


class DetectionSettings(Value):
    """Thresholds. The defaults need no tuning for an ordinary Kafka client.

    Most can be chosen: monitor.config.settings.Thresholds has what each of these does and the reason for its default,
    with durations in s. A text here is for who changes a rule.
    """

    commit_silence_ms: int = 60_000
    """Which gaps are usual: monitor.detection.lag.commit_cadence."""
    imbalance_ratio: float = 1.25
    lag_records: int | None = None
    retention_share: float = 0.9
    burrow: BurrowSettings = BurrowSettings()
    """The settings of Burrow's rules, which give the status."""
    handover_ms: int | None = None
    skew_records: int = 10_000
    skew_ms: int = 300_000
    rebalance_long_ms: int = 60_000
    storm_rebalances: int = 20
    """Of the ten rebalances of a rolling restart of five members, five are of members that leave, and five of members
    that join. The second halves of cooperative rebalances and returns of static members do not count. Not more than
    half of what is kept of a group (40, monitor.tracking.rebalances.history), or cooperative groups never have so
    many."""
    storm_window_ms: int = 600_000
    rocketmq_settling_ms: int = 30_000
    """For so long after the members of a RocketMQ group or what they hold have changed, the expected owners are not
    judged. A client allocates its queues every 20 s (``RebalanceService``; a broker notifies most of a change at once,
    but a notice may get lost), and groups are read every 10 s."""
    zookeeper_settling_ms: int = 45_000
    """The same of MetaQ and of Kafka's consumers with ZooKeeper. A consumer that finds a partition still taken gives
    all of its own back, waits and tries again: in MetaQ up to seven times with 5 s between
    (``ConsumerZooKeeper.syncedRebalance``, ``zkSyncTimeMs``), in Kafka up to four times with 2 s
    (``rebalance.max.retries``, ``rebalance.backoff.ms``). Groups are read every 10 s."""
    route_refresh_ms: int = 30_000
    """New queues are known to clients of RocketMQ so much later at most (``pollNameServerInterval``), which is waited
    for besides."""
    connection_expiry_ms: int = 130_000
    """Report a client id of RocketMQ with several connections when they have been seen for so long. A broker drops a
    connection whose client vanished without closing it after 120 s, and looks every 10 s (``CHANNEL_EXPIRED_TIMEOUT``,
    ``ClientHousekeepingService``)."""
    delivery_limit: int = 5
    """Chosen as ``share_delivery_limit``."""
    alert_ages: AlertAges = ()
    """Changed ages of alerts. They change no finding, only until when it settles."""
    scale: ScaleTarget | None = None
    """By what the number of members is chosen that the group needs; None: it is not calculated."""
