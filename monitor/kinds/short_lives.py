"""Groups that one member used for a short time, and other groups of such a name that came and went alike.

Broadcast consumers, tools and anonymous subscriptions make a group of a new name in each process. Neither its name nor
its life alone distinguishes what they leave from a real group: a service that was deployed today and stopped at once
looks the same. Both count, and that others of the pattern lived at other times.

Rule 1: The group had one member in its life, which the log shows from its first generation on, for MAX_LIFE_MS at most.
Rule 2: The member left by itself. It committed within LEAVING_MS of that, and a broker that misses a member waits
longer: ``group.min.session.timeout.ms`` is 6 s by default.
Rule 3: Its name has a part that looks made up: an UUID, Spring's form of one, digits, or the end of a pod's name.
Rule 4: FEWEST_SIBLINGS groups of the same pattern, for which rules 1 to 3 are true, had left before it came or came
after it had left. Those that lived at the same time do not count: a service with a group for each shard stops them all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from monitor.model import KINDS, Assigner, GroupState, Phase, ShortLife, ShortLives, Source

MAX_LIFE_MS: Final = 600_000
LEAVING_MS: Final = 5_000
FEWEST_SIBLINGS: Final = 3

MAX_NAME: Final = 255
"""Longer names are not looked at: no topic has one, and no tool makes one up."""

_MADE_UP: Final = re.compile(
    r"(?i:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})"  # an UUID
    r"|(?<=\.)[A-Za-z0-9_-]{22}$"  # Spring's Base64UrlNamingStrategy
    r"|-[0-9a-f]{8,10}-[0-9a-z]{5}$"  # of a Kubernetes deployment: the replica set and the pod
    r"|(?i:[0-9a-f]{8,})"  # hexadecimal digits, if there is a digit
    r"|[0-9]+"
)
_ANYTHING: Final = "*"


def sibling_pattern(name: str) -> str | None:
    """The name with ``*`` for each part that looks made up; None: it has no such part, or no other one.

    >>> sibling_pattern("anonymous.0b7e2a52-9f64-4f0a-8d55-6f6c0d8a3d10"), sibling_pattern("console-consumer-48213")
    ('anonymous.*', 'console-consumer-*')
    >>> sibling_pattern("billing"), sibling_pattern("feedface-app"), sibling_pattern("48213")
    (None, None, None)
    """
    if len(name) > MAX_NAME:
        return None
    pattern = _MADE_UP.sub(_without_digits, name)
    return pattern if pattern != name and any(each.isalpha() for each in pattern) else None


def _without_digits(found: re.Match[str]) -> str:
    return _ANYTHING if any(each.isdigit() for each in found[0]) else found[0]


def short_life(group: GroupState) -> ShortLife | None:
    """The life of a group by rules 1 to 3; None: it is none of these."""
    if group.phase is not Phase.EMPTY or not group.offsets or not _had_one_member(group):
        return None
    began_ms, ended_ms = group.history[0].started_ms, group.phase_ms
    committed_ms = max(offset.committed_ms for offset in group.offsets)
    is_short = began_ms <= committed_ms and ended_ms - began_ms <= MAX_LIFE_MS
    if not is_short or abs(ended_ms - committed_ms) > LEAVING_MS:
        return None
    pattern = sibling_pattern(group.group)
    return None if pattern is None else ShortLife(pattern, began_ms, ended_ms)


def _had_one_member(group: GroupState) -> bool:
    """Whether it joined in the first generation of the group and left in the newest; between them it may have rejoined.

    Consumers rejoin when they learn of the topic: kafka-python does so in about every third such life.
    """
    has_generations = KINDS[group.kind].assigns is Assigner.LEADER and group.source is Source.LOG
    if not has_generations or len(group.history) != group.generation or len(group.history) < 2:
        return False
    first, *rejoins, last = [(each.joined, each.left) for each in group.history]
    return (first, last) == ((1, 0), (0, 1)) and not any(map(any, rejoins)) and group.history[0].is_first


def lives_by_pattern(lives: Iterable[ShortLife]) -> dict[str, ShortLives]:
    """What :func:`has_siblings` needs to know of all groups, by pattern."""
    found: dict[str, list[ShortLife]] = defaultdict(list)
    for life in lives:
        found[life.pattern].append(life)
    return {pattern: _bounds(own) for pattern, own in found.items() if len(own) > FEWEST_SIBLINGS}


def _bounds(lives: Iterable[ShortLife]) -> ShortLives:
    lives = tuple(lives)
    return ShortLives(
        ended_ms=tuple(sorted(life.ended_ms for life in lives)[:FEWEST_SIBLINGS]),
        began_ms=tuple(sorted(life.began_ms for life in lives)[-FEWEST_SIBLINGS:]),
    )


def has_siblings(life: ShortLife, known: Mapping[str, ShortLives]) -> bool:
    """Whether rule 4 is true of a group with this life."""
    others = known.get(life.pattern)
    if others is None:
        return False
    before = sum(ended_ms < life.began_ms for ended_ms in others.ended_ms)
    after = sum(began_ms > life.ended_ms for began_ms in others.began_ms)
    return before + after >= FEWEST_SIBLINGS
