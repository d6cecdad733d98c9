"""What other machines and other users of this one can reach, read and do while a job runs: nothing.

The job has secrets wherever a deployment may put one, and Spark's page and event log on, which it has not by default.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic

from monitor.demo.java.clients import java_command
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import free_ports
from monitor.demo.servers.settings import BrokerSettings
from monitor.java_runtime.jars import pyspark_jars_dir
from streaming_jobs.runtime.run_folder import PREFIX
from streaming_jobs.runtime.spark_network import LOOPBACK
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM, JobProcess, eventually
from tests.support.listening import Listener, listeners, tree, watched_listeners

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(600)]

STRANGER: Final = Path(__file__).with_name("Stranger.java")
OPENS: Final = (
    "java.lang",
    "java.lang.invoke",
    "java.util",
    "java.nio",
    "java.net",
    "sun.nio.ch",
    "sun.security.action",
)

OF_KAFKA: Final = "kafka-4f1c9a"
OF_S3: Final = "s3-77be02"
OF_AZURE: Final = "azure-c41d55"
OF_JAVA: Final = "java-9e0f31"
OF_A_FILE: Final = "file-b8d2c6"
OF_A_VARIABLE: Final = "variable-a03e17"
SECRETS: Final = (OF_KAFKA, OF_S3, OF_AZURE, OF_JAVA, OF_A_FILE, OF_A_VARIABLE)

BATCHES: Final = 5


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    users = {"watcher": OF_KAFKA}
    with EmbeddedKafka(BrokerSettings(sasl_users=users, super_users=("watcher",))) as broker:
        client = KafkaAdminClient(**broker.client_settings("watcher"))
        client.create_topics([NewTopic("read", 1, 1)])
        client.wait_for_topics(["read"])
        client.close()
        consumer = KafkaConsumer(group_id="reads", **broker.client_settings("watcher"))
        consumer.assign([TopicPartition("read", 0)])
        consumer.commit({TopicPartition("read", 0): OffsetAndMetadata(0, "", -1)})
        consumer.close(autocommit=False)
        yield broker


@pytest.fixture(scope="module")
def page() -> int:
    return free_ports(1)[0]


@pytest.fixture(scope="module")
def opened() -> set[Listener]:
    """What the job was seen listening on, from its start on; filled by the fixture of the job."""
    return set()


@pytest.fixture(scope="module")
def job(
    kafka: EmbeddedKafka, page: int, opened: set[Listener], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JobProcess]:
    folder = tmp_path_factory.mktemp("strangers")
    secret = folder / "secret"
    secret.write_text(f"{OF_A_FILE}\n", encoding="utf-8")
    (folder / "events").mkdir()
    (folder / "tmp").mkdir()
    conf = {
        DRIVER_JVM: f"{BRIEF_JVM} -Djavax.net.ssl.trustStorePassword={OF_JAVA}",
        "spark.hadoop.fs.s3a.secret.key": OF_S3,
        "spark.hadoop.fs.azure.account.key.store": OF_AZURE,
        "spark.hadoop.fs.other.password": f"${{file:{secret}}}",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": str(folder / "events"),
        "spark.ui.enabled": "true",
        "spark.ui.port": str(page),
    }
    login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    client = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{login} username="watcher" password="{OF_KAFKA}";',
    }
    cluster = {"bootstrap_servers": kafka.bootstrap_servers, "collect_interval_s": 0.5, "client": client}
    process = JobProcess(folder, {"guarded": cluster}, spark={"conf": conf})
    process.environment = os.environ | {
        "TMPDIR": str(folder / "tmp"),
        "GROUPWATCH_SPARK__CONF__SPARK__HADOOP__THIRD__PASSWORD": OF_A_VARIABLE,
    }
    process.start()
    try:
        with watched_listeners(process.pid) as seen:
            process.await_ready()
            first = process.metrics().value("groupwatch_last_evaluation_timestamp_seconds", cluster="guarded")
            eventually(lambda: evaluated(process) >= (first or 0) + BATCHES, "some micro-batches", 60)
        opened |= seen
        yield process
    finally:
        process.stop()


def evaluated(job: JobProcess) -> float:
    return job.metrics().value("groupwatch_last_evaluation_timestamp_seconds", cluster="guarded") or 0.0


def test_nothing_listens_but_on_loopback(job: JobProcess, opened: set[Listener]):
    """Looked at from the start on, as some of Spark's sockets live for a part of a second."""
    assert [listener for listener in opened if listener.is_open] == []
    assert job.port in {listener.port for listener in opened}


def test_what_listens_is_what_the_documentation_says(job: JobProcess, opened: set[Listener], page: int):
    """docs/access.md: three ports of the process, three of its JVM, and Spark's page if it is asked for."""
    of_python = {listener.port for listener in opened if listener.program.startswith(("python", "groupwatch"))}
    of_java = {listener.port for listener in opened if listener.program == "java"}
    assert job.port in of_python
    assert len(of_python) == 3
    assert page in of_java
    assert len(of_java - {page}) == 3


def test_who_does_not_know_the_secret_is_let_do_nothing(job: JobProcess):
    """He asks the executor to stop, and for what was broadcast, at each port of the JVM."""
    ports = sorted(listener.port for listener in listeners(job.pid) if listener.program == "java")
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENS]
    command = java_command(STRANGER, LOOPBACK, *map(str, ports), options=opens, jars=[pyspark_jars_dir() / "*"])
    asked = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert re.findall(r"^(\d+)( stopped)? took (\d+)$", asked.stdout, re.MULTILINE) == [
        (str(port), "", "0") for port in ports
    ], asked.stderr[-2000:]
    before = evaluated(job)
    eventually(lambda: evaluated(job) > before, "a micro-batch after the stranger", 30)


def test_no_secret_is_where_others_can_read_it(job: JobProcess):
    """Command lines are open to every user of the machine; the rest to whoever may read logs, or the page of Spark."""
    spoken = b"\0".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in tree(job.pid))
    for secret in SECRETS:
        assert secret.encode() not in spoken
        assert secret not in job.log()
        assert secret not in job.get("/") + job.get("/metrics") + job.get("/api/v1/clusters")


def test_no_secret_of_the_settings_is_in_the_environment_of_other_processes(job: JobProcess):
    for pid in tree(job.pid) - {job.pid}:
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since it was listed
            assert OF_A_VARIABLE.encode() not in Path(f"/proc/{pid}/environ").read_bytes()


def test_spark_shows_no_secret(job: JobProcess, page: int):
    """On its page, by its REST interface, in its event log."""
    base = f"http://127.0.0.1:{page}"
    (application,) = json.loads(fetched(f"{base}/api/v1/applications"))
    rest = f"{base}/api/v1/applications/{application['id']}"
    shown = [f"{base}/environment/", f"{rest}/environment", f"{rest}/sql?details=true&length=100", f"{base}/SQL/"]
    texts = [fetched(address) for address in shown]
    texts += [file.read_text(encoding="utf-8") for file in files(job.folder / "events")]
    assert any("spark.hadoop.fs.s3a.secret.key" in text for text in texts)  # it is named, without its value
    for secret in SECRETS:
        assert not any(secret in text for text in texts), secret


def test_no_secret_is_in_the_checkpoint_and_nobody_else_can_open_it(job: JobProcess):
    root = job.folder / "checkpoint"
    content = b"\0".join(contents(root))
    assert b"guarded" in content
    assert not [secret for secret in SECRETS if secret.encode() in content]
    assert (root / "guarded").stat().st_mode & 0o777 == 0o700
    assert (root / "guarded+owner").stat().st_mode & 0o777 == 0o600


def test_what_is_written_for_a_while_can_be_opened_by_the_user_alone(job: JobProcess):
    folders = list((job.folder / "tmp").iterdir())
    assert [folder.name[: len(PREFIX)] for folder in folders] == [PREFIX]
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700]


def files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def contents(folder: Path) -> Iterator[bytes]:
    """What is in each file. A job that runs renames and deletes some between the listing and the reading."""
    for file in files(folder):
        with suppress(FileNotFoundError):
            yield file.read_bytes()


def fetched(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:
        text: Any = answer.read()
    return str(text.decode("utf-8"))
