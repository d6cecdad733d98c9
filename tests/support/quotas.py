"""Client quotas of a broker: what a client is given of its network and of its threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import kafka
from kafka.protocol.admin import AlterClientQuotasRequest

from tests.support.clients import admin
from tests.support.job_process import eventually

TINY: Final = {"consumer_byte_rate": 150.0, "request_percentage": 0.05}
"""So little that a client is told to wait for seconds after each answer."""
AMPLE: Final = {"consumer_byte_rate": 1e9, "request_percentage": 10_000.0}

OF_TESTS: Final = ("groupwatch-tests", f"kafka-python-{kafka.__version__}")
"""The client ids of the clients of tests."""


@contextmanager
def strangers_throttled(bootstrap: str) -> Iterator[None]:
    """All clients but those of tests have a tiny quota for the time of a ``with`` block."""
    alter_quotas(bootstrap, {**dict.fromkeys(OF_TESTS, AMPLE), None: TINY})
    try:
        yield
    finally:
        alter_quotas(bootstrap, dict.fromkeys((*OF_TESTS, None)))


def alter_quotas(bootstrap: str, quotas: Mapping[str | None, Mapping[str, float] | None]) -> None:
    """Set the quotas of client ids (None: of all others), or remove them (no quota). They are set when this returns."""
    request = AlterClientQuotasRequest(
        entries=[_entry(client_id, quota) for client_id, quota in quotas.items()], validate_only=False
    )
    with admin(bootstrap) as client:
        eventually(lambda: not _refused(client, request), "the quotas are set")


def _refused(client: kafka.KafkaAdminClient, request: AlterClientQuotasRequest) -> list[str]:
    manager = client._manager  # there is no public way to send it
    answer = manager.run(manager.send, request)
    return [each.error_message for each in answer.entries if each.error_code]


def _entry(client_id: str | None, quota: Mapping[str, float] | None) -> AlterClientQuotasRequest.EntryData:
    ops = [
        AlterClientQuotasRequest.EntryData.OpData(key=key, value=value, remove=quota is None)
        for key, value in (AMPLE if quota is None else quota).items()
    ]
    named = AlterClientQuotasRequest.EntryData.EntityData(entity_type="client-id", entity_name=client_id)
    return AlterClientQuotasRequest.EntryData(entity=[named], ops=ops)
