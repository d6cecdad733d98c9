"""One line for groups that one process used once, and for groups whose offsets are copied."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from monitor.findings.alike import alike_groups
from monitor.model import Finding, FindingKind, GroupSummary, Phase, ShortLife
from monitor.model.findings import Severity


def group(name: str, *reasons: str, lag: int | None = 10, pattern: str = "", at_ms: int = 5_000) -> GroupSummary:
    """A group without members and with these findings; its name has the pattern."""
    findings = tuple([Finding(FindingKind.UNATTENDED, reason, since_ms=at_ms, sentence="Waits.") for reason in reasons])
    life = ShortLife(pattern, 0, 1_000) if pattern else None
    return GroupSummary("c", name, "kafka-classic", Phase.EMPTY, None, 0, lag, findings, short_life=life)


def one_off(number: int, **more) -> GroupSummary:
    return group(f"anonymous.{number}", "one_off", **({"pattern": "anonymous.*"} | more))


def test_thirty_groups_of_one_process_are_one_line():
    groups = [group("billing", "no_members"), *[one_off(number, at_ms=9_000 - number) for number in range(30)]]
    (found,) = alike_groups(groups).values()
    assert (found.reason, found.pattern, found.severity) == ("one_off", "anonymous.*", Severity.INFO)
    assert (found.groups, found.lag, found.since_ms) == (30, 300, 8_971)
    assert found.sentence == (
        "30 groups named anonymous.* were each used by one process, which has left. Their lag is 300 records in total."
    )
    assert "enable.auto.commit=false" in found.advice
    assert "deny_groups" in found.advice


def test_three_groups_have_a_line_each():
    assert alike_groups([one_off(number) for number in range(3)]) == {}
    assert len(alike_groups([one_off(number) for number in range(4)])) == 1


def test_each_pattern_has_its_line_and_most_groups_come_first():
    others = [one_off(number, pattern="job-*") for number in range(5)]
    assert [each.pattern for each in alike_groups([*[one_off(n) for n in range(4)], *others]).values()] == [
        "job-*",
        "anonymous.*",
    ]


@pytest.mark.parametrize(
    ("reason", "severity", "words"),
    [
        pytest.param("kept", Severity.INFO, "MirrorMaker 2 seems to copy, which it does only when they move"),
        pytest.param("not_synced", Severity.WARNING, "seems to have copied, and records go on without it"),
    ],
)
def test_groups_whose_offsets_are_copied_are_one_line(reason, severity, words):
    (found,) = alike_groups([group(name, reason) for name in "abcd"]).values()
    assert (found.severity, found.pattern) == (severity, "")
    assert words in found.sentence
    assert found.advice


@pytest.mark.parametrize("reason", ["kept", "not_synced"])
@pytest.mark.parametrize(
    ("names", "begin"),
    [
        pytest.param("badc", "4 groups (a, b, c, d) have offsets", id="few"),
        pytest.param("monihgfedcba", "12 groups (a, b, c, d, e, f, g, h, i, m and 2 more) have offsets", id="many"),
    ],
)
def test_groups_whose_names_have_nothing_in_common_are_named(reason, names, begin):
    (found,) = alike_groups([group(name, reason) for name in names]).values()
    assert found.sentence.startswith(begin)


@pytest.mark.parametrize(("count", "is_one"), [(1, False), (2, True), (3, True), (4, True)])
def test_what_is_one_line_stays_one_while_half_as_many_groups_are_left(count, is_one):
    groups = [group(name, "not_synced") for name in "abcd"[:count]]
    assert (alike_groups(groups, {("not_synced", "")}) != {}) is is_one
    assert (alike_groups(groups, {("not_synced", "job-*")}) != {}) is (count == 4), "another line"


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(group("x", "one_off", "no_members", pattern="anonymous.*"), id="another finding"),
        pytest.param(group("x", "no_members", pattern="anonymous.*"), id="critical"),
        pytest.param(replace(one_off(9), unjudged="It cannot be read."), id="not evaluated"),
        pytest.param(group("x"), id="no finding"),
    ],
)
def test_what_is_not_alike_has_its_own_line(other):
    groups = [one_off(number) for number in range(4)]
    (found,) = alike_groups([*groups, other]).values()
    assert found.groups == 4


def test_a_lag_that_is_not_known_is_left_out_and_names_are_escaped():
    groups = [one_off(number, lag=None, pattern="a\n*") for number in range(4)]
    (found,) = alike_groups([*groups, replace(groups[0], group="z", lag=None, lag_at_least=7)]).values()
    assert found.lag == 7
    assert found.sentence.startswith("5 groups named a\\n* were")
