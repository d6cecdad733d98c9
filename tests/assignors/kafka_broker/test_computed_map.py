"""The order of a map filled by ``computeIfAbsent``. All expected orders were printed by Java 17 (Integer keys)."""

from __future__ import annotations

import pytest

from monitor.assignors.kafka_broker.java_compute_if_absent import computed_map_order


@pytest.mark.parametrize(
    ("capacity", "keys", "order"),
    [
        pytest.param(12, [], [], id="nothing"),
        pytest.param(
            12,
            [16, 32, 48, 64, 80, 96, 112],
            [112, 96, 80, 64, 48, 32, 16],
            id="seven in one place: the newest first",
        ),
        pytest.param(
            12,
            [0, 16, 32, 48, 64, 80, 96, 112],
            [96, 64, 32, 0, 112, 80, 48, 16],
            id="the eighth doubles a small table",
        ),
        pytest.param(
            64,
            [64, 128, 192, 256, 320, 384, 448, 512, 576, 640],
            [320, 512, 576, 640, 448, 384, 256, 192, 128, 64],
            id="the eighth makes a tree in a large one, and two more go into it",
        ),
        pytest.param(
            64,
            [64, 128, 192, 256, 320, 384, 448, 512, 576, *range(109, 160)],
            [512, 384, 256, *range(128, 160), 320, 576, 448, 192, 64, *range(109, 128)],
            id="a tree is divided when the table doubles",
        ),
        pytest.param(6, [9, 0, 4, 5, 1, 3, 6], [0, 1, 9, 3, 4, 5, 6], id="the seventh is one more than fit"),
        pytest.param(6, [9, 0, 4, 5, 1, 3, 6, 9], [0, 1, 3, 4, 5, 6, 9], id="asking for an old key doubles the table"),
    ],
)
def test_orders_of_java(capacity, keys, order):
    assert computed_map_order(keys, int, capacity) == order
