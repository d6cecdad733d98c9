"""All groups of a cluster against a file of expectations, as one source knows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from monitor.detection.evaluation_input import GroupInputs
from monitor.expectations.checks import CLUSTER, absent_or_unknown, check_group, unknown_group
from monitor.expectations.entries import EntriesOfCluster, Unread
from monitor.expectations.expectation import Expectation, Expectations
from monitor.expectations.look import UnknownGroup, look_at
from monitor.expectations.outcome import Check, GroupOutcome, group_outcome
from monitor.model import Value
from monitor.model.expectations import Met


class KnownGroups(Value):
    """The groups of a cluster that a source has.

    ``missing`` is why it may lack some, as a sentence; None: a group that it lacks does not exist. If it is Unread, the
    source should have them.
    """

    names: frozenset[str]
    missing: str | None = None


Read = Callable[[str], GroupInputs | UnknownGroup | None]
"""What the verdict on a group is made of; None: the source has no such group."""


def verify_cluster(
    expectations: Expectations, cluster: str, known: KnownGroups, read: Read, only: str | None = None
) -> Iterator[GroupOutcome]:
    """The outcome of each group of a cluster of which something is expected.

    Args:
        expectations: what is expected.
        cluster: the name of the cluster.
        known: the groups that the source has.
        read: reads one of them.
        only: the one group to check; None: all. Nothing is yielded if nothing is expected of it.
    """
    names = sorted(known.names) if only is None else [only]
    for name in names:
        expected = expectations.of(cluster, name)
        if expected is not None:
            yield verify_group(expected, cluster, name, read(name) if name in known.names else None, known.missing)
    if only is None:
        entries = EntriesOfCluster(expectations, cluster)
        for expression, each in entries.missing(known.names).items():
            yield absent_or_unknown(each, cluster, expression, known.missing)
        yield from hidden_groups(entries, cluster, known)


def hidden_groups(entries: EntriesOfCluster, cluster: str, known: KnownGroups) -> Iterator[GroupOutcome]:
    """The patterns that match known groups, and may match others that cannot be seen now."""
    if not isinstance(known.missing, Unread):
        return
    missing = entries.missing(known.names)
    for expression, each in entries.patterns.items():
        if expression not in missing:
            sentence = f"It may match groups that are not seen now. {known.missing}"
            yield unknown_group(each, cluster, expression, sentence)


def verify_group(
    expected: Expectation, cluster: str, group: str, found: GroupInputs | UnknownGroup | None, missing: str | None
) -> GroupOutcome:
    """The outcome of one group. ``missing`` is that of KnownGroups."""
    if found is None:
        return absent_or_unknown(expected, cluster, group, missing)
    look = look_at(found) if isinstance(found, GroupInputs) else found
    if isinstance(look, UnknownGroup):
        return unknown_group(expected, cluster, group, look.sentence)
    return check_group(expected, look.verdict)


def unknown_cluster(cluster: str, sentence: str, only: str | None = None) -> GroupOutcome:
    """The outcome of a cluster of which nothing is known now; the sentence says why."""
    return group_outcome(cluster, only or "", [Check(CLUSTER, Met.UNKNOWN, sentence)])
