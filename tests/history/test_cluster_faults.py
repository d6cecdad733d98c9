"""What was wrong with the cluster itself, told of the past: in the history of a group, its report, and the tables."""

from __future__ import annotations

import pytest

from monitor.history.chronicle.values import Chronicle
from monitor.history.chronicle.writer import chronicle_of
from monitor.history.report.assemble import group_report
from monitor.history.report.cluster import ClusterFault, cluster_report
from monitor.history.report.document import document_of
from monitor.history.report.facts import IncidentReport
from monitor.history.sql.days import read_days
from monitor.history.sql.told import rows_of
from monitor.history.story import story_of
from monitor.history.tables import FINDINGS, GROUP_MINUTES, RowT, TypedTable
from monitor.model import TopicPartitions
from monitor.model.brokers import BrokerAway, BrokersSeen
from monitor.model.findings import Severity
from monitor.model.offsets_topic import OffsetsTopicSeen, ReplicasSeen
from tests.history.incidents import START, Made, ms

TOO_FEW = OffsetsTopicSeen(partitions=4, degraded=(ReplicasSeen(3, 1, (1,), (1, 2)),), min_in_sync=2)
"""The hash of "g" is 103 and that of "h" 104: the partitions 3 and 0 of 4."""

SENTENCE = (
    "Partition 3 of __consumer_offsets has 1 of 2 in-sync replicas that a commit needs: "
    "group g can neither commit nor rebalance."
)
NAME = "offsets_topic/not_enough_replicas"


def made(until: int = 145, back_s: int = 155) -> Made:
    """Nobody in "g" commits from 60 s on; polls from 70 s on see why. It can commit again after ``until`` s."""
    found = Made(300)
    found.poll(offsets_topic=lambda second: TOO_FEW if 65 <= second <= until else OffsetsTopicSeen(4))
    for group in ("g", "h"):
        found.assign(5, 1, {"a": [0], "b": [1]}, group=group)
    found.commits(range(10, 61, 5), 0, 1)
    found.commits(range(back_s, 301, 5), 0, 1)
    found.commits(range(10, 301, 5), 0, 1, group="h")
    return found


def chronicle(group: str = "g", since: int = 10, until: int = 250, of: Made | None = None) -> Chronicle:
    found = chronicle_of((of or made()).recording(), "c", group, ms(since), ms(until))
    assert found is not None
    return found


def report(group: str = "g", of: Made | None = None) -> IncidentReport:
    found = group_report((of or made()).recording(), "c", group, ms(10), ms(250))
    assert found is not None
    return found


def happened(group: str = "g", since: int = 10, until: int = 250, of: Made | None = None) -> list[tuple[int, str, str]]:
    story = story_of(chronicle(group, since, until, of))
    told = [each for each in story.happened if each.finding]
    return [((each.at_ms - START) // 1_000, each.about.value, each.finding or "") for each in told]


def test_a_fault_of_the_cluster_is_told_of_its_groups_and_nobody_is_accused():
    assert happened() == [(70, "opened", NAME), (150, "closed", NAME)]
    opened = next(each for each in story_of(chronicle()).happened if each.finding)
    assert opened.sentence == SENTENCE


def test_a_partition_without_a_leader_and_the_broker_that_led_it_are_in_the_past_of_its_groups():
    """The broker leads partition 1 and is away from 70 s to 210 s. No owner is accused."""
    led = BrokersSeen((1,), (BrokerAway(2, (), (TopicPartitions("t", (1,)),)),), (TopicPartitions("t", (1,)),))
    incident = Made(300)
    incident.poll(brokers=lambda second: led if 65 <= second <= 205 else BrokersSeen((1, 2)))
    incident.assign(5, 1, {"a": [0], "b": [1]})
    incident.commits(range(10, 301, 5), 0)
    incident.commits([*range(10, 61, 5), *range(215, 301, 5)], 1)
    assert happened(of=incident) == [
        (70, "opened", "topics/no_leader"),
        (190, "opened", "brokers/away"),
        (210, "closed", "topics/no_leader"),
        (210, "closed", "brokers/away"),
    ]
    found = report(of=incident)
    assert found.summary[0].startswith("A fault of the cluster, from ")


def test_it_is_not_told_of_groups_in_other_partitions():
    assert happened("h") == []
    assert report("h").cluster_findings == ()


def test_what_was_open_at_the_beginning_has_opened_before():
    assert happened(since=100) == [(150, "closed", NAME)]
    assert happened(until=140) == [(70, "opened", NAME)]


def test_a_cause_of_its_own_is_told_once_the_fault_is_over():
    """Nobody commits before 280 s. The silence counts from 150 s, and is one from 60 s on."""
    assert happened(of=made(back_s=280)) == [
        (70, "opened", NAME),
        (150, "closed", NAME),
        (210, "opened", "lag/not_committing"),
    ]


def test_a_report_begins_with_the_fault_of_the_cluster():
    found = report()
    assert found.summary[0] == f"A fault of the cluster, from 02:15:10.0 to 02:16:30.0: {SENTENCE}"
    assert (found.hung, found.findings) == ((), ())
    assert [(each.name, each.since_ms, each.until_ms, each.is_over) for each in found.cluster_findings] == [
        (NAME, ms(70), ms(150), True)
    ]
    assert f"{SENTENCE} This lasted from" in "".join(
        line.sentence.replace("This lasted until", "This lasted from") for line in found.timeline
    )
    assert found.began_ms == ms(70)


def test_a_report_has_the_advice_for_the_fault():
    sections = {each.heading: each for each in document_of(report()).sections}
    (row,) = sections["Findings"].rows
    assert row[:2] == ("Cluster, offsets topic: not enough replicas", "critical")
    (action,) = sections["Recommended action"].rows
    assert action[2].startswith("Start the brokers that are away")


def test_a_fault_that_goes_on_is_not_over():
    found = report(of=made(until=300, back_s=301))
    assert not found.is_over
    assert "1 finding is still open (Cluster, offsets topic: not enough replicas)" in found.summary[2]
    assert found.findings == ()


def test_the_report_on_a_cluster_has_the_fault_once_with_the_number_of_groups():
    found = cluster_report("c", ms(10), ms(250), [report("g"), report("h")])
    assert found.faults == (
        ClusterFault(NAME, Severity.CRITICAL, since_ms=ms(70), until_ms=ms(150), is_over=True, groups=1),
    )
    assert [each.group for each in found.hit] == ["g"]
    sections = {each.heading: each for each in document_of(found).sections}
    (row,) = sections["Faults of the cluster"].rows
    assert (row[0], row[-1]) == ("Cluster, offsets topic: not enough replicas", "1")


class _Tables:
    """The rows that a chronicle becomes."""

    def __init__(self, told: Chronicle) -> None:
        self._rows = {table.name: list(rows) for table, rows in rows_of(told)}

    def evaluated_span(self, _cluster: str) -> tuple[int, int]:
        return ms(0), ms(300)

    def group_rows(self, table: TypedTable[RowT], *_: object) -> list[RowT]:
        return self._rows[table.name]  # type: ignore[return-value] # by the name of their table


def test_the_tables_have_the_fault_as_a_row_of_the_group():
    tables = _Tables(chronicle(since=0))
    (row,) = tables.group_rows(FINDINGS)
    assert (row.group, row.kind, row.reason, row.severity) == ("g", *NAME.split("/"), "critical")
    assert (row.from_ms, row.until_ms, row.is_closed, row.sentence) == (ms(70), ms(150), True, SENTENCE)
    days = read_days(tables, "c", "g", ms(0), ms(300))
    assert days is not None
    assert [each.name for each in days.cluster_findings] == [NAME]
    assert days.findings == ()
    assert len(tables.group_rows(GROUP_MINUTES)) == len(days.points)


@pytest.mark.parametrize("group", ["g", "h"])
def test_without_a_fault_nothing_is_told(group: str):
    assert happened(group, of=made(until=0, back_s=65)) == []
