"""A real broker that takes tokens: it checks them by the keys of a real issuer, and ends sessions with their tokens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka.admin import KafkaAdminClient

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.kafka_client.connection import open_admin
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.issuer import (
    Issuer,
    TokenFile,
    broker_options,
    broker_properties,
    client_properties,
    file_properties,
)
from tests.support.job_process import eventually

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [pytest.mark.broker, pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")]


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        yield running


@pytest.fixture(scope="module")
def kafka(issuer: Issuer) -> Iterator[EmbeddedKafka]:
    settings = BrokerSettings(
        listeners={"TOKENS": "SASL_PLAINTEXT"},
        properties=broker_properties(issuer, "TOKENS"),
        jvm_options=broker_options(issuer),
    )
    with EmbeddedKafka(settings) as broker:
        yield broker


@pytest.fixture(autouse=True)
def usual(issuer: Issuer) -> None:
    issuer.lifetime_s, issuer.audience = 3600, "kafka"


def cluster(kafka: EmbeddedKafka, properties: dict[str, str]) -> ClusterSettings:
    return ClusterSettings(name="prod", bootstrap_servers=kafka.address("TOKENS"), client=properties)


def has_answer(admin: KafkaAdminClient) -> bool:
    """Raises if the broker does not let the client in any more."""
    return len(admin.describe_cluster()["brokers"]) == 1


def test_expired_tokens_are_renewed_under_a_client_that_goes_on(kafka: EmbeddedKafka, issuer: Issuer):
    issuer.lifetime_s = 4
    before = len(issuer.issued)
    with open_admin(cluster(kafka, client_properties(issuer) | {"sasl.oauthbearer.scope": "short"})) as admin:
        eventually(lambda: has_answer(admin) and len(issuer.issued) >= before + 4, "four tokens, one after another", 60)


def test_a_token_file_is_replaced_under_a_client_that_goes_on(kafka: EmbeddedKafka, issuer: Issuer, tmp_path: Path):
    issuer.lifetime_s = 4
    last = len(issuer.issued) + 6
    with (
        TokenFile(tmp_path / "token", issuer) as token,
        open_admin(cluster(kafka, file_properties(token.file))) as admin,
    ):
        eventually(lambda: has_answer(admin) and len(issuer.issued) >= last, "six tokens, one after another", 60)


def test_a_wrong_secret_and_a_token_that_the_broker_refuses_are_one_sentence(kafka: EmbeddedKafka, issuer: Issuer):
    with pytest.raises(ConnectionFailed) as caught:
        open_admin(cluster(kafka, client_properties(issuer, "client-tiger")), 3)
    assert str(caught.value) == (
        f"Cluster prod: the token endpoint {issuer.token_url} refuses the client (401, invalid_client)."
        " Check the client id and the client secret."
    )
    issuer.audience = "another"
    with pytest.raises(ConnectionFailed) as caught:
        open_admin(cluster(kafka, client_properties(issuer) | {"sasl.oauthbearer.scope": "another"}), 3)
    assert str(caught.value).startswith("Cluster prod: ")
    assert str(caught.value).endswith("Check the token: its issuer, its audience and its expiry.")
    assert not any(secret in str(caught.value) for secret in (issuer.secret, *issuer.issued))
