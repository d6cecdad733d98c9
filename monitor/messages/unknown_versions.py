"""That the brokers write of groups in a version that groupwatch does not know: for a group, and for all in one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.messages.formatting import counted
from monitor.messages.notification import utc
from monitor.model import UnknownVersion


def cluster_sentence(concerned: Sequence[tuple[UnknownVersion, ...]]) -> str:
    """What is not known of the groups that have such versions, and why; there are some.

    >>> print(cluster_sentence([(UnknownVersion("GroupMetadata", version=5, newest=4, since_ms=0),)]))
    The brokers write version 5 of GroupMetadata; this groupwatch reads 0 to 4. The members of 1 group have been \
unknown since 1970-01-01 00:00:00 UTC.
    """
    hidden = [_about_members(own) for own in concerned if _about_members(own)]
    uncommitted = [_about_commits(own) for own in concerned if _about_commits(own)]
    found = []
    if hidden:
        found.append(f"The members of {counted(len(hidden), 'group')} have been unknown since {_since(hidden)}.")
    if uncommitted:
        partitions = sum(each.partitions for own in uncommitted for each in own)
        found.append(
            f"The committed offsets of {counted(partitions, 'partition')} in {counted(len(uncommitted), 'group')} have "
            f"been unknown since {_since(uncommitted)}."
        )
    return " ".join([_versions(each for own in concerned for each in own), *found])


def group_sentence(versions: tuple[UnknownVersion, ...]) -> str:
    """What is not known of a group, and why; there is something.

    >>> print(group_sentence((UnknownVersion("OffsetCommit", version=6, newest=4, since_ms=0, partitions=2),)))
    The brokers write version 6 of OffsetCommit; this groupwatch reads 0 to 4. The committed offsets of 2 partitions \
have been unknown since 1970-01-01 00:00:00 UTC, and so is the group's lag.
    """
    hidden, uncommitted = _about_members(versions), _about_commits(versions)
    found = [_versions(versions)]
    if hidden:
        found.append(
            f"The group's members have been unknown since {_since([hidden])}, so its owners are not evaluated."
        )
    if uncommitted:
        partitions = counted(sum(each.partitions for each in uncommitted), "partition")
        since = _since([uncommitted])
        found.append(
            f"The committed offsets of {partitions} have been unknown since {since}, and so is the group's lag."
        )
    return " ".join(found)


def _about_members(versions: Iterable[UnknownVersion]) -> tuple[UnknownVersion, ...]:
    return tuple([each for each in versions if not each.partitions])


def _about_commits(versions: Iterable[UnknownVersion]) -> tuple[UnknownVersion, ...]:
    return tuple([each for each in versions if each.partitions])


def _since(groups: Iterable[tuple[UnknownVersion, ...]]) -> str:
    return utc(min(each.since_ms for own in groups for each in own))


def _versions(found: Iterable[UnknownVersion]) -> str:
    """Which versions the brokers write of what, and which can be read."""
    written: dict[str, tuple[int, int]] = {}
    for each in found:
        newest = max(each.version, written.get(each.record, (0, 0))[0])
        written[each.record] = newest, each.newest
    if len(written) == 1:
        ((record, (version, known)),) = written.items()
        return f"The brokers write version {version} of {record}; this groupwatch reads 0 to {known}."
    listed = ", ".join(f"{record} {version} (it reads 0 to {known})" for record, (version, known) in written.items())
    return f"The brokers write versions that this groupwatch does not know: {listed}."
