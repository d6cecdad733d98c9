"""The brokers of a cluster and its id, from brokers of every version."""

from __future__ import annotations

from typing import Any, Final

from kafka.admin import KafkaAdminClient
from kafka.errors import for_code
from kafka.protocol.admin import DescribeClusterRequest
from kafka.protocol.api_key import ApiKey

_FETCH_OF_3_7: Final = 16
"""The newest version of a fetch in Kafka 3.7. Versions of requests are all that a broker returns of its own version."""


def describe_cluster(admin: KafkaAdminClient) -> dict[str, Any]:
    """The ``cluster_id`` and the ``brokers``, and with DescribeCluster the ``authorized_operations``.

    kafka-python 3.0.12 expects a type of endpoint in the response, which brokers return from 3.7 on. Those of 2.8 to
    3.6 are asked once more here; those before know no such request, and kafka-python asks them for metadata.

    Raises:
        KafkaError: no broker responds.
    """
    try:
        described: dict[str, Any] = admin.describe_cluster()
    except KeyError:
        described = admin._manager.run(_request_description, admin)  # there is no public way to a connection
    return described


async def _request_description(admin: KafkaAdminClient) -> dict[str, Any]:
    request = DescribeClusterRequest(include_cluster_authorized_operations=True)
    described: dict[str, Any] = (await admin._manager.send(request)).to_dict()
    if described["error_code"]:
        raise for_code(described["error_code"])(described["error_message"])
    admin._process_acl_operations(described)
    return described


def is_before_3_7(admin: KafkaAdminClient) -> bool:
    """Whether the broker to which the client first connected is older than Kafka 3.7.

    >>> class Broker:
    ...     def api_versions(self):
    ...         return {ApiKey.Fetch: (0, 15)}
    >>> is_before_3_7(Broker())
    True
    """
    newest: int = admin.api_versions()[ApiKey.Fetch][1]
    return newest < _FETCH_OF_3_7
