"""``groupwatch census``: the table and the JSON of a job and of a saved file, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from msgspec.structs import replace
from typer.testing import CliRunner

from monitor.cli.app import app
from monitor.messages.client_libraries import CERTAINTIES
from monitor.model import ClusterSnapshot, WireForm
from monitor.web.server import HttpServer
from tests.detection.ownership.test_client_libraries import state_of
from tests.support.answering import Answer, answering
from tests.support.builders import NOW, catalog, group, member
from tests.web.api.api_example import verdict_on
from tests.web.examples import Served, ready_cluster, snapshot
from tests.web.saved import Saved, pieces

RDKAFKA = {"user_data": b"", "rack": "", "wire": WireForm(subscription_version=3)}
"""Only librdkafka writes this, since 2.4."""
JAVA_OR_SARAMA = {"wire": WireForm(subscription_version=1)}
NAMED = {"user_data": b"", "client_id": "aiokafka-0.14.0", "wire": WireForm(subscription_version=0)}

STATES = (
    replace(group(member("a", ["t"], **RDKAFKA), member("b", ["t"], **RDKAFKA)), cluster="west", group="one"),
    replace(group(member("c", ["t"], **RDKAFKA), member("d", ["t"], **JAVA_OR_SARAMA)), cluster="west", group="two"),
    replace(group(member("e", ["t"], **NAMED), member("f", ["t"], wire=None)), cluster="east", group="three"),
    replace(group(), cluster="north", group="empty"),
)
CLUSTERS = ("west", "east", "north")
SAVED = {
    name: Saved(replace(catalog(), cluster=name), tuple(state for state in STATES if state.cluster == name), NOW)
    for name in CLUSTERS
}

EAST = [
    ["east", "aiokafka", "0.14.0", "likely", "1", "1", "three"],
    ["east", "unknown", "unknown", "unknown", "1", "1", "three"],
]
WEST = [
    ["west", "librdkafka", "2.4 or newer", "certain", "3", "2", "one, two"],
    ["west", "java or sarama", "unknown", "possible", "1", "1", "two"],
]


def ask(*words: str) -> Result:
    return CliRunner().invoke(app, ["census", *words])


def table(answer: Result) -> list[list[str]]:
    """The cells of a table, without its head."""
    assert answer.exit_code == 0, answer.stderr
    head, _, *lines = answer.stdout.splitlines()
    assert head.split("  ")[0] == "cluster"
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines]


@pytest.fixture
def saved(tmp_path: Path) -> str:
    """A file that groupwatch snapshot would have written."""
    file = tmp_path / "saved.jsonl"
    file.write_bytes(b"".join(pieces(*SAVED.values(), also=("broken",))))
    return str(file)


def served(*also: ClusterSnapshot) -> HttpServer:
    """A job that serves the same."""
    judged = [
        ready_cluster(*(verdict_on(own, state) for state in own.states), cluster=name) for name, own in SAVED.items()
    ]
    return HttpServer(Served(snapshot(*judged, *also), SAVED), port=0)


@pytest.mark.parametrize(
    ("words", "rows"), [([], EAST + WEST), (["west"], WEST), (["east"], EAST)], ids=["all", "west", "east"]
)
def test_the_table_has_members_and_groups_by_library_of_a_job_and_of_a_file(saved, words, rows):
    assert table(ask(*words, "--snapshot", saved)) == rows
    with served() as job:
        assert table(ask(*words, "--url", job.url)) == rows


def test_the_json_of_a_file_is_that_of_the_job_from_which_it_was_saved(saved):
    with served() as job:
        of_job = ask("west", "--json", "--url", job.url)
    assert of_job.exit_code == 0
    assert json.loads(of_job.stdout) == [
        {
            "cluster": "west",
            "libraries": ["librdkafka"],
            "certainty": "certain",
            "versions": "2.4 or newer",
            "members": 3,
            "groups": 2,
            "group_names": ["one", "two"],
        },
        {
            "cluster": "west",
            "libraries": ["java", "sarama"],
            "certainty": "possible",
            "members": 1,
            "groups": 1,
            "group_names": ["two"],
        },
    ]
    assert ask("west", "--json", "--snapshot", saved).stdout == of_job.stdout


def test_a_cluster_without_members_says_so_and_is_an_empty_list(saved):
    answer = ask("north", "--snapshot", saved)
    assert (answer.exit_code, answer.stdout) == (0, "No Kafka group has a member.\n")
    assert json.loads(ask("north", "--snapshot", saved, "--json").stdout) == []


def test_a_cluster_that_is_not_ready_is_left_out_only_if_that_is_wanted():
    with served(ClusterSnapshot(cluster="slow")) as job:
        refused, partial = ask("--url", job.url), ask("--url", job.url, "--partial")
        of_one = ask("west", "--url", job.url)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr.startswith("groupwatch: The groups of slow are not known yet. ")
    assert refused.stderr.count("\n") == 1
    assert table(partial) == EAST + WEST
    assert table(of_one) == WEST


def test_an_unknown_cluster_is_one_sentence_and_code_2(saved):
    of_file = ask("absent", "--snapshot", saved)
    with served() as job:
        of_job = ask("a b&partial=1", "--url", job.url)
    sentence = f"groupwatch: {saved}: The snapshot has no cluster absent; it has west, east, north.\n"
    assert (of_file.exit_code, of_file.stdout, of_file.stderr) == (2, "", sentence)
    sentence = "groupwatch: No cluster named a b&partial=1 is watched.\n"
    assert (of_job.exit_code, of_job.stdout, of_job.stderr) == (2, "", sentence)


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b'[{"cluster": "c"}]', b"\xff"])
def test_a_response_that_is_no_census_is_one_sentence_and_code_2(body):
    with answering(lambda _path, _body: Answer(headers={"Content-Type": "application/json"}, body=body)) as address:
        answer = ask("--url", f"http://{address}")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith(f"groupwatch: http://{address} sent an unusable response: ")
    assert answer.stderr.count("\n") == 1


def test_a_file_that_was_cut_is_refused(tmp_path):
    file = tmp_path / "cut"
    file.write_bytes(b"".join(pieces(*SAVED.values()))[:-30])
    answer = ask("--snapshot", str(file))
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith(f"groupwatch: {file}: The snapshot is ")


def test_a_release_from_a_client_id_is_escaped_and_shortened(tmp_path):
    """A release is what matches in a client id: letters of any script, and any number of them."""
    hostile = member("m", ["t"], **(NAMED | {"client_id": "aiokafka-1\u05d0" + "9" * 500}))
    own = Saved(replace(catalog(), cluster="c\x1b"), (replace(group(hostile), cluster="c\x1b", group="g"),), NOW)
    file = tmp_path / "file"
    file.write_bytes(b"".join(pieces(own)))
    ((cluster, library, release, *_),) = table(ask("--snapshot", str(file)))
    assert (cluster, library) == (r"c\x1b", "aiokafka")
    assert release.endswith("9...")
    assert len(release) < 130


SHOWN = (
    *("aiokafka.default.same", "kafka-go.default.same", "kafka-python.default.same", "kafkajs.default.same"),
    *("librdkafka.cooperative-sticky.same", "librdkafka.default.same", "sarama.range.same"),
)
"""Captured groups of the documentation's example."""


def test_the_documentation_shows_what_the_command_prints_and_what_its_words_mean(tmp_path):
    states = tuple(replace(state_of(name), cluster="prod") for name in SHOWN)
    file = tmp_path / "prod.jsonl"
    file.write_bytes(b"".join(pieces(Saved(replace(catalog(), cluster="prod"), states, NOW))))
    page = (Path(__file__).parents[2] / "docs" / "explain.md").read_text(encoding="utf-8")
    assert f"$ groupwatch census prod\n{ask('prod', '--snapshot', str(file)).stdout}```\n" in page
    rows = [f"| {certainty} | {meaning} |\n" for certainty, meaning in CERTAINTIES.items()]
    assert f"| how sure | meaning |\n|---|---|\n{''.join(rows)}\n" in page
