"""The generated dashboards as Grafana reads them, and every query as it sends it to Prometheus."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from monitor.grafana.boards import SHIPPED

BOARDS: Final[dict[str, dict[str, Any]]] = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(SHIPPED.glob("*.json"))
}

ALL: Final = {"cluster": (".*",), "group": (".*",), "topic": (".*",)}
"""What Grafana puts in for All: the variable's ``allValue`` as it is."""


@dataclass(frozen=True)
class Asked:
    """A query of a dashboard: of a panel (or an annotation) with that title, or of a variable (then a label's values).

    ``shown`` are the labels that its legend, its text or its columns show, ``exactly`` that it may have no others.
    """

    board: str
    title: str
    ref: str
    expr: str
    shown: frozenset[str]
    exactly: bool = False
    values_of: str | None = None

    @property
    def place(self) -> str:
        """Where it is, for people and for lists of exceptions."""
        return f"{self.board}: {self.title} {self.ref}"


@dataclass(frozen=True)
class Window:
    """The time that a dashboard shows, and how often Prometheus scrapes, in seconds."""

    scrape_s: int
    shown_s: int
    step_s: int = 1

    @property
    def rate_s(self) -> int:
        """``$__rate_interval``, as Grafana computes it."""
        return max(self.step_s + self.scrape_s, 4 * self.scrape_s)


def panels(board: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The panels that ask, without the headings."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def asked() -> list[Asked]:
    """Every query of every dashboard."""
    return [query for name, board in BOARDS.items() for query in _asked(name, board)]


def _asked(name: str, board: Mapping[str, Any]) -> Iterator[Asked]:
    for panel in panels(board):
        for target in panel["targets"]:
            if panel["type"] == "table":
                yield Asked(name, panel["title"], target["refId"], target["expr"], _columns(panel), exactly=True)
            else:
                shown = _labels(target["legendFormat"])
                yield Asked(name, panel["title"], target["refId"], target["expr"], shown)
    for mark in board["annotations"].get("list", []):
        yield Asked(name, mark["name"], "mark", mark["expr"], _labels(mark["textFormat"] + mark["titleFormat"]))
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
            assert found is not None
            yield Asked(name, variable["label"], "variable", found[1], frozenset({found[2]}), values_of=found[2])


def _labels(legend: str) -> frozenset[str]:
    return frozenset(re.findall(r"\{\{(\w+)\}\}", legend))


def _columns(panel: Mapping[str, Any]) -> frozenset[str]:
    """The labels that have a column."""
    (organized,) = [each["options"] for each in panel["transformations"] if each["id"] == "organize"]
    return frozenset(name for name in organized["indexByName"] if not name.startswith("Value"))


def sent(expr: str, chosen: Mapping[str, Sequence[str]], window: Window) -> str:
    """An expression with what Grafana puts in for its variables.

    Of a variable that may have several values, one stands alone and several as ``(a|b)``, their special characters
    escaped; what is chosen as All (``.*``) is not escaped.
    """
    for name, values in chosen.items():
        escaped = [value if value == ".*" else _escaped(value) for value in values]
        text = escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"
        expr = re.sub(rf"\${name}\b", lambda _, text=text: text, expr)
    expr = expr.replace("$__rate_interval", f"{window.rate_s}s").replace("$__range", f"{window.shown_s}s")
    assert not re.search(r"\$(?!\d)", expr), expr  # $1 is Prometheus' own, and stays
    return expr


def _escaped(value: str) -> str:
    return re.sub(r"([$^*{}\[\]'+?.()|])", r"\\\\\1", value.replace("\\", "\\\\\\\\"))


def answer(url: str, query: Asked, chosen: Mapping[str, Sequence[str]], window: Window) -> list[dict[str, str]]:
    """The labels of each series that a Prometheus has for a query at any moment of the window's time.

    A query for a single moment is asked for all of them too: what it shows may come and go.
    """
    expr = sent(query.expr, chosen, window)
    now = float(get(url, "query", query="time()")["result"][0])
    begin = {"start": str(now - window.shown_s), "end": str(now)}
    if query.values_of is not None:
        values = get(url, f"label/{query.values_of}/values", **{"match[]": expr}, **begin)
        return [{query.values_of: value} for value in values]
    found = get(url, "query_range", query=expr, step=str(window.step_s), **begin)["result"]
    return [series["metric"] for series in found]


def get(url: str, path: str, **parameters: str) -> Any:
    query = urllib.parse.urlencode(parameters).encode()
    if path.startswith("label/"):
        request = urllib.request.Request(f"{url}/api/v1/{path}?{query.decode()}")
    else:
        request = urllib.request.Request(f"{url}/api/v1/{path}", data=query)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)["data"]
    except urllib.error.HTTPError as error:
        with error:
            raise AssertionError(f"{parameters}: {error.read().decode(errors='replace')}") from None


def faults(url: str, query: Asked, chosen: Mapping[str, Sequence[str]], window: Window) -> list[str]:
    """What is wrong with the answer to a query: nothing came, or labels that are shown are not there."""
    series = answer(url, query, chosen, window)
    if not series:
        return ["no data"]
    if query.exactly:
        return _column_faults(query.shown, series)
    return [f"{labels} lacks {sorted(query.shown - labels.keys())}" for labels in series if query.shown - labels.keys()]


def _column_faults(columns: frozenset[str], series: Sequence[Mapping[str, str]]) -> list[str]:
    """A table may have empty cells, but no empty column, and no label that would make one more."""
    found = [f"{labels} has more than {sorted(columns)}" for labels in series if labels.keys() - columns]
    empty = columns.difference(*series)
    return [*found, f"nothing is in {sorted(empty)}"] if empty else found
