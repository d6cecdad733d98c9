"""The cluster that the options of a look name, with the security settings of its properties file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from monitor.collectors.kafka_client.client_properties import NUMBERS, kafka_python_arguments
from monitor.config import ClusterSettings, ConfigError, read_properties
from monitor.config.section import checked_addresses

CONNECTION_PREFIXES: Final = ("security.", "sasl.", "ssl.", "client.")
"""The properties that decide how to connect, beside those of time limits. What else a client has does not matter."""

NAME_LIMIT: Final = 60
"""Longer addresses are cut where they stand for the cluster."""


def target_cluster(bootstrap_server: str, client: Path | None) -> ClusterSettings:
    """The cluster at these addresses, to be read by the admin API.

    Raises:
        ConfigError: the addresses or the properties cannot be used; no secret is in the text.
    """
    try:
        addresses = checked_addresses(bootstrap_server, ",")
    except ValueError as error:
        raise ConfigError(f"--bootstrap-server {error}.") from None
    properties = {} if client is None else connection_properties(read_properties(client))
    try:
        cluster = ClusterSettings.model_validate(
            {
                "name": addresses.partition(",")[0][:NAME_LIMIT],
                "bootstrap_servers": addresses,
                "groups_from": "admin",
                "client": properties,
            }
        )
    except ValueError:  # pydantic's text shows the values
        raise ConfigError(f"{client} has a property with a NUL character.") from None
    try:
        kafka_python_arguments(cluster)
    except ConfigError as error:
        raise ConfigError(*(with_option_names(problem, cluster, client) for problem in error.problems)) from None
    return cluster


def with_option_names(sentence: str, cluster: ClusterSettings, client: Path | None) -> str:
    """A sentence on the settings of a cluster, with the names of the user: those of the options and the file.

    Args:
        sentence: as for a configured cluster.
        cluster: that cluster.
        client: the properties file, if there is one.
    """
    named = sentence.replace("Check bootstrap_servers.", "Check --bootstrap-server.")
    return named if client is None else named.replace(f"{cluster.client_place}.", f"{client}: ")


def connection_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties of a client that concern its connections.

    >>> connection_properties({"security.protocol": "SSL", "group.id": "orders", "acks": "all"})
    {'security.protocol': 'SSL'}
    """
    return {key: value for key, value in properties.items() if key.startswith(CONNECTION_PREFIXES) or key in NUMBERS}
