"""The page of a Connect cluster says who runs what and what nobody runs, and names its sinks' groups, which name it."""

import re

from msgspec.structs import replace

from monitor.detection import evaluate
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.group_summary import summary_of
from monitor.model import GroupSummary, GroupVerdict, Member, Phase
from monitor.web.page.connect import connect_part
from monitor.web.page.group import group_page
from monitor.web.page.member_labels import Holders
from monitor.web.page.options import PageOptions
from monitor.web.page.render import Pages
from monitor.web.views.overview import ClusterLine, GroupLine, Overview
from tests.detection.told_examples import NOW, Example, World, examples

PAGES = Pages()
CLUSTER = ClusterLine(
    "prod", "", None, ready=True, failing=False, evaluated="1 s", stale=False, groups=1, progress=None
)


def example(title: str, suffix: str = "") -> Example:
    (found,) = [each for each in examples(suffix) if each.title == title]
    return found


def verdict_on(found: Example):
    return evaluate(found.group, found.catalog, NOW, found.settings)


def shown(verdict, groups: tuple[GroupSummary, ...] = ()) -> str:
    return PAGES.group(group_page(verdict, None, groups=groups), CLUSTER, PageOptions(path="/"))


def words(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def sink_inputs(name: str) -> GroupInputs:
    """The group of a sink of two tasks, none of which has a partition."""
    w = World()
    members = tuple(
        Member(
            member_id=f"m{n}",
            client_id=f"connector-consumer-s3-{n}",
            host=f"/10.0.0.{n}",
            topics=("orders",),
            assigned=(),
        )
        for n in (0, 1)
    )
    group = replace(w.group(), group=name, members=members, phase=Phase.STABLE)
    return GroupInputs(group=group, catalog=w.topics(orders=2), now_ms=NOW)


def sink_group(name: str) -> GroupVerdict:
    inputs = sink_inputs(name)
    return evaluate(inputs.group, inputs.catalog, NOW, inputs.settings)


def test_what_nobody_runs_comes_first_with_until_when_connect_waits():
    text = words(shown(verdict_on(example("Connect waits for a worker"))))
    assert "jdbc 0 none last http://10.0.0.2:8083/ no worker: delay for 2 min Connect waits until 03:03:00 UTC" in text
    assert text.index("jdbc 0 none") < text.index("s3 0 #1")
    assert "http://10.0.0.1:8083/ #1 checkout 0 1 30 leader" in text


def test_a_connector_has_a_link_to_its_group_and_the_group_one_to_the_cluster():
    cluster = verdict_on(example("Connect has no worker for a task"))
    sink = sink_group("connect-s3")
    both = (summary_of(cluster), summary_of(sink))
    assert '<a href="/groups/prod/connect-s3">' in shown(cluster, both)
    assert '<a href="/groups/prod/checkout">' in shown(sink, both)
    assert "s3 1 #2 connector-consumer-s3-1" in words(shown(sink, both))
    assert "/groups/prod/connect-s3" not in shown(cluster, both[:1]), "there is no such group"
    assert "Connect" not in words(shown(verdict_on(example("left out by the assignor")), both))


def test_the_tasks_of_a_sink_are_listed_in_order_and_each_section_has_a_link():
    sink = sink_group("connect-s3")
    turned = replace(sink, sinks=tuple(reversed(sink.sinks)))
    part = connect_part(turned, (), Holders(turned.members), None)
    assert [(line.connector, line.task) for line in part.sinks] == [("s3", 0), ("s3", 1)]
    assert '<a href="#connect">Connect</a>' in shown(sink)
    cluster = shown(verdict_on(example("Connect waits for a worker")))
    for place in ("connect", "connectors", "tasks"):
        assert f'<a href="#{place}">' in cluster
        assert f'id="{place}"' in cluster


def test_a_worker_that_joined_behind_its_leader_is_marked():
    page = shown(verdict_on(example("a worker of Connect has read less than its leader")))
    assert "http://10.0.0.2:8083/ #2 checkout 0 0 28 joined behind the leader" in words(page)


def test_as_many_tasks_are_listed_as_the_page_is_asked_for():
    verdict = verdict_on(example("Connect waits for a worker"))
    part = connect_part(verdict, (), Holders(verdict.members), 3)
    assert ([line.task.task for line in part.tasks], part.hidden_tasks) == (["jdbc-0", "jdbc-1", "s3-4"], 1)


def test_findings_of_a_sinks_group_say_whose_tasks_its_members_are():
    """Its two members have nothing, and two partitions are nobody's."""
    found = [finding.sentence for finding in sink_group("connect-s3").findings]
    assert found
    assert all("Connect sink s3." in sentence for sentence in found)


def test_a_connect_cluster_has_no_lag_of_its_own_and_that_is_no_defect():
    """ "unknown" is what is said of a lag that should be known."""
    verdict = verdict_on(example("Connect waits for a worker"))
    line = GroupLine(summary=summary_of(verdict), href="/", findings=())
    listed = PAGES.overview(
        Overview((), (line,), shown=1, hidden=0, total=1, troubled=0, kinds=(), share=None), PageOptions(path="/")
    )
    none = "none of its own"
    assert f" 1 {none} " in words(listed)
    assert f" Lag {none} " in words(shown(verdict))
    assert " unknown " not in words(listed)
    sink = GroupLine(summary=replace(summary_of(verdict), is_connect=False), href="/", findings=())
    other = PAGES.overview(
        Overview((), (sink,), shown=1, hidden=0, total=1, troubled=0, kinds=(), share=None), PageOptions(path="/")
    )
    assert " 1 unknown " in words(other)


def test_workers_have_no_partitions_and_so_no_columns_of_them():
    page = words(shown(verdict_on(example("Connect waits for a worker"))))
    assert "Host Remarks" in page
    assert "No partitions" not in page
