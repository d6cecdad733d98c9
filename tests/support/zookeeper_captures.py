"""Trees captured from real ZooKeepers, and trees of a few lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from monitor.model import PartitionId
from monitor.protocol.zookeeper.groups import SeenGroup, SeenTree
from monitor.protocol.zookeeper.tree import Node, Tree

FIXTURES = Path(__file__).parents[1] / "fixtures" / "zookeeper"


def build_tree(nodes: Mapping[str, Node]) -> Tree:
    """The tree that consists of these nodes and all above them."""
    children: dict[str, dict[str, None]] = {}
    for path in nodes:
        while path:
            above, _, name = path.rpartition("/")
            children.setdefault(above, {})[name] = None
            path = above  # noqa: PLW2901 - climbs
    return Tree(nodes=dict(nodes), children={above: tuple(names) for above, names in children.items()})


def captured(name: str) -> dict[str, dict]:
    """Data, ephemeralOwner, version, ctime and mtime by absolute path."""
    return json.loads((FIXTURES / f"{name}.json").read_text())["paths"]


def captured_tree(name: str, root: str) -> Tree:
    return build_tree(
        {
            path.removeprefix(f"{root}/"): Node(
                (seen["data"] or "").encode(),
                int(seen["ephemeralOwner"], 16) if seen["ephemeralOwner"] else None,
                seen["version"],
                seen["mtime"],
            )
            for path, seen in captured(name).items()
            if path.startswith(f"{root}/")
        }
    )


def written(nodes: dict[str, str | bytes], *, session: int | None = 7) -> Tree:
    """A tree of these nodes, all of one session, written at 5 ms."""
    return build_tree(
        {path: Node(data.encode() if isinstance(data, str) else data, session, 0, 5) for path, data in nodes.items()}
    )


def group(seen: SeenTree, name: str) -> SeenGroup:
    """A group of the tree."""
    return next(each for each in seen.groups if each.group == name)


def owned(seen: SeenTree, name: str) -> dict[str, dict[str, tuple[PartitionId, ...]]]:
    """What each member of a group owns, by topic."""
    return {
        member.member_id: {each.topic: each.partitions for each in member.assigned}
        for member in group(seen, name).members
    }


def what(seen: SeenTree) -> dict[str, str]:
    """The problems of a tree by their paths."""
    return {problem.path: problem.what for problem in seen.problems}
