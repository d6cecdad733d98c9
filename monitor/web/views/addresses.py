"""Where the page and JSON of a group or a topic are, and which one an address means.

A name may hold any character, slashes included, so it is percent-encoded as one piece of the path, and read from the
path as it was sent: in a decoded path, a slash in the cluster's name could not be distinguished from the one after it.

Pieces ``.`` and ``..``, also percent-encoded, are taken out of a path by every client before it asks (RFC 3986, 5.2.4;
WHATWG URL). So these two names are written with a ``~`` before them; and names that look so, as ``~.``, with one more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote, unquote, urlencode

import msgspec
from starlette.convertors import Convertor, register_url_convertor

PAGE: Final = "/groups/"
TIMELINE: Final = "/timeline/"
ROOT: Final = "/api/v1/"
"""The API's own address."""
API: Final = "/api/v1/groups/"
LIBRARIES_PAGE: Final = "/libraries"
LIBRARIES_API: Final = "/api/v1/libraries"
TOPICS: Final = "/topics/"
"""Under it is the page of a topic; this itself is the list."""
TOPICS_API: Final = "/api/v1/topics/"
UNUSED_API: Final = "/api/v1/unused"
HISTORY: Final = "/api/v1/history/"
"""Under it is what happened to a group: the output of ``groupwatch history --json``."""
STORY: Final = "/api/v1/story/"
"""The former name of HISTORY."""
SCALE: Final = "/api/v1/scale/"
"""Under it is how many members a group needs."""
REPORT: Final = "/report/"
REPORT_API: Final = "/api/v1/report/"
SAVED: Final = "/api/v1/snapshot/"
"""Under it is the snapshot of a group; without the last slash, that of all."""
HELP: Final = "/help/"
HELP_SEARCH: Final = "/help/search"
HELP_FIRST: Final = ("findings", "runbooks", "concepts")
"""The pages of help to which others lead: each page of help names them at its top."""
HELP_PAGES: Final = (
    *HELP_FIRST,
    "start/incident",
    "start/from-kminion",
    "start/kubernetes",
    "start/grafana",
    "start/client-libraries",
    "start/terminal",
    *(
        "alerts",
        "explain",
        "history",
        "doctor",
        "expectations",
        "autoscaling",
        "terminal",
        "dashboards",
        "metrics",
        "mcp",
        "api",
    ),
    *("configuration", "deployment", "access", "collectors", "scaling", "performance"),
    *("scope", "tracking", "assignors", "comparison", "migration", "demo", "scenarios"),
)
"""Under HELP; those of docs/ with the same name. Results of a search have this order."""


class GroupAddress(msgspec.Struct, frozen=True):
    """A group of a cluster."""

    cluster: str
    group: str

    def under(self, prefix: str) -> str:
        """The path of this group.

        >>> GroupAddress("main", "a/b").under(PAGE)
        '/groups/main/a%2Fb'
        >>> GroupAddress("main", "..").under(PAGE), GroupAddress("main", "~..").under(PAGE)
        ('/groups/main/~..', '/groups/main/~~..')
        """
        return f"{prefix}{_quoted(self.cluster)}/{_quoted(self.group)}"


class TopicAddress(msgspec.Struct, frozen=True):
    """A topic of a cluster."""

    cluster: str
    topic: str

    def under(self, prefix: str) -> str:
        """The path of this topic.

        >>> TopicAddress("main", "orders").under(TOPICS)
        '/topics/main/orders'
        """
        return f"{prefix}{_quoted(self.cluster)}/{_quoted(self.topic)}"


def page_url(external_url: str, cluster: str, group: str = "") -> str:
    """Where a person opens the page of a group, or without one the list of the groups of a cluster.

    >>> page_url("https://ops.example.com/groupwatch", "main", "a/b")
    'https://ops.example.com/groupwatch/groups/main/a%2Fb'
    >>> page_url("https://ops.example.com", "main")
    'https://ops.example.com/?cluster=main'
    """
    if group:
        return f"{external_url}{GroupAddress(cluster, group).under(PAGE)}"
    return f"{external_url}/?{query_text({'cluster': cluster})}"


def finding_help(kind: str, reason: str) -> str:
    """Where a finding is explained.

    >>> finding_help("orphaned", "grew")
    '/help/findings#orphaned-grew'
    """
    return f"{HELP}findings#{kind}-{reason}"


def runbook_help(alert: str) -> str:
    """Where the runbook of an alert is.

    >>> runbook_help("GroupwatchLagOld")
    '/help/runbooks#groupwatchlagold'
    """
    return f"{HELP}runbooks#{alert.lower()}"


class _AnyText(Convertor[str]):
    """The rest of a path, line breaks included: at those, Starlette's own ``path`` ends."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("any", _AnyText())


def group_address(raw_path: str, prefix: str) -> GroupAddress | None:
    """The group that a percent-encoded path under the prefix means; None if it names no group.

    A slash in a group's name may also stand as it is.

    >>> group_address("/groups/main/a%2Fb/c", PAGE)
    GroupAddress(cluster='main', group='a/b/c')
    """
    cluster, slash, group = raw_path.removeprefix(prefix).partition("/")
    return GroupAddress(_name(cluster), _name(group)) if slash else None


def topic_address(raw_path: str, prefix: str) -> TopicAddress | None:
    """The topic that a percent-encoded path under the prefix means; None if it names no topic.

    >>> topic_address("/topics/main/a%2Fb", TOPICS)
    TopicAddress(cluster='main', topic='a/b')
    """
    found = group_address(raw_path, prefix)
    return None if found is None else TopicAddress(found.cluster, found.group)


def query_text(fields: Mapping[str, str] | Sequence[tuple[str, str]]) -> str:
    r"""The query of an address. Half a surrogate, which no address can have, becomes a question mark.

    >>> query_text({"at": "a b"}), query_text([("since", "\ud800")])
    ('at=a+b', 'since=%3F')
    """
    return urlencode(fields, errors="replace")


_DOTS: Final = re.compile(r"~*\.{1,2}")


def _quoted(name: str) -> str:
    marked = f"~{name}" if _DOTS.fullmatch(name) else name
    return quote(marked, safe="", errors="replace")


def _name(piece: str) -> str:
    sent = unquote(piece)
    return sent[1:] if sent.startswith("~") and _DOTS.fullmatch(sent) else sent
