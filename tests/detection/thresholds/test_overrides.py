import pickle

import pytest

from monitor.detection.thresholds.overrides import DetectionRules, Override
from monitor.detection.thresholds.thresholds import DetectionSettings

FIRST, SECOND, THIRD = (DetectionSettings(lag_records=number) for number in (1, 2, 3))
RULES = DetectionRules(
    overrides=(
        Override(groups="payments-.*", settings=FIRST, cluster="prod"),
        Override(groups="payments-eu|orders", settings=SECOND),
        Override(groups=".*-(eu|us)", settings=THIRD),
    )
)


@pytest.mark.parametrize(
    ("cluster", "group", "expected"),
    [
        pytest.param("prod", "payments-eu", FIRST, id="the first that matches counts"),
        pytest.param("test", "payments-eu", SECOND, id="not that of another cluster"),
        pytest.param("test", "bills-us", THIRD, id="later ones too"),
        pytest.param("prod", "my-payments-1", DetectionSettings(), id="only the whole name: not in the middle"),
        pytest.param("test", "orders2", DetectionSettings(), id="only the whole name: also of the last alternative"),
        pytest.param("prod", "payments-\n", DetectionSettings(), id="a dot is no line break"),
        pytest.param("prod", "payments-\udcff", FIRST, id="a name that is no text"),
        pytest.param("prod", "", DetectionSettings(), id="no name"),
    ],
)
def test_which_thresholds_a_group_has(cluster, group, expected):
    assert RULES.of(cluster, group) == expected


def test_they_are_the_same_in_another_process():
    RULES.of("prod", "payments-eu")
    again = pickle.loads(pickle.dumps(RULES))
    assert again == RULES
    assert again.of("test", "bills-us") == THIRD


def test_without_overrides_all_groups_have_the_default():
    assert DetectionRules(default=SECOND).of("c", "g") is SECOND


def test_a_pattern_that_takes_others_for_ever_takes_no_time():
    slow = DetectionRules(overrides=(Override(groups="(a*)*b", settings=FIRST),))
    assert slow.of("c", "a" * 5_000) == DetectionSettings()
