"""A real broker that lets in only clients with a certificate: the key is used from every kind of store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.kafka_client.connection import open_admin
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.stores import SECRETS, Stores
from tests.web.http.certificates import Authority

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [pytest.mark.broker, pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def kafka(authority: Authority) -> Iterator[EmbeddedKafka]:
    """Its listener SECURE wants a certificate of the authority."""
    certificate, key = authority.sign("broker")
    store = authority.file.parent / "broker.store.pem"
    store.write_text(key.read_text() + certificate.read_text())
    properties = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.file),
        "ssl.client.auth": "required",
    }
    with EmbeddedKafka(BrokerSettings(listeners={"SECURE": "SSL"}, properties=properties)) as broker:
        yield broker


def cluster(kafka: EmbeddedKafka, properties: dict[str, str]) -> ClusterSettings:
    client = {"security.protocol": "SSL", **properties}
    return ClusterSettings(name="prod", bootstrap_servers=kafka.address("SECURE"), client=client)


@pytest.mark.parametrize("kind", ["PEM", "inline", "PKCS12", "PKCS12 of Java", "JKS"])
def test_a_key_of_every_kind_of_store_is_let_in(kafka: EmbeddedKafka, authority: Authority, tmp_path: Path, kind: str):
    stores = Stores(tmp_path, authority, "watcher")
    made = {
        "PEM": stores.pem,
        "inline": stores.inline,
        "PKCS12": stores.pkcs12,
        "PKCS12 of Java": lambda: stores.java("PKCS12"),
        "JKS": lambda: stores.java("JKS"),
    }[kind]()
    with open_admin(cluster(kafka, made)) as admin:
        (broker,) = admin.describe_cluster()["brokers"]
    assert f"{broker['host']}:{broker['port']}" == kafka.address("SECURE")


def test_no_certificate_and_one_of_a_stranger_are_one_sentence(
    kafka: EmbeddedKafka, authority: Authority, tmp_path: Path
):
    known, stranger = Stores(tmp_path, authority, "known"), Stores(tmp_path, Authority(tmp_path, "other"), "stranger")
    trusted = known.trusted_pem()
    of_stranger = {key: value for key, value in stranger.pkcs12().items() if "keystore" in key}
    address = kafka.address("SECURE")
    for properties, told in (
        (trusted, f"{address} wants a certificate of the client"),
        (trusted | of_stranger, f"{address} refuses the certificate of this client"),
    ):
        with pytest.raises(ConnectionFailed) as caught:
            open_admin(cluster(kafka, properties), 3)
        assert str(caught.value).startswith(f"Cluster prod: TLS: {told} (")
        assert not any(secret in str(caught.value) for secret in SECRETS)
