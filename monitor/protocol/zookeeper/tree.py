"""A part of a ZooKeeper's tree as it was read at one moment, and what was found wrong in it.

Paths are relative to the root that was read, without a leading slash; the root itself is "". Other programs wrote every
name and every byte of data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from monitor.model import Value
from monitor.model.escaping import escaped
from monitor.protocol.wire.errors import Reason

LONGEST_PATH: Final = 200
"""So many characters of a path are shown."""

What = (
    Reason
    | Literal[
        "refused",  # the user may not read the node
        "too_many",  # a number that no deployment has: of threads, or of partitions
        "not_registered",  # it names a consumer or a thread that is not registered
        "left_behind",  # the same, and the node outlives sessions: no consumer reads there
    ]
)
"""What can be wrong with a node."""

_PROBLEM_TEXTS: Final[Mapping[str, str]] = {
    "refused": "groupwatch may not read it",
    "too_many": "a number in it is larger than makes sense",
    "not_registered": "its owner is not registered as a consumer with so many threads",
    "left_behind": "its owner is not registered, and the node does not end with a session: nobody reads the partition",
    "bad_json": "its data are not JSON",
    "bad_event": "its data are JSON, but not what belongs there",
    "bad_text": "it is not of the form that belongs there",
    "bad_utf8": "its data are not UTF-8",
}


# A large tree needs tens of thousands of them. They can't be part of a cycle, so Python's collector need not see them.
class Node(msgspec.Struct, frozen=True, gc=False):
    """The data of a node, and of its Stat what is used.

    ``ephemeral_owner`` is the session with which the node ends (None: it stays), ``modified_ms`` when the data were
    last written, by the clock of ZooKeeper's leader.
    """

    data: bytes = b""
    ephemeral_owner: int | None = None
    version: int = 0
    modified_ms: int = 0


class NodeProblem(Value):
    """A node that could not be used, or only in part."""

    path: str
    what: What

    def __str__(self) -> str:
        """A sentence for a person, without the final full stop."""
        return f"{printable_path(self.path)}: {_PROBLEM_TEXTS.get(self.what, self.what)}"


class Tree(Value):
    """The nodes with data that were read, the children of those that were listed, and those that were refused."""

    nodes: dict[str, Node]
    children: dict[str, tuple[str, ...]]
    refused: tuple[str, ...] = ()

    def under(self, path: str) -> tuple[str, ...]:
        """The names of the children, sorted; none of a node that does not exist."""
        return tuple(sorted(self.children.get(path, ())))


def join_path(*names: str) -> str:
    """A path of names and paths; the root adds nothing.

    >>> join_path("", "consumers", "g")
    'consumers/g'
    """
    return "/".join(name for name in names if name)


def printable_path(path: str) -> str:
    r"""A path as it can stand in a sentence: what cannot be printed is escaped, a long one is cut.

    >>> printable_path("consumers/a\u2028b")
    'consumers/a\\u2028b'
    """
    return escaped(path if len(path) <= LONGEST_PATH else f"{path[:LONGEST_PATH]}...")


def describe_problems(problems: Iterable[NodeProblem], most: int) -> tuple[str, ...]:
    """The problems as sentences; of those of one kind so many, and how many more there are."""
    by_kind: dict[str, list[NodeProblem]] = {}
    for problem in problems:
        by_kind.setdefault(problem.what, []).append(problem)
    sentences = []
    for alike in by_kind.values():
        sentences += [f"{problem}." for problem in alike[:most]]
        if len(alike) > most:
            sentences.append(f"{len(alike) - most} more nodes: {_PROBLEM_TEXTS.get(alike[0].what, alike[0].what)}.")
    return tuple(sentences)
