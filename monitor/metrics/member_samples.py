"""Who the members of a group are, and whose its partitions are: series that come and go with every rebalance.

That is why they are given only where somebody asked for them.
"""

from __future__ import annotations

from collections.abc import Iterable

from monitor.metrics import specs
from monitor.metrics.exposition_format import Samples, escaped, labels
from monitor.metrics.row_values import has_member_lag
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
        samples.add(specs.MEMBER_INFO, f"{pairs},{own}", 1)
    if has_member_lag(verdict):
        _add_member_lag(samples, pairs, verdict)
    if verdict.connect is not None:
        _add_workers(samples, pairs, verdict)
    elif verdict.tasks:
        _add_tasks(samples, pairs, verdict)


def _add_member_lag(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    """0 of a member that owns nothing; no sample of one of whose partitions no lag is known."""
    known = {owner for row in verdict.partitions if row.lag is not None for owner in row.owners}
    for member in verdict.members:
        if member.member_id in known or not member.partitions:
            own = labels(member_id=member.member_id, client_id=member.client_id, host=member.host)
            samples.add(specs.MEMBER_LAG, f"{pairs},{own}", member.lag)


def _add_workers(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    for worker in verdict.processes:
        for member_id in worker.members:
            own = labels(member_id=member_id, url=worker.process)
            samples.add(specs.CONNECT_WORKER_TASKS, f"{pairs},{own}", worker.active)


def _add_tasks(samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
    for member in verdict.members:
        own = labels(member_id=member.member_id, client_id=member.client_id, host=member.host)
        for role, count in (("active", member.active_tasks), ("standby", member.standby_tasks)):
            samples.add(specs.MEMBER_TASKS, f'{pairs},{own},role="{role}"', count)


def add_owners(samples: Samples, pairs: str, verdict: GroupVerdict, rows: Iterable[PartitionVerdict]) -> None:
    """A series for each owner of each of these partitions, and one for who should own it, where that is known.

    Where only the id of a member is known, that alone.
    """
    known = {
        member.member_id: labels(member_id=member.member_id, client_id=member.client_id, host=member.host)
        for member in verdict.members
    }

    def who(member: str) -> str:
        return known.get(member) or labels(member_id=member, client_id="", host="")

    for row in rows:
        place = f'{pairs},topic="{escaped(row.topic)}",partition="{escaped(str(row.partition))}"'
        for owner in row.owners:
            samples.add(specs.PARTITION_OWNER_INFO, f"{place},{who(owner)}", 1)
        if row.expected is not None:
            samples.add(specs.PARTITION_EXPECTED_OWNER_INFO, f"{place},{who(row.expected)}", 1)
