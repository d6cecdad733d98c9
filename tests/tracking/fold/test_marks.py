"""At each of 210 marks the command shows what Kafka, its clients and Connect's REST API said at that moment."""

import json
from collections import Counter
from functools import cache

import msgspec
import pytest

from monitor.tracking.fold.captured_logs import CapturedLogs
from monitor.tracking.fold.mark_line import apply_line
from tests.support.kind_captures import lines_until_each_mark, marks
from tests.tracking.fold.kind_comparison import Comparison, kind_of

REBALANCING = {
    ("stc893-classic", "left-d"),
    ("stc893-classic", "empty"),
    ("sta786-classic", "empty"),
    ("cnd063-eager", "joining"),
    ("cne0e9-sessioned", "joining"),
}
"""Classic groups that rebalance: the log has the generation before until the next one is complete. At these marks the
broker says PreparingRebalance, and knows the members that have joined by then."""

GONE = {
    ("cn1f7-sessioned", "killed-delay"),
    ("cn1f7-sessioned", "killed-delay-later"),
    ("cn1f7-sessioned", "hung-delay"),
    ("cnd063-compatible", "killed-delay"),
    ("cnd063-compatible", "killed-delay-later"),
    ("cne0e9-sessioned", "killed-delay"),
    ("cne0e9-sessioned", "killed-delay-later"),
    ("cne0e9-sessioned", "back-within-delay"),
    ("cne0e9-sessioned", "short-hang-delay"),
    ("cne0e9-sessioned", "hung-delay"),
}
"""Marks at which REST shows tasks of a worker that was killed, or hangs, as running: it does so for all of the session
and of the delay, also when the worker is back under its old url (``back-within-delay``) and has nothing."""

JUST_GIVEN = ("cn1f7-sessioned", "joining")
"""A mark while whose answers were collected the logs moved: tasks have just been given, and are not started yet."""


@cache
def compared():
    """The differences at each mark that has some, and how much was compared, by kind of group."""
    found, counts = {}, {}
    for mark, view in views_at_marks():
        comparison = Comparison()
        differences = comparison.differences(mark, view)
        counts.setdefault(kind_of(mark), Counter()).update(comparison.compared)
        if differences:
            found[mark["group"], mark["label"]] = differences
    return found, counts


def differences_of(kind):
    groups = {mark["group"] for mark in marks() if kind_of(mark) == kind}
    return {place: told for place, told in compared()[0].items() if place[0] in groups}


@pytest.mark.parametrize("kind", ["share", "streams"])
def test_nothing_differs(kind):
    """State, epochs and members; of share groups start offsets and Kafka's lag, of streams groups tasks and targets."""
    assert differences_of(kind) == {}


def test_classic_streams_groups_differ_only_while_they_rebalance():
    differences = differences_of("classic streams")
    assert {place for place in differences if place not in REBALANCING} == set()
    assert {told[0][0] for told in differences.values()} == {"state"}


def test_connect_clusters_differ_where_rest_shows_what_nobody_runs():
    differences = differences_of("connect")
    assert differences.keys() == {*GONE, JUST_GIVEN, *(place for place in REBALANCING if place[0].startswith("cn"))}
    for place in GONE:
        assert {field for field, _, _ in differences[place]} == {"tasks that only REST shows"}
    assert {field for field, _, _ in differences[JUST_GIVEN]} == {"tasks"}


def test_how_much_was_compared():
    """210 marks: 358 share partitions, 49 of them without an offset yet; 112 members of streams groups; 75 threads of
    classic ones; and 71 answers of REST, 11 of which differ."""
    kinds = Counter(kind_of(mark) for mark in marks())
    assert kinds == {"share": 81, "streams": 32, "classic streams": 22, "connect": 75}
    counts = compared()[1]
    assert (counts["share"]["lag"], counts["share"]["no start offset yet"]) == (309, 49)
    assert counts["streams"]["active target"] == 112
    assert counts["classic streams"]["thread's active tasks"] == 75
    assert counts["connect"]["tasks"] == 71
    assert len([place for place in differences_of("connect") if place not in REBALANCING]) == 11


def test_kafka_counts_lag_on_behind_a_cut():
    """At the marks ``cut``, retention had passed the group: Kafka says 19 of some partitions, and three are there."""
    shown = []
    for mark, view in views_at_marks():
        for each in view["partitions"] if mark["label"] == "cut" else ():
            start = mark["topics"][each["topic"]]["start"][str(each["partition"])]
            if start > each["start_offset"]:
                shown.append((each["lag"], each["kafka_lag"], each["end_offset"] - start))
    assert (3, 19, 3) in shown
    assert all(lag == there for lag, _, there in shown), "nothing behind the cut was done with"


def views_at_marks():
    logs = CapturedLogs()
    for mark, since in lines_until_each_mark():
        for record in since:
            list(apply_line(logs, msgspec.json.encode(record)))
        views = [json.loads(line) for line in apply_line(logs, msgspec.json.encode({"mark": mark}))]
        yield mark, next((each for each in views if each["group"] == mark["group"]), None)
