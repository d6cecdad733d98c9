"""The options of a page. All of them are in the address, so that a link to it shows others the same."""

from __future__ import annotations

from typing import Final, Self
from urllib.parse import urlencode

from msgspec.structs import replace
from starlette.datastructures import QueryParams

from monitor.model import FindingKind, Value

AT: Final = "at"
"""In the query of an address that asks for an instant of the past."""

_FLAGS: Final = {"all": "all_rows", "paused": "paused", "explain": "explain", "problems": "problems"}
_TEXTS: Final = {
    "q": "search",
    "cluster": "cluster",
    "kind": "kind",
    "team": "team",
    "sort": "sort",
    "map": "map_topic",
    "topic": "topic",
    "partition": "partition",
    AT: "at",
}


class PageOptions(Value):
    """The address of a page in parts. Texts are as they were sent: they may name what there is not.

    ``sort`` is the name of a column, with ``-`` before it in the turned order. ``all_rows``: nothing is cut.
    ``paused``: the page does not refresh. Of the overview: ``search`` is part of a group's name, ``kind`` that of a
    finding, ``team`` one of the file of expectations, and with ``problems`` only groups with findings are listed. Of a
    group: ``map_topic`` is a topic whose map is drawn though the group is large; ``explain`` requests the explanation,
    of one partition if that is named; ``at`` is an instant of the past, "" for now.
    """

    path: str
    search: str = ""
    all_rows: bool = False
    paused: bool = False
    cluster: str = ""
    kind: str = ""
    team: str = ""
    problems: bool = False
    sort: str = ""
    map_topic: str = ""
    explain: bool = False
    topic: str = ""
    partition: str = ""
    at: str = ""

    @classmethod
    def read(cls, path: str, query: QueryParams) -> Self:
        """The options that the query of an address says."""
        flags = {field: name in query for name, field in _FLAGS.items()}
        texts = {field: query.get(name, "") for name, field in _TEXTS.items()}
        return replace(cls(path), **flags, **texts)

    @property
    def finding_kind(self) -> FindingKind | None:
        """The kind of finding in the address, if there is such a kind."""
        return FindingKind(self.kind) if self.kind in list(FindingKind) else None

    def href(self, **changes: str | bool) -> str:
        """The same page with options changed."""
        wanted = replace(self, **changes)
        texts = {name: getattr(wanted, field) for name, field in _TEXTS.items()}
        flags = {name: "1" if getattr(wanted, field) else "" for name, field in _FLAGS.items()}
        query = urlencode({name: value for name, value in (texts | flags).items() if value}, safe=":", errors="replace")
        return f"{self.path}?{query}" if query else self.path

    def sorted_by(self, column: str) -> str:
        """The address of the page in the order of a column; in the turned order if it is in that order already."""
        return self.href(sort=f"-{column}" if self.sort == column else column)

    def order_of(self, column: str, *, is_number: bool = False) -> str | None:
        """How the page is sorted by that column, in the words of ARIA; None: it is sorted by another.

        Numbers stand largest first, unless they are turned.
        """
        usual, turned = ("descending", "ascending") if is_number else ("ascending", "descending")
        return {column: usual, f"-{column}": turned}.get(self.sort)
