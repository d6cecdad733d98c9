"""The cluster that the options of a look name, with the security settings of its properties file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from monitor.collectors.kafka_client.client_properties import (
    NUMBERS,
    SECURITY,
    idle_properties,
    kafka_python_arguments,
)
from monitor.config import ClusterSettings, ConfigError, read_properties
from monitor.config.section import checked_addresses
from monitor.messages.names import listed, shown

CONNECTION_PREFIXES: Final = ("security.", "sasl.", "ssl.", "client.")
"""The properties that decide how to connect, beside those of time limits. What else a client has does not matter."""

MISTYPED: Final = 0.85
"""From this similarity on (``difflib``), an unknown property is a mistyped one of security."""

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
    properties = {} if client is None else _read_connection_properties(client)
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


def _read_connection_properties(client: Path) -> dict[str, str]:
    given = read_properties(client)
    if mistyped := list(mistyped_properties(given)):
        raise ConfigError(*(f"{client} has {shown(key)}: did you mean {meant}?" for key, meant in mistyped))
    return connection_properties(given)


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


def mistyped_properties(properties: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The properties that look like a security property of Kafka's client, each with that one.

    Ignored, they would make the connection insecure. Other programs prefix the same names; those are no mistakes.

    >>> list(mistyped_properties(["secruity.protocol", "sasl_mechanism", "producer.security.protocol", "group.id"]))
    [('secruity.protocol', 'security.protocol'), ('sasl_mechanism', 'sasl.mechanism')]
    """
    for key in properties:
        plain = key.lower().replace("_", ".").replace("-", ".")
        is_prefixed = any(plain.endswith(f".{known}") for known in SECURITY)
        if key in SECURITY or key.startswith(CONNECTION_PREFIXES) or is_prefixed:
            continue
        near = difflib.get_close_matches(plain, sorted(SECURITY), n=1, cutoff=MISTYPED)
        if near:
            yield key, near[0]


def insecurity(cluster: ClusterSettings, client: Path | None) -> str | None:
    """A warning if properties of security have no effect because of the protocol; None: they have.

    Raises:
        ConfigError: a reference in the properties leads nowhere.
    """
    properties = cluster.client_properties()
    idle = idle_properties(properties)
    if not idle:
        return None
    protocol = properties.get("security.protocol", "").upper()
    why = f"security.protocol is {protocol}" if protocol else "there is no security.protocol"
    lack = "There is no log-in." if protocol.endswith("SSL") else "The connection is not encrypted."
    return f"{client}: {listed(idle)}: no effect, because {why}. {lack}"
