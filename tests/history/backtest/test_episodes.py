"""Episodes of findings and alerts, and how those with other thresholds differ."""

from __future__ import annotations

import pytest

from monitor.history.backtest.episodes import Change, Episode, FindingFollower, Pair, pair_episodes
from monitor.history.backtest.outcome import FINDING_SEVERITIES, MOST_EXAMPLES, Shift, Tally
from monitor.model import Finding, FindingKind


def episode(from_ms: int, until_ms: int, name: str = "lag/behind") -> Episode:
    return Episode(name, from_ms, until_ms, "It is behind.")


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (None, (10, 30), {Change.MORE: 20}),
        ((10, 30), None, {Change.FEWER: 20}),
        ((10, 30), (10, 30), {}),
        ((10, 30), (4, 30), {Change.SOONER: 6}),
        ((10, 30), (15, 30), {Change.LATER: 5}),
        ((10, 30), (10, 37), {Change.LONGER: 7}),
        ((10, 30), (12, 28), {Change.LATER: 2, Change.SHORTER: 2}),
    ],
)
def test_how_two_differ(before, after, changes):
    pair = Pair(*(None if times is None else episode(*times) for times in (before, after)))
    assert pair.changes == changes


def test_each_has_one_partner_that_it_overlaps():
    """One of 10 to 50 instead of which there are two: the second one is another."""
    (long,) = before = [episode(10, 50)]
    first, second = after = [episode(5, 20), episode(30, 60)]
    assert pair_episodes(before, after) == [Pair(long, first), Pair(None, second)]
    assert pair_episodes(after, before) == [Pair(first, long), Pair(second, None)]


def test_those_at_other_times_or_of_other_names_are_no_partners():
    before, after = [episode(10, 20), episode(10, 20, "rebalance/long")], [episode(21, 30)]
    assert pair_episodes(before, after) == [
        Pair(before[0], None),
        Pair(before[1], None),
        Pair(None, after[0]),
    ]


def finding(kind: FindingKind, reason: str) -> Finding:
    return Finding(kind, reason, 0, f"{reason}.")


def test_a_finding_is_there_from_the_first_instant_with_it_until_the_first_without_it():
    behind, long = finding(FindingKind.LAG, "behind"), finding(FindingKind.REBALANCE, "long")
    follower = FindingFollower()
    for at_ms, findings in ((0, [behind]), (10, [behind, long]), (20, [long]), (30, [behind, long]), (40, [behind])):
        follower.take(at_ms, findings)
    assert sorted(follower.episodes(45), key=lambda each: (each.from_ms, each.name)) == [
        Episode("lag/behind", 0, 20, "behind.", was_open=True, is_closed=True),
        Episode("rebalance/long", 10, 40, "long.", is_closed=True),
        Episode("lag/behind", 30, 45, "behind."),
    ]


def test_a_tally_counts_and_keeps_the_greatest_changes():
    tally = Tally(FINDING_SEVERITIES)
    for number in range(10):
        tally.count(f"g{number}", [Pair(episode(100, 200), episode(100 - number, 200))])
    tally.count("new", [Pair(None, episode(5, 6, "double_owned/same_generation"))])
    worst, row = tally.rows()
    assert (worst.name, worst.before, worst.after, worst.more) == ("double_owned/same_generation", 0, 1, 1)
    assert (row.before, row.after, row.more, row.fewer) == (10, 10, 0, 0)
    assert row.sooner == Shift(9, median_ms=5, most_ms=9)  # by 1, 2, ... 9: g0 is as it was
    assert row.later == row.longer == row.shorter == Shift()
    groups = [(each.change, each.group, each.by_ms) for each in tally.examples()]
    assert groups[0] == (Change.MORE, "new", 1)
    assert groups[1:] == [(Change.SOONER, f"g{number}", number) for number in (9, 8, 7, 6, 5)]
    assert len(groups) == 1 + MOST_EXAMPLES
