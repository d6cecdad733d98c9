"""A real KDC and a real broker that takes its tickets: kafka-python logs in by keytabs and ticket caches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from kafka.admin import KafkaAdminClient

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.kafka_client.connection import open_admin, open_consumer, open_producer
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from tests.support.job_process import eventually
from tests.support.kdc import REALM, TICKETS, Kdc, cache_login, kerberized_kafka, keytab_login, needs_kerberos

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [
    pytest.mark.broker,
    needs_kerberos,
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),
]

SESSION_MS = 2_000
"""After so long the broker wants another log-in."""


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    with Kdc(tmp_path_factory.mktemp("kdc")) as running:
        yield running


@pytest.fixture(scope="module")
def kafka(kdc: Kdc) -> Iterator[EmbeddedKafka]:
    with kerberized_kafka(kdc, SESSION_MS) as broker:
        yield broker


@pytest.fixture(autouse=True)
def configured(kdc: Kdc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRB5_CONFIG", str(kdc.configuration))


def cluster(kafka: EmbeddedKafka, properties: dict[str, str]) -> ClusterSettings:
    return ClusterSettings(name="prod", bootstrap_servers=kafka.address(TICKETS), client=properties)


def has_answer(admin: KafkaAdminClient) -> bool:
    """Raises if the broker does not let the client in any more."""
    return len(admin.describe_cluster()["brokers"]) == 1


def refusal(kafka: EmbeddedKafka, properties: dict[str, str]) -> str:
    with pytest.raises(ConnectionFailed) as caught:
        open_admin(cluster(kafka, properties), 3)
    return str(caught.value)


def test_all_three_clients_log_in_with_a_keytab(kafka: EmbeddedKafka, kdc: Kdc):
    watched = cluster(kafka, keytab_login(kdc.add("reader"), "reader"))
    with open_admin(watched) as admin:
        assert has_answer(admin)
    open_consumer(watched).close()
    open_producer(watched).close()


def test_tickets_of_a_keytab_are_replaced_under_a_client_that_goes_on(kafka: EmbeddedKafka, kdc: Kdc):
    """Tickets of five seconds, which the broker asks for every two: without new ones it would refuse the third."""
    keytab = kdc.add("brief", "5 seconds")
    with open_admin(cluster(kafka, keytab_login(keytab, "brief"))) as admin:
        eventually(lambda: has_answer(admin) and kdc.issued("brief") >= 6, "six tickets, one after another", 60)


def test_a_ticket_cache_is_replaced_under_a_client_that_goes_on(kafka: EmbeddedKafka, kdc: Kdc, tmp_path: Path):
    keytab = kdc.add("cached", "5 seconds")
    cache = kdc.cache("cached", keytab, tmp_path / "cache")

    def is_over() -> bool:
        kdc.cache("cached", keytab, cache)
        return has_answer(admin) and kdc.issued("cached") >= 30

    with open_admin(cluster(kafka, cache_login(cache))) as admin:
        eventually(is_over, "thirty tickets, one after another", 60)


def test_two_clusters_have_two_principals_in_one_process(kafka: EmbeddedKafka, kdc: Kdc):
    first, second = kdc.add("first"), kdc.add("second")
    with (
        open_admin(cluster(kafka, keytab_login(first, "first"))) as one,
        open_admin(cluster(kafka, keytab_login(second, "second"))) as another,
    ):
        assert has_answer(one)
        assert has_answer(another)
    assert (kdc.issued("first"), kdc.issued("second")) == (1, 1)


WRONG: dict[str, tuple[Callable[[Kdc], dict[str, str]], str]] = {}


def wrong(sentence: str) -> Callable[[Callable[[Kdc], dict[str, str]]], Callable[[Kdc], dict[str, str]]]:
    def noted(properties: Callable[[Kdc], dict[str, str]]) -> Callable[[Kdc], dict[str, str]]:
        WRONG[properties.__name__] = (properties, sentence)
        return properties

    return noted


@wrong(f"(No key table entry found for another@{REALM}). Check principal in sasl.jaas.config.")
def a_principal_that_is_not_in_the_keytab(kdc: Kdc) -> dict[str, str]:
    return keytab_login(kdc.add("owner"), "another")


@wrong(
    "(Key table file '/nowhere/x.keytab' not found). Check keyTab in sasl.jaas.config: klist -k shows what is in it."
)
def an_absent_keytab(_kdc: Kdc) -> dict[str, str]:
    return keytab_login(Path("/nowhere/x.keytab"), "watcher")


@wrong(f"(Client 'gone@{REALM}' not found in Kerberos database). Check principal in sasl.jaas.config.")
def a_principal_that_the_kdc_has_deleted(kdc: Kdc) -> dict[str, str]:
    keytab = kdc.add("gone")
    kdc.admin("delprinc", "-force", "gone")
    return keytab_login(keytab, "gone")


@wrong("(Decrypt integrity check failed). The keytab has another key than the KDC: create it again.")
def a_keytab_with_an_older_key(kdc: Kdc) -> dict[str, str]:
    keytab = kdc.add("renewed")
    kdc.admin("cpw", "-randkey", "renewed")
    return keytab_login(keytab, "renewed")


@wrong(
    f"(Server elsewhere/localhost@{REALM} not found in Kerberos database)."
    " Check sasl.kerberos.service.name, and the names of the brokers."
)
def another_service(kdc: Kdc) -> dict[str, str]:
    return keytab_login(kdc.add("strayed"), "strayed") | {"sasl.kerberos.service.name": "elsewhere"}


@wrong("(No credentials cache found). Check the ticket cache: klist shows what is in it.")
def an_absent_ticket_cache(_kdc: Kdc) -> dict[str, str]:
    return cache_login(Path("/nowhere/cache"))


@pytest.mark.parametrize("name", list(WRONG))
def test_a_refusal_is_one_sentence_with_what_to_do(kafka: EmbeddedKafka, kdc: Kdc, name: str):
    properties, sentence = WRONG[name]
    assert refusal(kafka, properties(kdc)) == f"Cluster prod: Kerberos gives no ticket {sentence}"


def test_an_expired_ticket_is_named(kafka: EmbeddedKafka, kdc: Kdc, tmp_path: Path):
    cache = kdc.cache("short", kdc.add("short", "1 second"), tmp_path / "cache")

    def is_let_in() -> bool:
        with suppress(ConnectionFailed):
            open_admin(cluster(kafka, cache_login(cache)), 3).close()
            return True
        return False

    eventually(lambda: not is_let_in(), "the end of the ticket", 30)
    sentence = "Kerberos gives no ticket (Ticket expired). Renew the ticket (kinit), and check the clock."
    assert refusal(kafka, cache_login(cache)) == f"Cluster prod: {sentence}"


def test_a_kdc_that_is_away_is_named(kafka: EmbeddedKafka, kdc: Kdc):
    properties = keytab_login(kdc.add("patient"), "patient")
    kdc.stop()
    try:
        sentence = f"Kerberos gives no ticket (Cannot contact any KDC for realm '{REALM}'). Check krb5.conf."
        assert refusal(kafka, properties) == f"Cluster prod: {sentence}"
    finally:
        kdc.start()


def test_a_kdc_that_does_not_respond_is_named_within_the_limit(kafka: EmbeddedKafka, kdc: Kdc):
    """MIT Kerberos itself would wait for it for 54 s."""
    properties = keytab_login(kdc.add("still"), "still")
    with kdc.silent():
        told = refusal(kafka, properties)
    assert told == "Cluster prod: Kerberos gives no ticket (no KDC responds, tried for 3 s). Check krb5.conf."
