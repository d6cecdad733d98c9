"""What tests share: a real broker for the whole session, and names nobody else uses."""

import secrets
from collections.abc import Iterator

import pytest
from hypothesis import settings

from monitor.embedded.broker import EmbeddedKafka
from monitor.embedded.settings import BrokerSettings

settings.register_profile("busy machine", deadline=None)  # no assertion about speed, of no example either
settings.load_profile("busy machine")


@pytest.fixture(scope="session")
def broker() -> Iterator[EmbeddedKafka]:
    """A running broker, shared: use names from ``topic_name`` and ``group_name``, and do not stop it."""
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=8)) as kafka:
        yield kafka


@pytest.fixture
def topic_name() -> str:
    """A topic that no other test uses; it is not created."""
    return f"topic-{secrets.token_hex(6)}"


@pytest.fixture
def group_name() -> str:
    """A group that no other test uses."""
    return f"group-{secrets.token_hex(6)}"
