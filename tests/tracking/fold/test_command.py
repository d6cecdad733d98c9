"""``python -m monitor.tracking.fold``: records and marks from standard input, groups to standard output."""

import json
import subprocess
import sys

import pytest

from tests.support.kind_captures import lines_until_each_mark, records

COMMAND = [sys.executable, "-W", "error", "-m", "monitor.tracking.fold"]


def run(lines, *options):
    told = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return subprocess.run([*COMMAND, *options], input=told.encode(), capture_output=True, check=False)


def captured(count):
    """The lines of so many marks: their records, and the mark."""
    for (mark, since), _ in zip(lines_until_each_mark(), range(count), strict=False):
        yield from since
        yield {"mark": mark["label"], "topics": mark.get("topics", {})}


def test_after_each_mark_there_is_a_line_for_each_group():
    answer = run(captured(5))
    shown = [json.loads(line) for line in answer.stdout.splitlines()]
    assert (answer.returncode, answer.stderr) == (0, b"")
    assert [each["mark"] for each in shown] == ["first-held", "first-accepted", "all-accepted", "new-records"]
    last = shown[-1]
    assert (last["group"], last["kind"], last["state"], last["generation"]) == (
        "sg2b6e-pool",
        "kafka-share",
        "stable",
        3,
    )
    assert {each["lag"] for each in last["partitions"]} == {19}
    assert last["details"] == {"initialized": {"sg2b6e.work": [0, 1, 2, 3]}, "initializing": {}}


def test_a_mark_without_topics_knows_no_lag_and_the_names_that_the_log_tells():
    marks = list(zip(lines_until_each_mark(), range(5), strict=False))
    lines = [line if "mark" not in line else {"mark": line["mark"]} for line in captured(5)]
    last = [json.loads(line) for line in run(lines).stdout.splitlines()][-1]
    assert all("lag" not in each for each in last["partitions"])
    started = {f"{each['topic']}-{each['partition']}": each["start_offset"] for each in last["partitions"]}
    assert started == {place: told["start_offset"] for place, told in marks[-1][0][0]["offsets"].items()}


def test_records_that_cannot_be_read_are_reported_at_the_end():
    record = {"topic": "__share_group_state", "p": 1, "o": 7, "ts": 0, "key": "AAA=", "value": None}
    answer = run([record, {**record, "key": "?", "o": 8}, {**record, "topic": "other"}, {"mark": 1}])
    assert (answer.returncode, answer.stdout) == (0, b"")
    reports = answer.stderr.decode().splitlines()
    assert [line.partition(": ")[2] for line in reports] == [
        "__share_group_state 1 offset 7: underflow at byte 2 of the key",
        "__share_group_state 1 offset 8: bad_base64",
    ]


@pytest.mark.parametrize("line", ["no json", '{"topic": 5}', '{"mark": {"topics": 7}}'])
def test_a_line_that_is_neither_ends_the_command(line):
    answer = run([line])
    assert answer.returncode == 2
    assert b"line 1 is neither a record nor a mark" in answer.stderr


def test_the_topic_of_configurations_is_found_by_its_name():
    """The group does not name it: it is called as the group is, or as Connect's example settings call it."""
    group = "cn1f7-sessioned"
    of_group = [
        record
        for record in records()
        if record["topic"] == f"{group}-configs" or record.get("decoded", {}).get("key") == {"group": group}
    ]
    lines = [record for record in of_group if record["value"] is not None]
    for name, is_found in {f"{group}-configs": True, "connect-configs": True, "settings": False}.items():
        renamed = [{**line, "topic": name} if line["topic"].endswith("-configs") else line for line in lines]
        answer = run([*renamed, {"mark": "end"}], "--connect-configs", name)
        (view,) = map(json.loads, answer.stdout.splitlines())
        assert ("connectors" in view["details"]) == is_found
        if is_found:
            connectors = {each["connector"]: each["group"] for each in view["details"]["connectors"]}
            assert connectors[f"{group}-own"] == f"{group}-own-group"


def test_the_help_describes_the_lines():
    told = subprocess.run([*COMMAND, "--help"], capture_output=True, check=True).stdout.decode()
    for word in ("__share_group_state", '"mark"', '"kafka_lag"', '"first_waiting"', '"idle"', '"worker"'):
        assert word in told
