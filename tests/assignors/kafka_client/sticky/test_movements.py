"""Which partition of a topic goes back. The first elements were asked of Java 17's HashSet<TopicPartition>."""

from __future__ import annotations

import pytest

from monitor.assignors.java.hash import string_hash
from monitor.assignors.kafka_client.sticky.general.movements import PlaceSet

MIXED = [5, 3, 9, 0, 12, -6, -4, 7, 1, 2]  # -6 takes 5 away again
SAME_PLACE = [0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 1, -1]  # nine in one place make a small table grow


@pytest.mark.parametrize(
    ("topic", "changes", "first"),
    [
        pytest.param("orders", MIXED, [5, 3, 9, 9, 9, 9, 9, 7, 7, 7], id="added and removed"),
        pytest.param(
            "\uffee", range(1, 17), [1, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14, 14], id="the table grows"
        ),
        pytest.param("t0", SAME_PLACE, [0] * 8 + [16] * 4, id="nine in one place"),
        pytest.param(
            "payments",
            [number * 37 % 101 for number in range(60)],
            [0] + [37] * 4 + [84] * 7 + [67] * 12 + [70] * 36,
            id="the table grows twice",
        ),
    ],
)
def test_the_first_element_is_the_first_of_javas_set(topic, changes, first):
    places = PlaceSet(string_hash(topic))
    seen = []
    for change in changes:
        if change < 0:
            places.remove(-change - 1)
        else:
            places.add(change)
        seen.append(places.first())
    assert seen == first
