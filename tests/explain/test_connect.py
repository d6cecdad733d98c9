"""A Connect cluster is explained by its workers and their work, and a sink's group by whose it is."""

import pytest

from monitor.detection.evaluation_input import GroupInputs
from monitor.explain.group import explain_group
from tests.detection.told_examples import NOW, examples
from tests.web.page.test_connect import sink_inputs


def told(title: str) -> str:
    (found,) = [each for each in examples() if each.title == title]
    inputs = GroupInputs(group=found.group, catalog=found.catalog, now_ms=NOW, settings=found.settings)
    return " ".join(text for each in explain_group(inputs).statements for text in (each.sentence, *each.evidence))


@pytest.mark.parametrize(
    ("title", "words"),
    [
        (
            "Connect waits for a worker",
            (
                "Its leader at http://10.0.0.1:8083/ assigns connectors and tasks, and holds back those of a worker "
                "that is gone until 03:03:00 UTC.",
                "1 worker runs 1 of 4 known connectors and tasks.",
                "http://10.0.0.1:8083/: 1 task (s3-0), no connector; configuration offset 30",
                "no worker runs task jdbc-1 (delay, last at http://10.0.0.2:8083/; Connect waits until 03:03:00 UTC)",
                "groupwatch does not read the topic of configurations",
                "A Connect cluster has no lag of its own: the consumer groups of its sinks have.",
            ),
        ),
        (
            "Connect has no worker for a task",
            ("connector s3: 2 tasks configured, 1 running", "no worker runs task s3-1 (not_assigned)"),
        ),
        ("Connect has no workers", ("No worker runs 0 of 3 known connectors and tasks.",)),
    ],
)
def test_who_runs_what_and_what_nobody_runs(title: str, words: tuple[str, ...]):
    text = told(title)
    assert [each for each in words if each not in text] == []


def test_the_group_of_a_sink_says_whose_tasks_its_members_are():
    text = " ".join(
        line for each in explain_group(sink_inputs("connect-s3")).statements for line in (each.sentence, *each.evidence)
    )
    assert "its members are tasks of the Connect sink s3." in text
    assert "m1: task s3-1" in text
