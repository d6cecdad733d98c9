"""Burrow's rules: its published table of 16 windows, and the edges that follow from its code."""

import pytest

from monitor.detection.thresholds.burrow import (
    BurrowSettings,
    BurrowWindow,
    caught_up_lately,
    completeness,
    first_fall,
    has_always_lagged,
    has_never_gained,
    has_recovered,
    has_stalled,
    has_stopped,
    status_of,
    worst_of,
)
from monitor.model import LagStatus

OK, WARN, ERR, STOP, STALL, REWIND = LagStatus
UP = (1000, 2000, 3000, 4000, 5000)
FLAT = (1000,) * 5
EVERY_100_S = (100_000, 200_000, 300_000, 400_000, 500_000)

A_SECOND_APART = (
    *(1_512_224_618_356, 1_512_224_619_362, 1_512_224_620_366, 1_512_224_621_367, 1_512_224_622_370),
    *(1_512_224_623_373, 1_512_224_624_378, 1_512_224_625_379, 1_512_224_626_383, 1_512_224_627_383),
    *(1_512_224_628_383, 1_512_224_629_388, 1_512_224_630_391, 1_512_224_631_394, 1_512_224_632_397),
)
ONE_AT_A_TIME = tuple(range(792_748_079, 792_748_094))


def window(offsets, lags, lag, ends, times=EVERY_100_S):
    return BurrowWindow(offsets=tuple(offsets), times_ms=tuple(times), lags=tuple(lags), lag=lag, ends=tuple(ends))


def says(status, *, stopped=0, lately=0, rewound=None, recovered=0, lagged=0, stalled=0, never_gained=0):
    """What the rules say, in their order, and the status."""
    return (
        *(bool(stopped), bool(lately), rewound, bool(recovered)),
        *(bool(lagged), bool(stalled), bool(never_gained), status),
    )


def rules(looked_at: BurrowWindow, now_ms: int, settings: BurrowSettings = BurrowSettings()):  # noqa: B008
    """What each rule says of the window, also of one whose status is decided before the rule; and the status."""
    rewound = first_fall(looked_at)
    return (
        has_stopped(looked_at, now_ms),
        caught_up_lately(looked_at),
        rewound,
        rewound is not None and has_recovered(looked_at, rewound),
        has_always_lagged(looked_at, settings),
        has_stalled(looked_at),
        has_never_gained(looked_at),
        status_of(looked_at, now_ms, settings),
    )


FROM_0 = window(UP, (0, 50, 100, 150, 200), 200, [5200])
FROM_50 = window(UP, (50, 100, 150, 200, 250), 250, [5250])
THERE_AND_BACK = window((1000, 2000, 3000, 2000, 4000), (100, 150, 200, 1250, 300), 300, [4300])
STANDING = window(FLAT, (100, 150, 200, 250, 300), 300, [1300])
NEW_DATA = (792_749_024, 792_749_000, 792_748_800, 792_748_600, 792_748_500)
ONE_RECORD = (792_748_094, 792_748_093, 792_748_093, 792_748_093)

PUBLISHED = [
    ("0: no lag once", FROM_0, 600, 0, says(OK, never_gained=1)),
    ("1: silent as long as the window is", FROM_0, 900, 0, says(OK, never_gained=1)),
    ("2: silent for longer, in spite of no lag once", FROM_0, 1000, 0, says(STOP, stopped=1, never_gained=1)),
    ("3: silent, always lagged", FROM_50, 1000, 0, says(STOP, stopped=1, lagged=1, never_gained=1)),
    (
        "4: stands, but had no lag once",
        window(FLAT, (0, 50, 100, 150, 200), 200, [1200]),
        600,
        0,
        says(OK, stalled=1, never_gained=1),
    ),
    ("5: stands and always lagged", STANDING, 600, 0, says(STALL, lagged=1, stalled=1, never_gained=1)),
    (
        "6: stands, the lag too",
        window(FLAT, (100,) * 5, 100, [1100]),
        600,
        0,
        says(STALL, lagged=1, stalled=1, never_gained=1),
    ),
    ("7: went back and got there again", THERE_AND_BACK, 600, 0, says(OK, rewound=3, recovered=1, lagged=1)),
    (
        "8: no lag now",
        window(UP, (50, 100, 150, 200, 250), 0, [5250]),
        1000,
        0,
        says(OK, stopped=1, lagged=1, never_gained=1),
    ),
    (
        "9: silent since it had read everything (#290)",
        window(ONE_AT_A_TIME, (0,) * 15, 931, NEW_DATA, A_SECOND_APART),
        1_512_224_650,
        0,
        says(STOP, stopped=1, never_gained=1),
    ),
    (
        "10: the same, but the record is new (#303)",
        window(ONE_AT_A_TIME, (0,) * 15, 1, ONE_RECORD, A_SECOND_APART),
        1_512_224_650,
        0,
        says(OK, stopped=1, lately=1, never_gained=1),
    ),
    (
        "11: as 0, with lags that are not known",
        window(
            range(1000, 6000, 500),
            (0, None, 50, None, 100, None, 150, None, 200, None),
            200,
            [5700],
            range(100_000, 600_000, 50_000),
        ),
        600,
        0,
        says(OK, never_gained=1),
    ),
    (
        "12: no more than the allowed lag",
        window((1000, 2000, 2000), (2, 1, 1), 1, [2001], (100_000, 200_000, 300_000)),
        550,
        1,
        says(OK, stopped=1),
    ),
    ("13: as 5, above an allowed lag", STANDING, 600, 99, says(STALL, lagged=1, stalled=1, never_gained=1)),
    ("14: as 7, above an allowed lag", THERE_AND_BACK, 600, 99, says(OK, rewound=3, recovered=1, lagged=1)),
    (
        "15: went back and did not get there again",
        window((1000, 2000, 3000, 2000, 2500), (100, 150, 200, 1250, 300), 300, [4300]),
        600,
        0,
        says(REWIND, rewound=3, lagged=1),
    ),
]
"""Burrow 2025-10, core/internal/evaluator/caching_test.go: windows, what each rule says, and the status."""


@pytest.mark.parametrize(("looked_at", "now_s", "allowed", "said"), [pytest.param(*c[1:], id=c[0]) for c in PUBLISHED])
def test_burrows_own_table(looked_at, now_s, allowed, said):
    assert rules(looked_at, now_s * 1000, BurrowSettings(allowed_lag=allowed)) == said


EDGES = [
    (
        "one commit: stopped after a second",
        window([5], [3], 3, [8], [1000]),
        2000,
        says(STOP, stopped=1, lagged=1, stalled=1, never_gained=1),
    ),
    (
        "one commit in this second: stalled",
        window([5], [3], 3, [8], [1000]),
        1999,
        says(STALL, lagged=1, stalled=1, never_gained=1),
    ),
    (
        "one commit, lag not known: stalled",
        window([5], [None], 3, [8], [1000]),
        1000,
        says(STALL, lagged=1, stalled=1, never_gained=1),
    ),
    (
        "lags not known do not acquit",
        window((1, 2, 3), (None, None, None), 9, [12], (1000, 2000, 3000)),
        3000,
        says(WARN, lagged=1, never_gained=1),
    ),
    (
        "a gain between lags that are not known is not seen",
        window((1, 2, 3), (None, 9, None), 2, [5], (1000, 2000, 3000)),
        3000,
        says(WARN, lagged=1, never_gained=1),
    ),
    (
        "a gain across a lag that is not known is seen",
        window((1, 2, 3), (9, None, 8), 2, [5], (1000, 2000, 3000)),
        3000,
        says(OK, lagged=1),
    ),
    (
        "never fell: slow",
        window((1, 2, 3), (7, 7, 8), 8, [11], (1000, 2000, 3000)),
        3000,
        says(WARN, lagged=1, never_gained=1),
    ),
    (
        "only the first of two falls is looked at: the second is hidden",
        window((10, 5, 12, 1), (1, 1, 1, 1), 1, [13], (1000, 2000, 3000, 4000)),
        4000,
        says(WARN, rewound=1, recovered=1, lagged=1, never_gained=1),
    ),
    (
        "exactly where it was: it has recovered",
        window((10, 5, 10), (1, 1, 1), 1, [11], (1000, 2000, 3000)),
        3000,
        says(WARN, rewound=1, recovered=1, lagged=1, never_gained=1),
    ),
    (
        "a reset to the beginning after having read everything",
        window((90, 100, 0), (0, 0, 100), 100, [100], (1000, 2000, 3000)),
        3000,
        says(REWIND, rewound=2, never_gained=1),
    ),
    (
        "a stop is worse than a rewind",
        window((90, 100, 0), (0, 0, 100), 100, [100], (1000, 2000, 3000)),
        6000,
        says(STOP, stopped=1, rewound=2, never_gained=1),
    ),
    (
        "no end observed: nothing says that it caught up lately",
        window((1, 2), (3, 3), 3, [], (1000, 2000)),
        9000,
        says(STOP, stopped=1, lagged=1, never_gained=1),
    ),
]


@pytest.mark.parametrize(("looked_at", "now_ms", "said"), [pytest.param(*c[1:], id=c[0]) for c in EDGES])
def test_the_edges_of_the_rules(looked_at, now_ms, said):
    assert rules(looked_at, now_ms) == said


@pytest.mark.parametrize(
    ("commits", "minimum", "status"),
    [(0, 0.0, OK), (4, 0.5, OK), (5, 0.5, STALL), (5, 0.0, STALL), (9, 1.0, OK), (10, 1.0, STALL), (12, 1.0, STALL)],
)
def test_a_window_that_is_not_complete_enough_is_ok(commits, minimum, status):
    times = range(0, commits * 1000, 1000)
    looked_at, settings = window([7] * commits, [3] * commits, 3, [10], times), BurrowSettings(minimum_complete=minimum)
    assert status_of(looked_at, 0, settings) is status
    assert completeness(looked_at, settings) == min(commits, 10) / 10


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [([], None), ([OK, OK], OK), ([OK, WARN], WARN), ([WARN, STOP], ERR), ([STALL], ERR), ([OK, REWIND], ERR)],
)
def test_a_group_is_as_bad_as_its_worst_partition_and_never_worse_than_err(statuses, worst):
    assert worst_of(statuses) is worst
