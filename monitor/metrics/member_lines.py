"""Who the members of a group are, and whose its partitions are: series that come and go with every rebalance.

That is why they are given only where somebody asked for them.
"""

from __future__ import annotations

from collections.abc import Iterable

from monitor.metrics.exposition_format import Samples, escaped, labels
from monitor.model import GroupVerdict, PartitionVerdict


def add_members(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    """A series for each member of the group. An empty label is one that is not there, as everywhere in Prometheus."""
    for member in verdict.members:
        own = labels(
            member_id=member.member_id,
            client_id=member.client_id,
            host=member.host,
            instance_id=member.instance_id or "",
        )
        samples.add("groupwatch_member_info", f"{pairs},{own}", 1)


def add_owners(samples: Samples, pairs: str, verdict: GroupVerdict, rows: Iterable[PartitionVerdict]) -> None:
    """A series for each owner of each of these partitions; where only the id of an owner is known, that alone."""
    known = {
        member.member_id: labels(member_id=member.member_id, client_id=member.client_id, host=member.host)
        for member in verdict.members
    }
    for row in rows:
        place = f'{pairs},topic="{escaped(row.topic)}",partition="{escaped(str(row.partition))}"'
        for owner in row.owners:
            who = known.get(owner) or labels(member_id=owner, client_id="", host="")
            samples.add("groupwatch_partition_owner_info", f"{place},{who}", 1)
