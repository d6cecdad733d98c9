"""The command against a real broker: what it prints, its exit codes, and what it does not start or load."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer
from kafka.admin import KafkaAdminClient

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import free_ports
from monitor.demo.servers.settings import BrokerSettings
from monitor.doctor.diagnosis import Diagnosis
from monitor.doctor.examination import Examination, first_answer, renewed_answers
from monitor.doctor.reader import ClusterReader
from monitor.doctor.target import target_cluster
from tests.doctor.clock import Clock
from tests.support.clients import admin, commit, create_topic, produce
from tests.support.job_process import eventually

pytestmark = pytest.mark.broker

HOSTILE = "evil\x1b[2J\n\u202egroup"
SECOND_LOOK = "groupwatch: second look in 5.5 s ...\n"
HOSTILE_SHOWN = "evil\\x1b[2J\\n\\u202egroup"


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    """Of six records of orders, ``behind`` has consumed two and its members are gone; ``fine`` has all."""
    with EmbeddedKafka() as broker:
        servers = broker.bootstrap_servers
        create_topic(servers, "orders", 2)
        produce(servers, "orders", {0: 3, 1: 3})
        for name, offsets in (("behind", {0: 1, 1: 1}), ("fine", {0: 3, 1: 3}), (HOSTILE, {0: 0, 1: 3})):
            leave_after(servers, name)
            commit(servers, name, "orders", offsets)
        yield broker


def leave_after(servers: str, group: str) -> None:
    """Join the group once, and leave it."""
    consumer = KafkaConsumer("orders", bootstrap_servers=servers, group_id=group, enable_auto_commit=False)
    try:
        eventually(lambda: consumer.poll(timeout_ms=200) is not None and consumer.assignment(), "an assignment")
    finally:
        consumer.close(autocommit=False)


def doctor(
    servers: str, *options: str, code: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    words = ["doctor", "--bootstrap-server", servers, *options]
    program = ["-m", "monitor.cli"] if code is None else ["-c", code]
    command = [sys.executable, *program, *words]
    environment = os.environ | {"JAVA_HOME": "/nowhere"}
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, env=environment)


def read_json(servers: str, *options: str) -> tuple[int, dict[str, Any]]:
    answer = doctor(servers, "--json", *options)
    return answer.returncode, json.loads(answer.stdout)


def test_groups_that_nobody_consumes_for_are_found_and_the_others_are_not(kafka: EmbeddedKafka):
    """The code is 1. Without members, only the silence of a minute is missing."""
    code, answer = read_json(kafka.bootstrap_servers)
    assert (code, answer["judged"], answer["readings"]) == (1, 3, 2)
    rows = {(each["group"], each["kind"]): each for each in answer["findings"]}
    assert rows.keys() == {("behind", "unattended"), (HOSTILE, "unattended")}
    finding = rows["behind", "unattended"]
    assert finding["severity"] == "critical"
    assert finding["advice"].startswith("Start its consumers.")
    assert [place["partition"] for place in finding["partitions"]] == [0, 1]
    assert 50_000 < finding["opens_in_ms"] <= 60_000
    assert {(row["group"], row["lag"]) for row in answer["groups"]} == {("behind", 4), ("fine", 0), (HOSTILE, 3)}
    assert answer["limits"]


def test_text_names_the_worst_with_what_to_do_and_what_is_unknown(kafka: EmbeddedKafka):
    answer = doctor(kafka.bootstrap_servers)
    assert (answer.returncode, answer.stderr) == (1, SECOND_LOOK)
    headline, _, first, advice, *_ = answer.stdout.splitlines()
    assert headline.endswith(": 3 groups judged, 2 findings in 2 groups, 2 of them only if nothing changes.")
    assert first.startswith("critical  behind: If nothing changes for ")
    assert advice.startswith("          What to do: Start its consumers.")
    assert "cannot know:" in answer.stdout


def test_names_send_no_control_to_the_terminal(kafka: EmbeddedKafka):
    answer = doctor(kafka.bootstrap_servers, "--group", HOSTILE)
    assert f" {HOSTILE_SHOWN}: " in answer.stdout
    assert not set(answer.stdout) & {"\x1b", "\u202e"}
    assert doctor(kafka.bootstrap_servers, "--group", "\x1b[2Jnone").stderr.count("\x1b") == 0


def test_a_group_without_a_finding_is_clean(kafka: EmbeddedKafka):
    answer = doctor(kafka.bootstrap_servers, "--group", "fine")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "1 group judged, no finding." in answer.stdout


@pytest.mark.parametrize(
    ("members", "code", "shown"),
    [
        (0, 0, " met members It has 0 members."),
        (2, 1, " not met members It has 0 members; expected: 2."),
        (None, 2, " unknown assignor It has no members."),
    ],
)
def test_expectations_are_compared_with_the_same_look(
    kafka: EmbeddedKafka, tmp_path: Path, members: int | None, code: int, shown: str
):
    file = tmp_path / "expectations.toml"
    key = 'assignor = "range"' if members is None else f"members = {members}"
    file.write_text(f'[[expect]]\ngroups = "fine"\ncluster = "main"\n{key}\n')
    answer = doctor(kafka.bootstrap_servers, "--group", "fine", "--expectations", str(file), "--cluster", "main")
    assert (answer.returncode, answer.stderr) == (code, "")
    assert shown in " ".join(answer.stdout.split())
    assert doctor(kafka.bootstrap_servers, "--group", "fine", "--expectations", str(file)).returncode == 2


def test_a_group_that_does_not_exist_has_no_answer(kafka: EmbeddedKafka):
    answer = doctor(kafka.bootstrap_servers, "--group", "none")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == (
        f"groupwatch: {kafka.bootstrap_servers} has no group none, or the user may not describe it.\n"
    )


def test_a_wrong_address_is_one_sentence():
    (port,) = free_ports(1)
    answer = doctor(f"127.0.0.1:{port}")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == (
        f"groupwatch: Cluster 127.0.0.1:{port}: no broker answers at 127.0.0.1:{port} (tried for 5 s)."
        " Check --bootstrap-server.\n"
    )


@pytest.mark.parametrize(
    ("servers", "lines", "said"),
    [
        ("localhost", "", "--bootstrap-server should be host:port, or several of them separated by commas."),
        (
            "127.0.0.1:1",
            "security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI",
            "sasl.jaas.config is required for SASL GSSAPI",
        ),
        (
            "127.0.0.1:1",
            "security.protocol=SSL\nssl.truststore.location=a.jks",
            "ssl.truststore.location cannot be read",
        ),
        (
            "127.0.0.1:1",
            "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER",
            "sasl.oauthbearer.token.endpoint.url is required for SASL OAUTHBEARER.",
        ),
        (
            "127.0.0.1:1",
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.password=tiger",
            "sasl.username is",
        ),
    ],
)
def test_options_that_cannot_be_used_are_explained(tmp_path: Path, servers: str, lines: str, said: str):
    file = tmp_path / "client.properties"
    file.write_text(lines, encoding="utf-8")
    answer = doctor(servers, "--client", str(file))
    assert (answer.returncode, answer.stdout, answer.stderr.count("\n")) == (2, "", 1)
    assert said in answer.stderr
    assert "tiger" not in answer.stderr
    assert "clusters." not in answer.stderr


def test_a_file_that_is_missing_at_the_login_is_named_as_in_the_properties(tmp_path: Path):
    """The cluster of a job has a place in its configuration; that of the doctor has a file and an option."""
    options = (
        f'clientId="me" clientSecret="tiger" ssl.truststore.location="{tmp_path}/none.pem" ssl.truststore.type=PEM'
    )
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
    lines = [
        "security.protocol=SASL_PLAINTEXT",
        "sasl.mechanism=OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url=https://127.0.0.1:1/token",
        f"sasl.jaas.config={module} required {options};",
    ]
    file = tmp_path / "client.properties"
    file.write_text("\n".join(lines), encoding="utf-8")
    answer = doctor("127.0.0.1:1", "--client", str(file))
    assert answer.returncode == 2
    assert f"{file}: sasl.jaas.config" in answer.stderr
    assert "clusters." not in answer.stderr
    assert "tiger" not in answer.stderr


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("secruity.protocol=SASL_SSL", "security.protocol"),
        ("security_protocol=SASL_SSL", "security.protocol"),
        ("SECURITY.PROTOCOL=SSL", "security.protocol"),
        ("sals.jaas.config=tiger", "sasl.jaas.config"),
        ("ssl-truststore-location=tiger", "ssl.truststore.location"),
    ],
)
def test_a_mistyped_property_of_security_is_refused(tmp_path: Path, line: str, meant: str):
    """Ignored, it would connect without encryption."""
    file = tmp_path / "client.properties"
    file.write_text(line, encoding="utf-8")
    answer = doctor("127.0.0.1:1", "--client", str(file))
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == f"groupwatch: {file} has {line.partition('=')[0]}: did you mean {meant}?\n"


@pytest.mark.parametrize(
    "line",
    [
        "producer.security.protocol=SSL",
        "admin.sasl.jaas.config=x",
        "schema.registry.ssl.truststore.location=x",
        "confluent.metrics.reporter.sasl.mechanism=PLAIN",
        "key.deserializer=x",
        "bootstrap.servers=b:9092",
    ],
)
def test_properties_of_other_programs_are_no_mistakes(tmp_path: Path, line: str):
    file = tmp_path / "client.properties"
    file.write_text(line, encoding="utf-8")
    assert target_cluster("b:9092", file).client_properties() == {}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("sasl.mechanism=PLAIN", "sasl.mechanism: no effect, because there is no security.protocol."),
        (
            "security.protocol=PLAINTEXT\nsasl.jaas.config=tiger",
            "sasl.jaas.config: no effect, because security.protocol is PLAINTEXT.",
        ),
        ("ssl.truststore.location=x", "ssl.truststore.location: no effect, because there is no security.protocol."),
    ],
)
def test_security_without_effect_is_a_warning(kafka: EmbeddedKafka, tmp_path: Path, lines: str, said: str):
    """The answer is the same; stderr names what the connection is not."""
    file = tmp_path / "client.properties"
    file.write_text(lines, encoding="utf-8")
    answer = doctor(kafka.bootstrap_servers, "--group", "fine", "--client", str(file))
    assert answer.returncode == 0
    assert answer.stderr == f"groupwatch: {file}: {said} The connection is not encrypted.\n"


WITHOUT = """
import os, subprocess, sys
def started(event, args):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork"):
        print("STARTED", event, args, file=sys.stderr)
sys.addaudithook(started)
from monitor.cli import main
sys.argv = ["groupwatch", *sys.argv[1:]]
try:
    main()
finally:
    heavy = {"pyspark", "py4j", "pandas", "pyarrow", "deltalake", "starlette", "uvicorn", "jinja2", "streaming_jobs"}
    print("LOADED", sorted(heavy & sys.modules.keys()), file=sys.stderr)
"""


def test_no_process_is_started_and_no_spark_is_loaded(kafka: EmbeddedKafka):
    """Nor is anything written: the topics are those of before."""
    with admin(kafka.bootstrap_servers) as client:
        before = set(client.list_topics())
    answer = doctor(kafka.bootstrap_servers, code=WITHOUT)
    assert (answer.returncode, answer.stderr) == (1, f"{SECOND_LOOK}LOADED []\n")
    with admin(kafka.bootstrap_servers) as client:
        assert set(client.list_topics()) == before


def test_a_login_of_a_properties_file_is_used_and_never_shown(tmp_path: Path):
    """With what Kafka's own tools and a consumer have in such a file."""
    file = tmp_path / "admin.properties"
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="root" password="{}";'
    lines = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism = PLAIN\ngroup.id: mine\nsasl.jaas.config="
    with EmbeddedKafka(BrokerSettings(sasl_users={"root": "root-pw"}, super_users=("root",))) as broker:
        with KafkaAdminClient(**broker.client_settings("root")) as root:
            root.create_topics({"t": {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
        file.write_text(lines + login.format("root-pw"), encoding="utf-8")
        right = doctor(broker.bootstrap_servers, "--client", str(file))
        assert (right.returncode, right.stderr) == (0, "")
        file.write_text(lines + login.format("wrong-pw"), encoding="utf-8")
        wrong = doctor(broker.bootstrap_servers, "--client", str(file))
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "the broker refused the login" in wrong.stderr or "closes the connection at the login" in wrong.stderr
    assert "wrong-pw" not in wrong.stderr


def test_ctrl_c_ends_a_watch_with_the_code_of_its_last_answer(kafka: EmbeddedKafka):
    command = [sys.executable, "-m", "monitor.cli", "doctor", "--watch", "--json"]
    command += ["--bootstrap-server", kafka.bootstrap_servers, "--group", "behind"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first, second = (json.loads(process.stdout.readline()) for _ in range(2))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (1, "")
    assert (first["readings"], second["readings"]) == (1, 2)


def test_the_findings_are_those_after_the_grace_time(kafka: EmbeddedKafka):
    """Two minutes later, by the clock of the reader, the same rules find for certain what was expected."""
    clock = Clock()
    reader = ClusterReader(target_cluster(kafka.bootstrap_servers, None), clock)
    examination = Examination(reader, "c")
    try:
        early = first_answer(examination, wait=clock.wait)
        clock.now_ms += 120_000
        late = examination.look()
    finally:
        reader.close()
    assert {(each.group, each.kind, each.opens_in_ms > 0) for each in early.findings} == {
        ("behind", "unattended", True),
        (HOSTILE, "unattended", True),
    }
    assert shown(late) == shown(early)
    assert late.is_certain


def shown(diagnosis: Diagnosis) -> list[tuple[object, ...]]:
    return [(each.group, each.kind, each.reason, each.sentence, each.partitions) for each in diagnosis.findings]


def test_a_watch_renews_the_answer_and_outlives_the_broker():
    with EmbeddedKafka() as broker:
        create_topic(broker.bootstrap_servers, "orders", 1)
        produce(broker.bootstrap_servers, "orders", {0: 3})
        commit(broker.bootstrap_servers, "behind", "orders", {0: 1})
        reader = ClusterReader(target_cluster(broker.bootstrap_servers, None))
        answers = renewed_answers(Examination(reader, "c"), wait=lambda seconds: None)
        try:
            first = next(answers)
            commit(broker.bootstrap_servers, "behind", "orders", {0: 3})
            second = eventually(lambda: (answer := next(answers)).is_certain and answer, "no finding")
            broker.kill()
            began_s = time.monotonic()
            last = next(answers)
            took_s = time.monotonic() - began_s
        finally:
            reader.close()
    assert (first.findings, first.unconfirmed) == ((), 1)
    assert second.problems == ()
    (problem,) = last.problems
    tried = re.search(r"tried for (\d+) s", problem)
    assert tried is not None
    assert abs(int(tried.group(1)) - took_s) <= 1
    assert problem.endswith("Check --bootstrap-server.")
    assert last.judged == 1
