"""The commands about groups whose partitions have names, from a saved file."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result
from msgspec.structs import replace
from typer.testing import CliRunner

from monitor.cli.app import app
from monitor.model import GroupObserved
from tests.support.captured_groups import READ, catalog_of, folded, metaq, queues, rocketmq, topic
from tests.web.saved import Saved, pieces


def ask(tmp_path: Path, reading: GroupObserved, ends: int, *words: str) -> Result:
    partitions = queues(8) if reading.cluster == "mq" else [f"0-{n}" for n in range(12)]
    name = "LabTopic" if reading.cluster == "mq" else "meta-twelve"
    catalog = catalog_of(reading.cluster, topic(reading.cluster, name, partitions, end=ends))
    file = tmp_path / "saved.jsonl"
    saved = Saved(replace(catalog, pass_ms=READ + 60_000), (folded(reading),), READ + 60_000)
    file.write_bytes(b"".join(pieces(saved)))
    return CliRunner().invoke(app, [*words, "--snapshot", str(file)])


def test_a_queue_is_asked_for_by_its_name(tmp_path: Path):
    answer = ask(tmp_path, rocketmq("5.5.0", "lab-group"), 300, "explain", "mq", "lab-group", "LabTopic", "broker-a-4")
    assert answer.exit_code == 0, answer.output
    lines = answer.stdout.splitlines()
    assert lines[1].startswith("partition  Partition broker-a-4 of LabTopic was first seen")
    assert (
        "rule       AVG divides the 8 partitions of LabTopic into consecutive runs. 127.0.0.1@c2 is number 2 of 3 "
        "members sorted by id and takes broker-a-3, broker-a-4, broker-a-5."
    ) in lines


@pytest.mark.parametrize("partition", ["4", "broker-a", "../x", "\u202e"])
def test_a_queue_that_is_not_there_is_told_in_one_sentence(tmp_path: Path, partition: str):
    reading = rocketmq("5.5.0", "lab-group")
    answer = ask(tmp_path, reading, 300, "explain", "mq", "lab-group", "LabTopic", partition)
    assert answer.exit_code == 2
    assert answer.stderr.count("\n") == 1
    assert "it has broker-a-0, broker-a-1" in answer.stderr
    assert answer.stderr.strip().isprintable()


def test_the_lag_of_metaq_is_told_in_bytes(tmp_path: Path):
    reading = metaq("metaq-zk-twelve", "twelve-def")
    observed = type(metaq("metaq-zk", "meta-grp").offsets[0])
    offsets = [observed("meta-twelve", f"0-{number}", 100 if number == 10 else 350) for number in range(12)]
    reading = replace(reading, offsets=tuple(offsets))
    answer = ask(tmp_path, reading, 350, "explain", "metaq", "twelve-def")
    assert "Its lag is 250 bytes in 1 partition" in answer.stdout
    of_one = ask(tmp_path, reading, 350, "explain", "metaq", "twelve-def", "meta-twelve", "0-10")
    assert "the lag is 250 bytes" in of_one.stdout
    assert "record" not in answer.stdout + of_one.stdout
    hidden = ask(tmp_path, replace(reading, offsets=(offsets[10],)), 350, "explain", "metaq", "twelve-def")
    assert "It is at least 250 bytes, and at most 3,850 bytes more" in hidden.stdout
    assert "record" not in hidden.stdout


def test_what_if_a_client_left_is_shown_with_its_queues(tmp_path: Path):
    reading = rocketmq("5.5.0", "lab-group")
    answer = ask(tmp_path, reading, 300, "what-if", "mq", "lab-group", "--without", "127.0.0.1@c2")
    assert answer.exit_code == 0, answer.output
    assert "broker-a-3" in answer.stdout
    assert "127.0.0.1@c2" in answer.stdout
    assert "3 partitions get a different owner:" in answer.stdout
