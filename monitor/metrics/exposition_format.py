"""The pieces of Prometheus' text format 0.0.4 and of OpenMetrics 1.0.0: label values, numbers, samples, heads.

Sample lines are the same in both formats; what stands around them is not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from monitor.metrics.spec_types import MetricKind, MetricSpec, Unit, unit_of
from monitor.model import FamilyBlock

_ESCAPES: Final = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def escaped(value: str) -> str:
    r"""A label value as it stands between quotes. Half a surrogate pair has no UTF-8 form and becomes "?".

    >>> print(escaped('a"b'), escaped("line\nbreak"), escaped("\ud800"))
    a\"b line\nbreak ?
    """
    return value.encode("utf-8", "replace").decode("utf-8").translate(_ESCAPES)


def number(value: float) -> str:
    """The shortest text that reads back as the value; without a decimal point if it is whole.

    >>> number(3), number(2.0), number(1.5)
    ('3', '2', '1.5')
    """
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)


def seconds(duration_ms: int) -> str:
    """Milliseconds as seconds, exactly.

    >>> seconds(12_000), seconds(12_050)
    ('12', '12.05')
    """
    whole, rest = divmod(duration_ms, 1000)
    return str(whole) if rest == 0 else f"{whole}.{rest:03}".rstrip("0")


def labels(**values: str) -> str:
    r"""Label pairs as they stand between braces, in the given order.

    >>> labels(cluster="main", group="orders")
    'cluster="main",group="orders"'
    """
    return ",".join(f'{name}="{escaped(value)}"' for name, value in values.items())


def header(spec: MetricSpec) -> str:
    """The two lines that stand once before all samples of a family."""
    return f"# HELP {spec.name} {spec.help}\n# TYPE {spec.name} {spec.kind}\n"


def openmetrics_header(spec: MetricSpec) -> str:
    """The same in OpenMetrics: of a counter without ``_total``, of an ``_info`` without that, and with the unit.

    A unit may be exposed only where the name ends with it.
    """
    kind = "info" if spec.name.endswith("_info") else spec.kind.value
    name = spec.name.removesuffix("_total") if spec.kind is MetricKind.COUNTER else spec.name.removesuffix("_info")
    unit = unit_of(spec)
    exposed = f"# UNIT {name} {unit.value}\n" if unit in _EXPOSED_UNITS and name.endswith(f"_{unit.value}") else ""
    return f"# TYPE {name} {kind}\n{exposed}# HELP {name} {spec.help}\n"


OPENMETRICS_END: Final = "# EOF\n"
"""The last line of a text in OpenMetrics: without it, it was cut."""

_EXPOSED_UNITS: Final = frozenset({Unit.SECONDS, Unit.BYTES, Unit.RATIO, Unit.RECORDS})


class Samples:
    """Sample lines, collected family by family. A name that is not in FAMILIES is refused when blocks are joined."""

    def __init__(self) -> None:
        self.lines = defaultdict[str, list[str]](list)
        """What was added, by family: for who has finished lines."""

    def add(self, spec: MetricSpec, label_pairs: str, value: float | None) -> None:
        """Add one sample; nothing, if the value is not known."""
        if value is not None:
            self.lines[spec.name].append(f"{spec.name}{{{label_pairs}}} {number(value)}\n")

    def add_ms(self, spec: MetricSpec, label_pairs: str, value_ms: int | None) -> None:
        """Add one sample in seconds; nothing, if the value is not known."""
        if value_ms is not None:
            self.lines[spec.name].append(f"{spec.name}{{{label_pairs}}} {seconds(value_ms)}\n")

    def add_each(self, spec: MetricSpec, label_pairs: str, label: str, counts: Mapping[str, int]) -> None:
        """Add one sample for each value of a label more. The values are ours, and need no escaping.

        A third of the samples of a small group are these, so they are not added one by one.
        """
        begin = f'{spec.name}{{{label_pairs},{label}="'
        self.lines[spec.name].extend([f'{begin}{value}"}} {count}\n' for value, count in counts.items()])

    def blocks(self) -> tuple[FamilyBlock, ...]:
        """One block for each family that has samples. Who joins blocks puts families in their order."""
        return tuple([FamilyBlock(name, "".join(lines)) for name, lines in self.lines.items() if lines])
