"""MetaQ: each consumer takes its share of a topic's partitions, over the consumers that subscribe to the topic.

Partitions and consumers are sorted as strings (``0-10`` before ``0-2``); which strategy a consumer has is written
nowhere (docs of monitor.assignors.metaq).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monitor.assignors import UnknownAssignor, find
from monitor.assignors.java.text import string_key
from monitor.assignors.metaq.consishash import Consishash
from monitor.assignors.registry import System
from monitor.detection.ownership.inference import Candidate, OwnersOf, metaq_candidates
from monitor.model import GroupState, PartitionId

DEFAULT, CONSISHASH = "default", "consishash"


def candidates(group: GroupState, partitions: Mapping[str, Sequence[PartitionId]]) -> tuple[Candidate, ...]:
    """What each strategy gives, or the one that the deployment says the group has."""
    given: dict[str, OwnersOf | None] = {DEFAULT: {}, CONSISHASH: {}}
    for topic, own in partitions.items():
        asking = sorted((m.member_id for m in group.members if topic in m.topics), key=string_key)
        for each in metaq_candidates(topic, sorted(map(str, own), key=string_key), asking) if asking else ():
            known = given[each.name]
            given[each.name] = None if known is None or each.owners is None else known | each.owners
    every = tuple(Candidate(name, owners) for name, owners in given.items())
    return every if group.protocol is None else tuple(each for each in every if each.name == _name(group.protocol))


def is_told(group: GroupState) -> bool:
    """Whether the strategy is known, and not found by what fits."""
    return group.protocol is not None


def _name(configured: str) -> str | None:
    found = find(configured, System.METAQ)
    if isinstance(found, UnknownAssignor):
        return None
    return CONSISHASH if isinstance(found, Consishash) else DEFAULT
