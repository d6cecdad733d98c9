"""The thresholds that a deployment chose reach the rules, in the rules' units."""

from monitor.config import DetectionOptions, detection_rules
from monitor.config.alerts import AlertOverride, AlertsSettings
from monitor.config.settings import DetectionOverride
from monitor.detection import DetectionSettings
from monitor.detection.thresholds.burrow import BurrowSettings
from monitor.model.alert_ages import AlertAge


def test_nothing_chosen_means_the_defaults_of_the_rules():
    assert detection_rules(DetectionOptions()).default == DetectionSettings()


def test_changed_ages_of_alerts_reach_the_findings_of_every_group():
    silent = DetectionOverride(groups="slow-.*", commit_silence_s=9)
    chosen = AlertsSettings(
        overrides=(AlertOverride(alert="GroupwatchLagOld", age_s=120), AlertOverride(alert="GroupwatchX", for_s=1))
    )
    rules = detection_rules(DetectionOptions(overrides=(silent,)), chosen)
    ages = (AlertAge("GroupwatchLagOld", 120),)
    assert [rules.of("c", group).alert_ages for group in ("slow-1", "orders")] == [ages, ages]


def test_each_chosen_threshold_reaches_the_rules_durations_in_ms():
    chosen = DetectionOptions(
        imbalance_ratio=1.5,
        commit_silence_s=1.5,
        lag_records=7,
        retention_share=0.25,
        burrow_allowed_lag=8,
        burrow_minimum_complete=0.75,
        handover_s=2.5,
        rebalance_long_s=3.5,
        storm_rebalances=9,
        storm_window_s=4.5,
        share_delivery_limit=10,
        skew_records=11,
        skew_s=5.5,
    )
    assert chosen.model_fields_set == DetectionOptions.model_fields.keys() - {"overrides"}
    assert detection_rules(chosen).default == DetectionSettings(
        imbalance_ratio=1.5,
        commit_silence_ms=1_500,
        lag_records=7,
        retention_share=0.25,
        burrow=BurrowSettings(allowed_lag=8, minimum_complete=0.75),
        handover_ms=2_500,
        rebalance_long_ms=3_500,
        storm_rebalances=9,
        storm_window_ms=4_500,
        delivery_limit=10,
        skew_records=11,
        skew_ms=5_500,
    )
