"""Jobs that log in with tokens, keys of stores and passwords, by the log and by the admin API.

No secret is in what they write, show, or are called with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic, ScramMechanism, UserScramCredentialUpsertion

from monitor.collectors.kafka_client.client_properties import token_endpoints
from monitor.config import ClusterSettings, Settings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import free_ports
from monitor.demo.servers.settings import BrokerSettings
from streaming_jobs.jobs.jars import needed_jars
from streaming_jobs.runtime.session import create_session, stop_session, with_token_endpoints
from tests.streaming_jobs.runtime.java_admin import make_admin
from tests.support.issuer import (
    Issuer,
    TokenFile,
    basic_credentials,
    broker_options,
    broker_properties,
    client_properties,
    file_properties,
    trusting_properties,
)
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM, JobProcess, eventually, processes_of, running
from tests.support.renewed_file import replace_text
from tests.support.stores import SECRETS, Stores
from tests.web.http.certificates import Authority

pytestmark = [pytest.mark.broker, pytest.mark.spark]

GROUP = "guarded"
PLACE = TopicPartition("guarded", 0)
PASSWORD = "watcher-tiger"  # noqa: S105, RUF100 -- of a broker that lives for a test
SCRAM = (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)

_MODULES = "org.apache.kafka.common.security"
_LISTENER = "listener.name.passwords"
PASSWORDS = {
    f"{_LISTENER}.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    f"{_LISTENER}.plain.sasl.jaas.config": f'{_MODULES}.plain.PlainLoginModule required user_watcher="{PASSWORD}";',
    f"{_LISTENER}.scram-sha-256.sasl.jaas.config": f"{_MODULES}.scram.ScramLoginModule required;",
    f"{_LISTENER}.scram-sha-512.sasl.jaas.config": f"{_MODULES}.scram.ScramLoginModule required;",
}
"""The properties of a broker's listener for users with passwords."""


@pytest.fixture(scope="module")
def issuer(authority: Authority) -> Iterator[Issuer]:
    with Issuer(lifetime_s=12, certificate=authority.sign("issuer")) as running_issuer:
        yield running_issuer


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def kafka(issuer: Issuer, authority: Authority) -> Iterator[EmbeddedKafka]:
    certificate, key = authority.sign("broker")
    store = authority.file.parent / "broker.store.pem"
    store.write_text(key.read_text() + certificate.read_text())
    tls = {"ssl.keystore.location": str(store), "ssl.truststore.location": str(authority.file)}
    tls |= {"ssl.keystore.type": "PEM", "ssl.truststore.type": "PEM", "ssl.client.auth": "required"}
    settings = BrokerSettings(
        listeners={"TOKENS": "SASL_PLAINTEXT", "KEYS": "SSL", "PASSWORDS": "SASL_PLAINTEXT"},
        properties=broker_properties(issuer, "TOKENS") | tls | PASSWORDS,
        jvm_options=broker_options(issuer),
    )
    with EmbeddedKafka(settings) as broker:
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            admin.create_topics([NewTopic(PLACE.topic, 1, 1)])
            admin.wait_for_topics([PLACE.topic])
            for mechanism in SCRAM:  # the broker refuses both in one request
                errors = admin.alter_user_scram_credentials(
                    [UserScramCredentialUpsertion("watcher", mechanism, PASSWORD)]
                )
                assert not any(errors.values()), errors
        commit(broker, 0)
        yield broker


def commit(broker: EmbeddedKafka, offset: int) -> None:
    consumer = KafkaConsumer(group_id=GROUP, bootstrap_servers=broker.bootstrap_servers)
    consumer.assign([PLACE])
    consumer.commit({PLACE: OffsetAndMetadata(offset, "", -1)})
    consumer.close(autocommit=False)


def clusters(address: str, ways: dict[str, tuple[str, dict[str, str]]]) -> dict[str, dict[str, Any]]:
    """A cluster for each way to its groups and to a login; their topics of events differ."""
    return {
        name: {
            "bootstrap_servers": address,
            "groups_from": source,
            "events_topic": f"events.{name}",
            "findings_topic": f"findings.{name}",
            "collect_interval_s": 3.0,
            "client": properties,
        }
        for name, (source, properties) in ways.items()
    }


def job_with_its_page(folder: Path, watched: dict[str, dict[str, Any]]) -> tuple[JobProcess, str]:
    """A job whose Spark shows its own page and writes its event log, and the address of that page."""
    port = free_ports(1)[0]
    for name in ("spark-events", "tmp"):
        (folder / name).mkdir()
    conf = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": str(folder / "spark-events")}
    conf |= {"spark.eventLog.compress": "false", "spark.ui.enabled": "true", "spark.ui.port": str(port)}
    job = JobProcess(folder, watched, spark={"conf": conf, "trigger_s": 3.0})  # four queries share two cores
    job.environment = os.environ | {"TMPDIR": str(folder / "tmp")}  # so that what it keeps there is searched, too
    return job, f"http://127.0.0.1:{port}"


def page(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=180) as response:  # Spark's page beside a busy query
            return str(response.read().decode(errors="replace"))
    except urllib.error.HTTPError as error:
        with error:
            return f"{url}: {error.code}"


def written_by(job: JobProcess, spark: str, cluster: str) -> dict[str, str]:
    """Everything that a running job has written, shows, or is called with, by its place."""
    pages = ("/", "/metrics", f"/groups/{cluster}/{GROUP}", "/api/v1/clusters", "/api/v1/snapshot", "/readyz")
    found = {path: job.get_any(path) for path in pages}
    (application,) = json.loads(page(f"{spark}/api/v1/applications"))
    of_spark = ("environment", "sql?details=true&length=50", "jobs", "stages")
    found |= {path: page(f"{spark}/api/v1/applications/{application['id']}/{path}") for path in of_spark}
    found |= {path: page(f"{spark}/{path}/") for path in ("environment", "SQL", "StreamingQuery", "jobs")}
    for file in (file for file in job.folder.rglob("*") if file.is_file() and file != job.config):
        with suppress(FileNotFoundError):  # Spark deletes what a newer batch has replaced
            found[str(file)] = file.read_bytes().decode(errors="replace")
    for pid in processes_of(job.session):
        with suppress(OSError):  # it has ended
            found[f"command of {pid}"] = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    return found


def leaks(written: dict[str, str], secrets: Iterable[str]) -> list[tuple[str, int]]:
    """Where a secret is, and the number of the secret; checks first that the places have what they should have."""
    for part, shown in (("/spark-events/", "SparkListenerApplicationStart"), ("/api/v1/snapshot", GROUP)):
        assert any(part in place and shown in text for place, text in written.items()), part
    for part in ("groupwatch.log", "/checkpoint/", "/tmp/groupwatch-run-", "command of ", "environment"):
        assert any(part in place for place in written), part
    return [(place, number) for place, text in written.items() for number, each in enumerate(secrets) if each in text]


def await_groups(job: JobProcess, names: Iterable[str], offset: int) -> None:
    for name in names:
        job.await_metric("groupwatch_partition_committed_offset", offset, cluster=name, group=GROUP, topic=PLACE.topic)


def ups_until(job: JobProcess, names: Iterable[str], is_over: Callable[[], bool]) -> dict[str, set[float | None]]:
    """The values of groupwatch_up in all readings until then, by cluster."""
    found: dict[str, set[float | None]] = {name: set() for name in names}

    def look() -> bool:
        samples = job.metrics()
        for name, seen in found.items():
            seen.add(samples.value("groupwatch_up", cluster=name))
        return is_over()

    eventually(look, "the end of the time")
    return found


def in_seconds(seconds: float) -> Callable[[], bool]:
    """Whether so much time has gone by since now."""
    end_s = time.monotonic() + seconds
    return lambda: time.monotonic() > end_s


class SecretFile:
    """A file with the client secret of an issuer."""

    def __init__(self, file: Path, issuer: Issuer) -> None:
        self._file, self._issuer = file, issuer
        self.seen: list[str] = []
        self.write()

    @property
    def reference(self) -> str:
        return f"${{file:{self._file}}}"

    def write(self) -> None:
        """Write the secret that is valid now."""
        replace_text(self._file, self._issuer.secret)
        self.seen.append(self._issuer.secret)


@pytest.mark.parametrize(
    "kinds", [("log", "file"), pytest.param(("admin", "admin_file"), marks=pytest.mark.long)], ids=",".join
)
def test_expired_tokens_are_renewed_without_a_gap_and_shown_nowhere(
    kafka: EmbeddedKafka, issuer: Issuer, authority: Authority, tmp_path: Path, kinds: tuple[str, ...]
):
    """By endpoints and by a file that is replaced, while the issuer takes a new signing key and a new client secret."""
    commit(kafka, 0)
    secret = SecretFile(tmp_path.parent / f"{tmp_path.name}-secret", issuer)
    with TokenFile(tmp_path.parent / f"{tmp_path.name}-token", issuer) as token:
        by_file = file_properties(token.file)
        ways = {"log": ("log", client_properties(issuer, secret.reference))}
        ways |= {"admin": ("admin", trusting_properties(issuer, authority.file, secret.reference))}
        ways |= {"file": ("log", by_file), "admin_file": ("admin", by_file)}
        watched = clusters(kafka.address("TOKENS"), {kind: ways[kind] for kind in kinds})
        always = {name: {1.0} for name in watched}
        job, spark = job_with_its_page(tmp_path, watched)
        with running(job):
            await_groups(job, watched, 0)
            key, fetched = issuer.publish_key(), issuer.key_requests
            assert ups_until(job, watched, lambda: issuer.key_requests > fetched + 1) == always
            issuer.sign_with(key)
            issuer.change_secret()
            secret.write()
            assert ups_until(job, watched, in_seconds(3 * issuer.lifetime_s)) == always
            commit(kafka, 7)
            await_groups(job, watched, 7)
            written = written_by(job, spark, kinds[0])
    hidden = [*secret.seen, "clientSecret=", *map(basic_credentials, secret.seen), *issuer.issued]
    assert leaks(written, hidden) == []


def test_java_fetches_the_tokens_itself_where_executors_are_on_other_machines(issuer: Issuer, authority: Authority):
    """Kafka's admin client in Spark's JVM logs in as it is made, before it reaches any broker."""
    ways = [client_properties(issuer), trusting_properties(issuer, authority.file, issuer.secret)]
    watched = [ClusterSettings(name="prod", bootstrap_servers="127.0.0.1:1", client=properties) for properties in ways]
    urls = [url for cluster in watched for url in token_endpoints(cluster)]
    jars = needed_jars(Settings(clusters={"prod": watched[0]}), lambda _line: None)
    spark = create_session("local[1]", 1, jars, with_token_endpoints({DRIVER_JVM: BRIEF_JVM}, urls))
    try:
        for number, cluster in enumerate(watched, start=len(issuer.issued) + 1):
            make_admin(spark, cluster)
            assert len(issuer.issued) == number
    finally:
        stop_session(spark)


def ways_by_keys(stores: Stores) -> dict[str, tuple[str, dict[str, str]]]:
    """A login by each kind of store of keys."""
    tls = {"security.protocol": "SSL"}
    return {
        "jks": ("log", tls | stores.java("JKS")),
        "admin_jks": ("admin", tls | stores.java("PKCS12")),
        "pkcs12": ("log", tls | stores.pkcs12()),
        "pem": ("log", tls | stores.pem()),
        "inline": ("log", tls | stores.inline()),
    }


def ways_by_passwords() -> dict[str, tuple[str, dict[str, str]]]:
    """A login by each mechanism with a password."""
    user = {"security.protocol": "SASL_PLAINTEXT", "sasl.username": "watcher", "sasl.password": PASSWORD}
    return {
        "scram": ("log", user | {"sasl.mechanism": "SCRAM-SHA-256"}),
        "admin_scram": ("admin", user | {"sasl.mechanism": "SCRAM-SHA-512"}),
        "scram512": ("log", user | {"sasl.mechanism": "SCRAM-SHA-512"}),
        "plain": ("log", user | {"sasl.mechanism": "PLAIN"}),
        "admin_plain": ("admin", user | {"sasl.mechanism": "PLAIN"}),
    }


@pytest.mark.parametrize(
    "kinds",
    [
        ("pem", "admin_scram"),
        pytest.param(("jks", "admin_jks", "plain"), marks=pytest.mark.long),
        pytest.param(("pkcs12", "inline", "scram", "scram512", "admin_plain"), marks=pytest.mark.long),
    ],
    ids=",".join,
)
def test_keys_and_passwords_of_every_kind_log_in_and_are_shown_nowhere(
    kafka: EmbeddedKafka, authority: Authority, tmp_path: Path, kinds: tuple[str, ...]
):
    commit(kafka, 0)
    folder = tmp_path.parent / f"{tmp_path.name}-stores"
    folder.mkdir()
    stores = Stores(folder, authority, "watcher")
    watched: dict[str, dict[str, Any]] = {}
    for listener, ways in (("KEYS", ways_by_keys(stores)), ("PASSWORDS", ways_by_passwords())):
        watched |= clusters(kafka.address(listener), {kind: ways[kind] for kind in kinds if kind in ways})
    del watched[kinds[0]]["findings_topic"]
    watched[kinds[0]]["via"] = kinds[-1]  # so a query logs in by a key and by a password
    job, spark = job_with_its_page(tmp_path, watched)
    with running(job):
        await_groups(job, watched, 0)
        key = stores.key.read_text().splitlines()[1]
        assert leaks(written_by(job, spark, kinds[0]), [*SECRETS, key, PASSWORD]) == []


def refusal(way: str, issuer: Issuer, authority: Authority, folder: Path) -> tuple[str, dict[str, str], str]:
    """A listener, the properties of a client that it refuses, and what is to be done then."""
    user = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": way}
    user |= {"sasl.username": "watcher", "sasl.password": "wrong-lion"}
    if way == "OAUTHBEARER":
        wrong = client_properties(issuer, "wrong-lion")
        return "TOKENS", wrong, "refuses the client (401, invalid_client). Check the client id and the client secret."
    if way != "mTLS":
        return "PASSWORDS", user, "Check the user name, the password and sasl.mechanism."
    own = Stores(folder, Authority(folder, "other"), "stranger").pkcs12()
    tls = {"security.protocol": "SSL", **own, **Stores(folder, authority, "watcher").trusted_pem()}
    del tls["ssl.truststore.password"]
    return "KEYS", tls, "Check ssl.keystore.location."


@pytest.mark.parametrize("way", [pytest.param("PLAIN", marks=pytest.mark.long), "SCRAM-SHA-256", "OAUTHBEARER", "mTLS"])
def test_a_wrong_secret_is_one_sentence_of_every_command(
    kafka: EmbeddedKafka, issuer: Issuer, authority: Authority, tmp_path: Path, way: str
):
    """A start of the job, check-config and doctor end with 2."""
    listener, properties, advice = refusal(way, issuer, authority, tmp_path)
    job = JobProcess(tmp_path, clusters(kafka.address(listener), {"prod": ("log", properties)}))
    client = tmp_path / "client.properties"
    client.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    for words in (
        ("run", "--config", str(job.config)),
        ("check-config", str(job.config), "--connect"),
        ("doctor", "--bootstrap-server", kafka.address(listener), "--client", str(client)),
    ):
        command = [sys.executable, "-m", "monitor.cli", *words]
        ended = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        output = ended.stdout + ended.stderr
        told = [line for line in output.splitlines() if line.endswith(advice)]
        assert (ended.returncode, len(told)) == (2, 1), output
        assert not any(text in output for text in ("wrong-lion", "Traceback", *SECRETS)), output
