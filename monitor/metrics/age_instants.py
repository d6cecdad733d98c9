"""Ages as the instants since which they grow: a text of them does not change until something happens.

An executor sends the samples of ages so. The driver, which joins all texts, makes ages of them as of now. To judge and
to render every group again, only as it is some seconds older, took half of what an idle job needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from msgspec.structs import replace

from monitor.detection.evaluate import AGES_HOLD_MS, LONGEST_AGES_HOLD_MS
from monitor.metrics import specs
from monitor.metrics.exposition_format import seconds
from monitor.metrics.gzip_join import deflated, inflate
from monitor.model import ClusterSnapshot, Deflated, FamilyBlock, PackedBlock

AGE_FAMILIES: Final = frozenset(
    spec.name
    for spec in (
        specs.PARTITION_LAG_SECONDS,
        specs.TOPIC_LAG_SECONDS,
        specs.GROUP_LAG_SECONDS,
        specs.GROUP_LAG_AT_LEAST_SECONDS,
        specs.GROUP_ORPHANED_OLDEST_SECONDS,
        specs.GROUP_UNATTENDED_SECONDS,
        specs.GROUP_FINDING_OLDEST_SECONDS,
        specs.GROUP_DRIFT_OLDEST_SECONDS,
    )
)
"""The families whose samples are ages: the only ones that change while nothing happens."""

LATE_MS: Final = AGES_HOLD_MS
"""How late an age may be shown."""
LONGEST_MS: Final = LONGEST_AGES_HOLD_MS
"""So long after an evaluation ages grow on. A job evaluates as often; later, nothing is known of now."""

_SAMPLE: Final = re.compile(r"\} ([0-9.]+)\n")
_INSTANT: Final = re.compile(r"\} @([0-9]+)\n")
"""A label value may have anything in it but the end of a line, so what stands before one is the value."""


def with_instants(blocks: Iterable[FamilyBlock], evaluated_ms: int) -> tuple[FamilyBlock, ...]:
    """The samples of a group whose ages grow evenly, with instants in place of ages. An age of 0 stays."""
    return _rewrite_ages(blocks, lambda samples: _write_instants(samples, evaluated_ms))


def _write_instants(samples: str, evaluated_ms: int) -> str:
    r"""The samples with the instants of their ages.

    >>> _write_instants('a{b="} 1"} 2.5\na{b="c"} 0\n', 10_000)
    'a{b="} 1"} @7500\na{b="c"} 0\n'
    """

    def instant(found: re.Match[str]) -> str:
        age_ms = _milliseconds(found[1])
        return f"}} @{evaluated_ms - age_ms}\n" if age_ms else found[0]

    return _SAMPLE.sub(instant, samples)


def _milliseconds(text: str) -> int:
    """What monitor.metrics.exposition_format.seconds has written.

    >>> _milliseconds("12"), _milliseconds("12.05"), _milliseconds("0")
    (12000, 12050, 0)
    """
    whole, _, rest = text.partition(".")
    return 1000 * int(whole) + int(rest.ljust(3, "0")) if rest else 1000 * int(whole)


def deflated_samples(samples: str) -> Deflated:
    """The samples of a family, as they travel."""
    return replace(deflated(samples.encode()), has_instants=_INSTANT.search(samples) is not None)


def with_ages(blocks: Iterable[FamilyBlock], now_ms: int) -> tuple[FamilyBlock, ...]:
    """The same with ages again, as of an instant: for a group of which nothing is known after it."""
    return _rewrite_ages(blocks, lambda samples: write_ages(samples, now_ms))


def _rewrite_ages(blocks: Iterable[FamilyBlock], rewrite: Callable[[str], str]) -> tuple[FamilyBlock, ...]:
    return tuple(
        [replace(block, samples=rewrite(block.samples)) if block.family in AGE_FAMILIES else block for block in blocks]
    )


def write_ages(samples: str, now_ms: int) -> str:
    r"""The samples with their ages as of an instant; those without an instant stay.

    >>> write_ages('a{b="c"} @7500\na{b="d"} 0\n', 10_050)
    'a{b="c"} 2.55\na{b="d"} 0\n'
    """
    return _INSTANT.sub(lambda found: f"}} {seconds(max(0, now_ms - int(found[1])))}\n", samples)


class _Aged(NamedTuple):
    """A text with its ages as of an instant."""

    source: Deflated
    as_of_ms: int
    text: Deflated


_Name = tuple[str, str, int | None]
"""Of a text in a cluster: its family, its group if it is large, its bucket."""


class AgedBlocks:
    """The blocks of clusters with their ages as of some seconds ago. Two threads may use it: one publishes, one renews.

    A publisher does not wait until the texts of all partitions are written again: it shows those that are there.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[_Name, _Aged]] = {}

    @property
    def grow(self) -> bool:
        """Whether any age is shown that grows."""
        return any(self._known.values())

    def of(self, cluster: ClusterSnapshot, now_ms: int) -> ClusterSnapshot:
        """The cluster with ages in place of instants. ``now_ms``: by the clock of its evaluations."""
        as_of_ms, before = as_of(cluster, now_ms), self._known.get(cluster.cluster, {})
        texts = {
            _name_of(each): _usable_text(each.samples, as_of_ms, before.get(_name_of(each)))
            for each in cluster.blocks
            if each.samples.has_instants
        }
        self._known[cluster.cluster] = texts
        if not texts:
            return cluster
        blocks = [
            replace(each, samples=texts[_name_of(each)].text) if each.samples.has_instants else each
            for each in cluster.blocks
        ]
        return replace(cluster, blocks=tuple(blocks))

    def renew(self, cluster: ClusterSnapshot, now_ms: int) -> None:
        """Write again what is LATE_MS old, for who shows the cluster next. What was published meanwhile stays."""
        as_of_ms = as_of(cluster, now_ms)
        for name, known in list(self._known.get(cluster.cluster, {}).items()):
            if 0 <= as_of_ms - known.as_of_ms < LATE_MS:
                continue
            written, texts = _write(known.source, as_of_ms), self._known[cluster.cluster]
            if texts.get(name) is known:
                texts[name] = written


def _name_of(block: PackedBlock) -> _Name:
    return block.family, block.group, block.bucket


def _usable_text(samples: Deflated, as_of_ms: int, before: _Aged | None) -> _Aged:
    """The text that is there, unless it is of another evaluation, or was not renewed for long."""
    if before is None or before.source is not samples or not 0 <= as_of_ms - before.as_of_ms < LONGEST_MS + LATE_MS:
        return _write(samples, as_of_ms)
    return before


def _write(samples: Deflated, as_of_ms: int) -> _Aged:
    text = write_ages(inflate(samples).decode(), as_of_ms)
    return _Aged(samples, as_of_ms, deflated(text.encode()))


def as_of(cluster: ClusterSnapshot, now_ms: int) -> int:
    """The instant as of which the ages of a cluster are shown: now, but not long after its newest evaluation.

    One whose groups are those of the run before is shown as it was: nothing is known of it yet.
    """
    evaluated_ms = cluster.evaluated_ms or 0
    if not cluster.ready:
        return evaluated_ms
    return min(max(now_ms, evaluated_ms), evaluated_ms + LONGEST_MS)
