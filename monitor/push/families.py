"""The text of /metrics as values: families with points, as OpenTelemetry has them. Pure.

What is pushed is read from the bytes that a scrape would get, so that both have the same values. The text is
groupwatch's own: a line that does not fit is an error.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

Labels = Mapping[str, str]


class TextError(Exception):
    """A line is not of the text format; the text is the sentence."""


class NumberPoint(NamedTuple):
    """A value of a gauge or a counter."""

    labels: Labels
    value: int | float


class HistogramPoint(NamedTuple):
    """What a histogram has counted: ``counts`` has one more entry than ``bounds``, for what is above the last."""

    labels: Labels
    bounds: tuple[float, ...]
    counts: tuple[int, ...]
    total: float

    @property
    def observations(self) -> int:
        """How many values were observed."""
        return sum(self.counts)


class Family(NamedTuple):
    """A family: its name as on /metrics, its help, and ``gauge``, ``counter`` or ``histogram``."""

    name: str
    help: str
    kind: str
    points: Sequence[NumberPoint | HistogramPoint]


_SAMPLE: Final = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
_LABEL: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPE: Final = re.compile(r"\\(.)")
_WHOLE: Final = re.compile(r"-?[0-9]{1,19}")
_LARGEST: Final = 2**63 - 1
"""OpenTelemetry's whole numbers have 64 bits."""

_BOUND: Final = "le"
POINT_SIZE: Final = 40
"""About what a point takes besides its labels, in bytes."""


class _Sample(NamedTuple):
    name: str
    labels: dict[str, str]
    value: int | float


def read_families(text: str) -> Iterator[Family]:
    r"""The families of a text in Prometheus' format; those without a sample are left out.

    >>> list(read_families("# HELP a_b Much.\n# TYPE a_b gauge\na_b{c=\"d\"} 5\n"))
    [Family(name='a_b', help='Much.', kind='gauge', points=[NumberPoint(labels={'c': 'd'}, value=5)])]

    Raises:
        TextError: a line is not of the format.
    """
    helps: dict[str, str] = {}
    name, kind, samples = "", "", list[_Sample]()
    for line in text.split("\n"):
        if line.startswith("# HELP "):
            named, _, meaning = line.removeprefix("# HELP ").partition(" ")
            helps[named] = meaning
        elif line.startswith("# TYPE "):
            yield from _family(name, helps, kind, samples)
            name, _, kind = line.removeprefix("# TYPE ").partition(" ")
            samples = []
        elif line and not line.startswith("#"):
            samples.append(_sample(line))
    yield from _family(name, helps, kind, samples)


def batches(families: Iterable[Family], most: int) -> Iterator[list[Family]]:
    """The families in portions of about ``most`` bytes; a family may be in several. No portion is empty."""
    portion: list[Family] = []
    points: list[NumberPoint | HistogramPoint] = []
    size = 0
    for family in families:
        for point in family.points:
            if size >= most:
                yield [*portion, *_rest(family, points)]
                portion, points, size = [], [], 0
            points.append(point)
            size += _size(point)
        portion += _rest(family, points)
        points = []
    if portion:
        yield portion


def _rest(family: Family, points: list[NumberPoint | HistogramPoint]) -> list[Family]:
    return [family._replace(points=points)] if points else []


def _size(point: NumberPoint | HistogramPoint) -> int:
    labels = sum(len(name) + len(value.encode()) for name, value in point.labels.items())
    return labels + POINT_SIZE * (len(point.counts) if isinstance(point, HistogramPoint) else 1)


def _family(name: str, helps: Mapping[str, str], kind: str, samples: Sequence[_Sample]) -> Iterator[Family]:
    if samples:
        points = (
            _histograms(samples) if kind == "histogram" else [NumberPoint(each.labels, each.value) for each in samples]
        )
        yield Family(name, helps.get(name, ""), kind, points)


def _histograms(samples: Iterable[_Sample]) -> list[NumberPoint | HistogramPoint]:
    """Cumulative buckets with a sum, as the text has them, as counts of each bucket."""
    buckets: defaultdict[tuple[tuple[str, str], ...], list[tuple[float, int]]] = defaultdict(list)
    totals: dict[tuple[tuple[str, str], ...], float] = {}
    for sample in samples:
        own = tuple(pair for pair in sample.labels.items() if pair[0] != _BOUND)
        if sample.name.endswith("_bucket"):
            buckets[own].append((float(sample.labels[_BOUND]), int(sample.value)))
        elif sample.name.endswith("_sum"):
            totals[own] = float(sample.value)
    return [_histogram(dict(own), rows, totals[own]) for own, rows in buckets.items()]


def _histogram(labels: Labels, rows: Sequence[tuple[float, int]], total: float) -> HistogramPoint:
    """The last row is of all observations: its bound is infinite."""
    counts = [rows[0][1], *(after - before for (_, before), (_, after) in pairwise(rows))]
    return HistogramPoint(labels, tuple(bound for bound, _ in rows[:-1]), tuple(counts), total)


def _sample(line: str) -> _Sample:
    found = _SAMPLE.fullmatch(line)
    if found is None:
        raise TextError("A line of the metrics' text is not of its format.")
    name, pairs, value = found.groups()
    labels = {label: _plain_text(text) for label, text in _LABEL.findall(pairs or "")}
    is_whole = _WHOLE.fullmatch(value) is not None and abs(int(value)) <= _LARGEST
    return _Sample(name, labels, int(value) if is_whole else float(value))


def _plain_text(text: str) -> str:
    return _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else found[1], text) if "\\" in text else text
