"""Whether what is to be watched is there and lets groupwatch in. Only this module of the checks opens connections."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from monitor.checks.report import Connection
from monitor.collectors.errors import CollectorError, NotYetReadable
from monitor.collectors.kafka.preflight import ClusterFacts, check, check_carrier, check_reached
from monitor.config import ClusterSettings, ConfigError, RocketMQSettings, Settings, System

AT_ONCE: Final = 8
"""How many clusters are asked at the same time: one that is away takes all of its time."""


def connections(settings: Settings, *, for_job: bool, limit_s: float) -> tuple[Connection, ...]:
    """What each Kafka cluster and each other system answers, in the order of the configuration.

    Of a Kafka cluster everything is tried that a job needs (or, not ``for_job``, a collector). Of RocketMQ and
    ZooKeeper only that a server answers the connection: what a user may do there shows at the first reading.

    Args:
        settings: what is to be watched.
        for_job: whether the offsets topic will be read, or only events be written.
        limit_s: how long one of them is waited for, in seconds.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        clusters = [
            pool.submit(_cluster, each, settings.carrier_of(each), for_job, limit_s)
            for each in settings.clusters.values()
        ]
        systems = [pool.submit(_system, each, limit_s) for each in settings.systems]
        return tuple(future.result() for future in (*clusters, *systems))


def _cluster(cluster: ClusterSettings, carrier: ClusterSettings, for_job: bool, limit_s: float) -> Connection:
    place = f"clusters.{cluster.name}"
    is_carried = carrier.name != cluster.name
    try:
        if for_job:
            facts = check(cluster, limit_s, carrier)
            return Connection(
                place=place, is_fine=True, sentence=_cluster_facts(facts, carrier if is_carried else None)
            )
        if is_carried:
            check_reached(cluster, limit_s)
        check_carrier(carrier, limit_s)
    except NotYetReadable as missing:
        return Connection(place=place, is_fine=True, sentence=f"{missing} A job waits for it.")
    except (CollectorError, ConfigError) as error:
        return Connection(place=place, is_fine=False, sentence=str(error))
    where = f" of {carrier.name}" if is_carried else ""
    return Connection(place=place, is_fine=True, sentence=f"reached; {carrier.events_topic}{where} may be written.")


def _cluster_facts(facts: ClusterFacts, carrier: ClusterSettings | None) -> str:
    """What was found. ``carrier`` is the other cluster that has the events; None: this one has them."""
    brokers = f"{facts.brokers} broker{'' if facts.brokers == 1 else 's'}"
    log = f"; the offsets topic ({facts.offsets_partitions} partitions) may be read" if facts.offsets_partitions else ""
    topic = "the events topic" if carrier is None else f"{carrier.events_topic} of {carrier.name}"
    events = "may be read and written" if facts.events_topic_exists else "may be created"
    return f"reached, {brokers}{log}; {topic} {events}."


def _system(system: System, limit_s: float) -> Connection:
    of_rocketmq = isinstance(system, RocketMQSettings)
    place = system.place if isinstance(system, RocketMQSettings) else f"zookeeper.{system.name}"
    addresses = system.addresses if isinstance(system, RocketMQSettings) else tuple(system.hosts.split(","))
    refused = tuple(_refusals(addresses, limit_s / len(addresses)))
    what = "name servers" if of_rocketmq else "servers"
    answering = f"{len(addresses) - len(refused)} of {len(addresses)} {what} answer"
    reasons = f" ({'; '.join(refused)})" if refused else ""
    return Connection(place=place, is_fine=len(refused) < len(addresses), sentence=f"{answering}{reasons}.")


def _refusals(addresses: tuple[str, ...], limit_s: float) -> Iterator[str]:
    for address in addresses:
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=limit_s).close()
        except OSError as error:
            yield f"{address}: {error.strerror or error}"
        except UnicodeError:  # too long, or with an empty part
            yield f"{address}: it is not a host name"
