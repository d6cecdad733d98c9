"""Assignments that a library gave, with one partition put elsewhere by hand.

``python -m tests.assignors.dialects.corruptions`` prints how many of them are refused, by family and kind.

Not every move is a mistake. Where the library's answer is not known, a move is counted only if arithmetic on the sizes
and claims shows that it breaks a promise of the strategy:

- the new owner already holds as much as the old one, so that the partition could come back: KIP-54 forbids that, and
  so does every optimum;
- or the two exchange their sizes, and the partition was its owner's alone before, in a strategy that promises to keep
  as many as any assignment as even: franz-go's always does, Sarama's if subscriptions and claims are plain;
- or, with a cooperative strategy, it comes to a member that does not claim it while another member does.

All other moves are ties: another answer of the library can have them. Likewise a partition that is dropped from a
cooperative assignment may be on its way to another member, unless nobody claims it, or each that could get it holds as
much as its owner.
"""

from __future__ import annotations

import sys
from collections import Counter
from copy import deepcopy
from hashlib import blake2b
from typing import Final, NamedTuple

from monitor.assignors.dialects import DIALECTS, Exactness
from tests.assignors.dialects.golden import Plain, Vector, assignment_of, claims_of, families, group_of, read

KINDS: Final = ("moved", "dropped", "given twice", "given to a stranger")


class Corruption(NamedTuple):
    given: Plain
    counts: bool
    """Whether no answer of the library can look like this."""


def corrupt(family: str, vector: Vector, kind: str) -> Corruption | None:
    """The expected assignment with one partition put elsewhere; None: there is no partition or no place for it."""
    given: Plain = deepcopy(vector["expected"]["assignment"])
    places = [
        (owner, topic, each)
        for owner in sorted(given)
        for topic in sorted(given[owner])
        for each in given[owner][topic]
    ]
    if not places:
        return None
    owner, topic, partition = places[draw(vector, kind, "place", len(places))]
    if kind == "dropped":
        given[owner][topic].remove(partition)
        return Corruption(given, is_beyond_drop(family, vector, owner, (topic, partition)))
    subscribed = {member["id"]: topic in member["topics"] for member in vector["input"]["members"]}
    takers = sorted(
        name for name in subscribed if name != owner and subscribed[name] is (kind != "given to a stranger")
    )
    if not takers:
        return None
    taker = takers[draw(vector, kind, "taker", len(takers))]
    if kind != "given twice":
        given[owner][topic].remove(partition)
    given[taker].setdefault(topic, []).append(partition)
    counts = kind != "moved" or is_beyond_move(family, vector, owner, taker, (topic, partition))
    return Corruption(given, counts)


def draw(vector: Vector, kind: str, what: str, options: int) -> int:
    digest = blake2b(f"{vector['id']} {kind} {what}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % options


def is_beyond_move(family: str, vector: Vector, owner: str, taker: str, place: tuple[str, int]) -> bool:
    row = DIALECTS[family]
    if row.exactness is not Exactness.CHECKED:
        return True
    claimants = claims_of(group_of(vector)).get(place, set())
    if row.protocol == "cooperative-sticky":
        if claimants - {taker} and taker not in claimants:
            return True
        if withheld(vector):
            return False
    topic = place[0] if row.protocol == "rack-affinity" else None  # that one deals each topic by itself
    mine, others = size(vector, owner, topic), size(vector, taker, topic)
    keeps_most = family.startswith("franz-go") or (family.startswith("sarama") and is_plain(vector))
    return others >= mine or (keeps_most and claimants == {owner})


def is_beyond_drop(family: str, vector: Vector, owner: str, place: tuple[str, int]) -> bool:
    row = DIALECTS[family]
    claimants = claims_of(group_of(vector)).get(place, set())
    if row.exactness is not Exactness.CHECKED or row.protocol != "cooperative-sticky" or not claimants:
        return True
    takers = [m["id"] for m in vector["input"]["members"] if place[0] in m["topics"] and m["id"] not in claimants]
    return not withheld(vector) and all(size(vector, name) >= size(vector, owner) for name in takers)


def size(vector: Vector, member: str, topic: str | None = None) -> int:
    own = vector["expected"]["assignment"][member]
    return len(own.get(topic, ())) if topic is not None else sum(map(len, own.values()))


def withheld(vector: Vector) -> int:
    topics = vector["input"]["topics"]
    return sum(topics.values()) - sum(size(vector, member) for member in vector["expected"]["assignment"])


def is_plain(vector: Vector) -> bool:
    """Whether all members subscribe to the same, and no partition is claimed twice."""
    claims = claims_of(group_of(vector)).values()
    return vector["shape"]["subscriptions"] == "same" and all(len(claimants) == 1 for claimants in claims)


class Rate(NamedTuple):
    refused: int
    counted: int
    ties: int
    """Moves that another answer can have; they are not counted."""

    def share(self) -> float:
        return self.refused / self.counted if self.counted else 1.0


def rate(family: str, kind: str) -> Rate:
    """How many of a family's corrupted assignments are refused."""
    found: Counter[str] = Counter()
    for vector in read(family):
        corruption = corrupt(family, vector, kind) if "expected" in vector else None
        if corruption is None:
            continue
        if not corruption.counts:
            found["ties"] += 1
            continue
        refusal = DIALECTS[family].rule.refusal(assignment_of(corruption.given), group_of(vector))
        found["counted"] += 1
        found["refused"] += refusal is not None
    return Rate(found["refused"], found["counted"], found["ties"])


def main() -> None:
    sys.stdout.write(f"| family | {' | '.join(KINDS)} |\n")
    for family in families():
        rates = [rate(family, kind) for kind in KINDS]
        cells = " | ".join(f"{each.refused} of {each.counted}, {each.ties} ties" for each in rates)
        sys.stdout.write(f"| {family} | {cells} |\n")


if __name__ == "__main__":
    main()
