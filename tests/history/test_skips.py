"""Commits that pass records in a recording: each is noted once, with what the polls after it show of its cause."""

from __future__ import annotations

from monitor.history.chronicle.grid import Steps
from monitor.history.chronicle.values import Chronicle, SkipThen
from monitor.history.chronicle.writer import COSTS_KNOWN_MS, write_chronicle
from monitor.history.report.assemble import group_report
from monitor.history.story import HappenedKind
from monitor.history.walk import GroupWalk
from monitor.model.jumps import SkipCause
from tests.history.incidents import Made, ms
from tests.history.memory import tell_story

LOST = SkipThen(ms(61), "t", 0, SkipCause.RETENTION, before=600, after=5_010, at_least=4_250, at_most=4_410, owner="a")
"""10 records a second count as 16: ten times as fast, it reads 160 of 4,410 records in a second."""


def _end(at_s: int, _: int) -> int:
    return 20_000 if at_s < 90 else 60_000


def slow_reader(*, starts_at: int = 0) -> Made:
    """a reads ten records a second, of 20,000 that wait; from the poll at 70 on the log begins at ``starts_at``."""
    made = Made(200)
    made.poll(partitions=lambda _: 1, earliest=lambda at_s: starts_at if at_s >= 70 else 0, ends=_end)
    made.assign(5, 1, {"a": [0]})
    for second in range(6, 61):
        made.commit(second, 0, 10 * second)
    return made


def overtaken() -> Made:
    """Retention removes the records up to 5,000 between the commits at 60 and 61; the group lags on, and continues."""
    made = slow_reader(starts_at=5_000)
    made.commit(61, 0, 5_010)
    made.commit(62, 0, 5_020)
    return made


def restarted() -> Made:
    """b takes over at 70 and begins at the end; or it reads 19,400 records at once."""
    made = slow_reader()
    made.assign(65, 2, {})
    made.assign(70, 3, {"b": [0]})
    made.commit(71, 0, 20_000)
    return made


def part(made: Made, since: int, until: int) -> Chronicle:
    """A part of it as the tables for SQL have it."""
    walk = GroupWalk(made.recording(), "c", "g", ms(since), ms(until) + COSTS_KNOWN_MS)
    found = write_chronicle(walk, ms(since), ms(until), Steps(20_000, partitions_every_ms=60_000))
    assert found is not None
    return found


def test_a_skip_is_noted_once_with_its_bounds_and_its_owner():
    assert part(overtaken(), 10, 200).skips == (LOST,)


def test_a_skip_belongs_to_the_minutes_of_its_commit_though_the_poll_after_them_shows_its_cause():
    """The commit is at 61, the poll that shows the cut at 70."""
    assert part(overtaken(), 10, 65).skips == (LOST,)
    assert part(overtaken(), 65, 200).skips == ()


def test_a_restart_is_noted_with_its_new_owner():
    [skip] = part(restarted(), 10, 200).skips
    assert (skip.cause, skip.at_least, skip.at_most, skip.owner) == (SkipCause.REBALANCE, 0, 19_400, "b")


def test_what_the_group_reads_after_all_is_no_skip():
    """At 80, it goes back; at 90 it is where it was."""
    made = restarted()
    made.commit(80, 0, 600)
    made.commit(90, 0, 20_000)
    assert part(made, 10, 200).skips == ()
    assert part(made, 10, 75).skips == ()


def test_a_skip_stays_that_the_group_has_forgotten_after_an_hour():
    made = overtaken()
    for second in range(70, 3_760, 10):
        made.commit(second, 0, 5_010 + second)
    assert part(made, 10, 3_750).skips == (LOST,)


def test_a_report_names_a_skip_at_its_commit_and_not_the_finding_that_lasts_an_hour():
    report = group_report(overtaken().recording(), "c", "g", ms(10), ms(200))
    assert report is not None
    assert report.skips == (LOST,)
    told = [(line.at_ms, line.sentence) for line in report.timeline if "Retention removed" in line.sentence]
    assert told == [
        (
            ms(61),
            "Retention removed records in partition 0 of t before the group read them: its committed offset went from "
            "600 to 5,010. At least 4,250 and at most 4,410 records were not read.",
        )
    ]


def test_a_report_accuses_nobody_who_reaches_the_end_right_before_retention():
    """It commits no more, so it may have read what was removed a moment later."""
    made = slow_reader(starts_at=5_000)
    made.commit(61, 0, 5_010)
    report = group_report(made.recording(), "c", "g", ms(10), ms(200))
    assert report is not None
    told = [line.sentence for line in report.timeline if "Retention removed" in line.sentence]
    assert told == [
        "Retention removed records in partition 0 of t before the group committed them: its committed offset went from "
        "600 to 5,010. The group had read them, or missed up to 4,410 records: commits do not tell."
    ]


def test_a_report_says_that_the_offset_had_been_deleted():
    made = slow_reader()
    made.assign(65, 2, {})
    made.delete_offset(67, 0)
    made.assign(70, 3, {"b": [0]})
    made.commit(71, 0, 20_000)
    report = group_report(made.recording(), "c", "g", ms(10), ms(200))
    assert report is not None
    assert [(line.at_ms, line.sentence) for line in report.timeline if "deleted" in line.sentence] == [
        (
            ms(71),
            "The committed offset of partition 0 of t had been deleted, or had expired. The first commit then went "
            "from 600 to 20,000. The group read these records, or skipped them: commits do not tell.",
        )
    ]


def test_a_story_names_a_second_skip_while_the_finding_about_the_first_is_open():
    """From 90 on the log has 60,000 records; c begins at their end at 120."""
    made = restarted()
    for second in range(75, 101, 5):
        made.commit(second, 0, 20_000)
    made.assign(110, 4, {})
    made.assign(120, 5, {"c": [0]})
    made.commit(121, 0, 60_000)
    story = tell_story(made.recording(), "c", "g", ms(10), ms(200))
    assert story is not None
    told = [(each.about, each.sentence) for each in story.happened if "commits do not tell" in each.sentence]
    assert [about for about, _ in told] == [HappenedKind.OPENED, HappenedKind.COMMIT]
    assert told[1][1] == (
        "After a rebalance, the first commit in partition 0 of t went from 20,000 to 60,000. The group read these "
        "records, or skipped them: commits do not tell."
    )
