"""The thresholds that a deployment chose, as the rules take them."""

from __future__ import annotations

from monitor.config.settings import DetectionOptions, Thresholds
from monitor.detection.thresholds.burrow import BurrowSettings
from monitor.detection.thresholds.overrides import DetectionRules, Override
from monitor.detection.thresholds.thresholds import DetectionSettings


def detection_rules(chosen: DetectionOptions) -> DetectionRules:
    """The thresholds of all groups, from what a deployment configured."""
    return DetectionRules(
        default=detection_settings(chosen),
        overrides=tuple(
            Override(
                groups=override.groups,
                cluster=override.cluster,
                settings=detection_settings(chosen.with_override(override)),
            )
            for override in chosen.overrides
        ),
    )


def detection_settings(chosen: Thresholds) -> DetectionSettings:
    """The rules' thresholds in the rules' own units (ms), from what a deployment configured (s)."""
    return DetectionSettings(
        imbalance_ratio=chosen.imbalance_ratio,
        commit_silence_ms=int(chosen.commit_silence_s * 1000),
        lag_records=chosen.lag_records,
        retention_share=chosen.retention_share,
        burrow=BurrowSettings(allowed_lag=chosen.burrow_allowed_lag, minimum_complete=chosen.burrow_minimum_complete),
        handover_ms=None if chosen.handover_s is None else int(chosen.handover_s * 1000),
        rebalance_long_ms=int(chosen.rebalance_long_s * 1000),
        storm_rebalances=chosen.storm_rebalances,
        delivery_limit=chosen.share_delivery_limit,
        storm_window_ms=int(chosen.storm_window_s * 1000),
        skew_records=chosen.skew_records,
        skew_ms=int(chosen.skew_s * 1000),
    )
