"""Which addresses Spark listens on, and who may speak to it there (docs/access.md has the table of ports).

Whoever reaches a driver's ports unasked can stop the job, read what it broadcasts and have Java objects deserialised.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from monitor.checks.spark_properties import AUTHENTICATE, missing_secret
from monitor.config import ConfigError

log = logging.getLogger(__name__)

LOOPBACK: Final = "127.0.0.1"

SOCKET_FOLDER: Final = "spark.python.unix.domain.socket.dir"

LOCAL_DEFAULTS: Final = {
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    # Spark makes up the secret itself. Loopback keeps out other machines, and this the other users of the machine.
    AUTHENTICATE: "true",
    # Between the JVM and its Python workers: files that only this user can open, in place of ports.
    "spark.python.unix.domain.socket.enabled": "true",
}
"""What a driver without a cluster has whatever a deployment sets: no other machine needs access there."""

CLUSTER_DEFAULTS: Final = {
    AUTHENTICATE: "true",
    "spark.network.crypto.enabled": "true",
}
"""What a driver on a cluster has unless the deployment says otherwise."""


def is_local(master: str) -> bool:
    """Whether a master is this process alone.

    >>> [is_local(master) for master in ("local", "local[*]", "local[2,3]", "local-cluster[2,1,1024]", "spark://h:7077")]
    [True, True, True, False, False]
    """
    return master == "local" or master.startswith("local[")


def default_properties(master: str, chosen: Mapping[str, str]) -> dict[str, str]:
    """The properties that a deployment may change.

    Where it wants no authentication there can be no encryption: Spark refuses to start with that alone.

    >>> default_properties("spark://h:7077", {AUTHENTICATE: "false"}), default_properties("local[*]", {})
    ({}, {})
    """
    is_authenticated = chosen.get(AUTHENTICATE, "true").lower() == "true"
    return dict(CLUSTER_DEFAULTS) if is_authenticated and not is_local(master) else {}


def required_properties(master: str) -> dict[str, str]:
    """The properties that it may not."""
    return dict(LOCAL_DEFAULTS) if is_local(master) else {}


def require_authentication(properties: Mapping[str, str]) -> None:
    """See that only programs with a secret can connect to Spark, or that a deployment has turned that off.

    Args:
        properties: all of Spark's, ``spark.master`` among them.

    Raises:
        ConfigError: a cluster's master needs a secret that it shares with this job.
    """
    master = properties["spark.master"]
    if properties[AUTHENTICATE].lower() != "true":
        log.warning(
            "Spark on %s runs without authentication (%s = false): any client that reaches the driver's ports can stop"
            " it and read its data.",
            master,
            AUTHENTICATE,
        )
    elif told := missing_secret(master, properties):
        raise ConfigError(told)
