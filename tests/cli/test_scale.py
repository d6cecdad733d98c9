"""How many members a group needs, as a person asks it, from a saved file."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from monitor.snapshot_file import group_lines
from tests.cli.test_commands import ask
from tests.scaling.fleet import Fleet, even
from tests.scaling.test_signal import MEASURED


@pytest.fixture
def saved(tmp_path: Path) -> str:
    """What groupwatch snapshot writes of a group of a job that knows how fast its members read."""
    file = tmp_path / "saved.jsonl"
    fleet = Fleet(even(6, 60.0), [400.0, 400.0]).run(700)
    file.write_bytes(group_lines(fleet.inputs(memory=MEASURED)))
    return str(file)


def test_the_number_comes_with_the_numbers_that_help(saved):
    answer = ask("scale", "c", "g", "--snapshot", saved)
    assert answer.exit_code == 0, answer.output
    heading, measured, head, _, *rows = answer.stdout.splitlines()
    assert heading == (
        "g of cluster c has 2 members and needs 3. 3 members are enough to read all that waits within 1 min."
    )
    assert measured == "Lag: 0 records. Incoming: 360 records/s. A member reads: 200 records/s (10 measurements)."
    assert re.split(r" {2,}", head.strip()) == [
        "members",
        "most partitions",
        "busiest",
        "lag read in",
        "caught up in",
        "moves",
    ]
    assert [row.split() for row in rows[:4]] == [
        ["1", "6", "180%", "0", "s", "never", "3", "too", "slow"],
        ["2", "3", "90%", "0", "s", "0", "s", "0", "now,", "no", "headroom"],
        ["3", "2", "60%", "0", "s", "0", "s", "3", "needed"],
        ["6", "1", "30%", "0", "s", "0", "s", "5"],
    ]
    assert rows[4] == (
        "Busiest: what comes in for the busiest member, of what it reads. Too slow: a record would wait longer than "
        "1 min, now or if the load stays. No headroom: it has been so busy for minutes."
    )


def test_a_number_that_is_held_is_not_said_to_be_needed(tmp_path):
    """Nobody knows it: as long as no member had lag, how fast they read is not known."""
    file = tmp_path / "saved.jsonl"
    unmeasured = replace(MEASURED, rates=())
    file.write_bytes(group_lines(Fleet(even(6, 60.0), [400.0, 400.0]).run(700).inputs(memory=unmeasured)))
    shown = ask("scale", "c", "g", "--snapshot", str(file)).stdout
    assert shown.startswith(
        "g of cluster c has 2 members, and the number stays at 2. How fast a member reads is not known"
    )
    assert "needed" not in shown


def test_the_target_and_the_largest_number_can_be_asked_for(saved):
    found = json.loads(ask("scale", "g", "--target", "90s", "--max", "2", "--json", "--snapshot", saved).stdout)
    assert (found["scaling"]["target_ms"], found["scaling"]["wanted_members"]) == (90_000, 2)
    assert found["scaling"]["sentence"].startswith("No number of members leaves the headroom of 20%; 2 members")
    assert [row["members"] for row in found["rows"]] == [1, 2]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--target", "soon"), "soon is no duration; give for example 60s or 5m."),
        (("--target", "10ms"), "The target is at least 1 s."),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(saved, words, sentence):
    answer = ask("scale", "c", "g", *words, "--snapshot", saved)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert sentence in answer.stderr
