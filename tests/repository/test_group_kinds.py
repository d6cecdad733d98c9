"""Code asks for the traits of a group, not for its kind: where the product may name a kind, and why. Never more often.

CONTRIBUTING.md ("How to add a kind of group") has the rule. A number is lowered when a use has gone.
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Final

from monitor.model import KINDS, GroupKind
from monitor.model.kinds import PROTOCOLS, KindTraits

ROOT: Final = Path(__file__).parents[2]
PRODUCT: Final = ("monitor", "streaming_jobs", "dashboards")
TABLE: Final = "monitor/model/kinds.py"
"""The table of kinds names each of them as often as it likes."""

PROTOCOL: Final = "monitor/protocol/"
"""The folder that reads what members wrote: which format that has depends on their protocol."""

ALLOWED: Final[dict[str, tuple[int, str]]] = {
    "monitor/findings/advice.py": (8, "a table of its own: each sentence of advice names the kinds that it is true of"),
    "monitor/protocol/kafka/kip848_groups.py": (4, "the number of a record's type is what tells the kind"),
    "monitor/protocol/kafka_admin/described_groups.py": (4, "each kind has a response of its own"),
    "monitor/collectors/zookeeper/readers.py": (2, "a reader reads the groups of one kind"),
    "monitor/collectors/rocketmq/groups.py": (1, "a reader reads the groups of one kind"),
    "monitor/collectors/spark/reader.py": (1, "a reader reads the groups of one kind"),
}
"""How often a module may name a kind, and why its traits would not do."""

BY_PROTOCOL: Final = {
    "assignors",
    "reads_by_task",
    "runs_connectors",
    "runs_tasks",
    "leader_assigns_partitions",
    "leader_assigns_tasks",
    "commits_partitions",
    "has_reset_policy",
}
"""The traits in which Connect and classic Kafka Streams differ from other classic groups."""


WORDS: Final = ("GroupKind", "kafka-", "CONNECT", "STREAM", "KINDS")
"""What each node that a check is about has: the other half of the modules need not be parsed."""


@cache
def nodes() -> tuple[tuple[str, ast.AST], ...]:
    """The nodes that a check is about, each with its module."""
    return tuple(
        (file.relative_to(ROOT).as_posix(), node)
        for folder in PRODUCT
        for file in sorted((ROOT / folder).rglob("*.py"))
        if any(word in (source := file.read_text(encoding="utf-8")) for word in WORDS)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute | ast.Compare)
    )


def names_kind(node: ast.AST) -> bool:
    """``GroupKind.SHARE``, or the text of a kind that something is compared with.

    >>> [names_kind(node) for node in ast.walk(ast.parse("kind is GroupKind.SHARE"))].count(True)
    1
    >>> [names_kind(node) for node in ast.walk(ast.parse("kind == 'kafka-share'"))].count(True)
    1
    """
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "GroupKind" and node.attr in GroupKind.__members__
    if isinstance(node, ast.Compare):
        texts = [each.value for each in (node.left, *node.comparators) if isinstance(each, ast.Constant)]
        return any(text in KINDS for text in texts if isinstance(text, str) and text.startswith("kafka-"))
    return False


def compares_protocol(node: ast.AST) -> bool:
    """Whether a protocol is compared with that of Connect or of classic Kafka Streams.

    >>> [compares_protocol(node) for node in ast.walk(ast.parse("group.protocol_type != CONNECT"))].count(True)
    1
    """
    sides = (node.left, *node.comparators) if isinstance(node, ast.Compare) else ()
    return any(isinstance(each, ast.Name) and each.id in {"CONNECT", "STREAM"} for each in sides)


def reads_of_kind_alone(node: ast.AST) -> bool:
    """Whether a trait that the protocol decides is read of the kind alone.

    >>> [reads_of_kind_alone(node) for node in ast.walk(ast.parse("KINDS[kind].runs_connectors"))].count(True)
    1
    """
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Subscript) and node.attr in BY_PROTOCOL):
        return False
    return isinstance(node.value.value, ast.Name) and node.value.value.id == "KINDS"


def test_kinds_are_named_only_where_a_reason_is_and_never_more_often():
    counts = Counter(name for name, node in nodes() if names_kind(node))
    del counts[TABLE]
    assert dict(counts) == {name: count for name, (count, _) in ALLOWED.items()}, (
        "ask for a trait of the group instead (monitor/model/kinds.py), or lower a number: see CONTRIBUTING.md"
    )
    assert all(reason for _, reason in ALLOWED.values())
    assert sum(counts.values()) <= 20


def test_connect_and_classic_streams_are_recognized_by_their_traits():
    """Only what reads their bytes looks at the protocol, and what makes their traits."""
    found = {name for name, node in nodes() if compares_protocol(node)}
    assert {name for name in found if not name.startswith(PROTOCOL)} == set()


def test_what_the_protocol_decides_is_not_read_of_the_kind_alone():
    """``KINDS[group.kind]`` of a Connect cluster is the row of every classic group."""
    found = {name for name, node in nodes() if reads_of_kind_alone(node)}
    assert found == set()


def test_the_traits_that_the_protocol_decides_are_those_in_which_its_rows_differ():
    properties = [name for name, value in vars(KindTraits).items() if isinstance(value, property)]
    names = {*KindTraits.__struct_fields__, *properties}
    differing = {
        name
        for (kind, _, _), traits in PROTOCOLS.items()
        for name in names
        if getattr(traits, name) != getattr(KINDS[kind], name)
    }
    assert differing == BY_PROTOCOL
