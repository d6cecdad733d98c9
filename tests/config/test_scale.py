"""Tables [[scale]]: their units, which one counts, and what cannot be so."""

from pathlib import Path

import pytest

from monitor.config import ConfigError, load
from monitor.config.detection import detection_rules
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.model.scaling import ScaleTarget

HEAD = '[clusters.prod]\nbootstrap_servers = "b:9092"\n'


def rules(tmp_path: Path, text: str) -> DetectionRules:
    file = tmp_path / "groupwatch.toml"
    file.write_text(HEAD + text, encoding="utf-8")
    settings = load(file)
    return detection_rules(settings.detection, settings.alerts, settings.scale)


def test_without_a_table_no_number_is_calculated(tmp_path):
    assert rules(tmp_path, "").of("prod", "orders").scale is None


def test_the_first_table_that_matches_counts_with_the_defaults_of_the_rest(tmp_path):
    found = rules(
        tmp_path,
        '[[scale]]\ngroups = "orders-.*"\ncluster = "prod"\ntarget_s = 2.5\nmax = 24\nmembers_per_replica = 4\n'
        '[[scale]]\ngroups = ".*"\nheadroom = 0.5\nmin = 2\ndown_after_s = 0\n',
    )
    assert found.of("prod", "orders-eu").scale == ScaleTarget(target_ms=2_500, most=24, members_per_replica=4)
    assert found.of("prod", "mail").scale == ScaleTarget(headroom=0.5, least=2, down_after_ms=0)
    assert found.of("other", "orders-eu").scale == ScaleTarget(headroom=0.5, least=2, down_after_ms=0)


def test_a_table_changes_no_threshold(tmp_path):
    """An override of thresholds and a table are chosen independently."""
    text = (
        '[[detection.overrides]]\ngroups = "orders"\nlag_records = 7\n'
        '[[scale]]\ngroups = "o.*"\n[[scale]]\ngroups = "orders"\nmin = 9\n'
    )
    found = rules(tmp_path, text).of("prod", "orders")
    assert (found.lag_records, found.scale) == (7, ScaleTarget())


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ('groups = "a("', "scale#1.groups"),
        ("target_s = 60", "scale#1.groups is required"),
        ('groups = "a"\nmin = 3\nmax = 2', "should have a max that is at least its min"),
        ('groups = "a"\nheadroom = 0', "scale#1.headroom"),
        ('groups = "a"\ncluster = "prdo"', "scale#1.cluster should be the name of one of the clusters"),
        ('groups = "a"\ntarget = 5', "scale#1.target is not a known key"),
    ],
)
def test_a_mistake_is_a_sentence_with_its_place(tmp_path, table, sentence):
    with pytest.raises(ConfigError) as error:
        rules(tmp_path, f"[[scale]]\n{table}\n")
    assert sentence in " ".join(error.value.problems)
