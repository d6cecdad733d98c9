"""Of which Kafka cluster a recording is: one that was replaced under the same name must not continue it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from monitor.messages.names import shown

_MAY_CHANGE: Final = frozenset({"events_id"})
"""A collector creates a missing events topic again, and another one may be configured: the cluster is the same."""


def encode_ids(ids: Mapping[str, str]) -> str:
    """The ids of a cluster and its topics, by their names, as JSON."""
    return msgspec.json.encode(dict(ids), order="sorted").decode()


def replaced_reason(recorded: Iterable[str | None], ids: Mapping[str, str]) -> str | None:
    """Why the recording cannot go on with the cluster that has these ids; None: it can.

    An id that was not recorded, or that is not known now, refuses nothing.

    >>> replaced_reason(['{"cluster_id": "a"}', None], {"cluster_id": "a", "log_id": "l"})
    >>> replaced_reason(['{"cluster_id": "a"}'], {"cluster_id": "b"})
    'it has the recording of another Kafka cluster or topic (cluster_id a, now b); set another [history] folder'

    Args:
        recorded: what :func:`encode_ids` wrote at each start; None: an older groupwatch did not.
        ids: those of now.
    """
    for each in recorded:
        known = {} if each is None else msgspec.json.decode(each, type=dict[str, str])
        for name in sorted((known.keys() & ids.keys()) - _MAY_CHANGE):
            if known[name] != ids[name]:
                change = f"{name} {shown(known[name])}, now {shown(ids[name])}"
                return (
                    f"it has the recording of another Kafka cluster or topic ({change}); set another [history] folder"
                )
    return None
