"""What comes and goes is logged once in ten minutes, with how often; what it ends with is true of it in the end."""

from monitor.readiness.repeated_warning import RepeatedWarning

AWAY = "No broker answers."


def test_a_warning_that_lasts_is_logged_once_and_so_is_its_end():
    warnings = RepeatedWarning()
    assert [warnings.line(AWAY, now_ms) for now_ms in range(0, 7_200_000, 60_000)] == [AWAY] + [None] * 119
    assert [warnings.end(), warnings.end()] == [True, False]


def test_one_that_flaps_for_half_an_hour_is_logged_each_ten_minutes_with_its_number():
    """It begins 90 times, each 20 s, and lasts for 10 s."""
    warnings, told = RepeatedWarning(), []
    for now_ms in range(0, 1_800_000, 20_000):
        line = warnings.line(AWAY, now_ms)
        told += [] if line is None else [(now_ms, line)]
        assert warnings.line(AWAY, now_ms + 9_000) is None
        told += [(now_ms, "over")] if warnings.end() else []
    more = f"{AWAY} (30 times in the last 10 minutes)"
    expected = [(at_ms, line) for at_ms, line in ((0, AWAY), (600_000, more), (1_200_000, more))]
    assert told == [each for at_ms, line in expected for each in ((at_ms, line), (at_ms, "over"))]


def test_one_that_begins_again_and_lasts_is_not_left_out_for_good():
    warnings = RepeatedWarning()
    warnings.line(AWAY, 0)
    warnings.end()
    assert [warnings.line(AWAY, now_ms) for now_ms in (60_000, 599_999, 600_000, 601_000)] == [None, None, AWAY, None]
    assert warnings.end()


def test_another_warning_is_another_line_and_a_name_makes_texts_the_same():
    warnings = RepeatedWarning()
    texts = ["away", "slow", "away", "slow"]
    assert [warnings.line(text, 1_000 * n) for n, text in enumerate(texts)] == ["away", "slow", None, None]
    named = RepeatedWarning()
    assert [named.line(f"since {n}", 1_000 * n, "stalled") for n in range(3)] == ["since 0", None, None]
