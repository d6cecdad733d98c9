"""What brokers have written in ZooKeeper, where it cannot be read: it counts as it was when it last could.

Such a node says nothing, not even that anything is gone, so partitions must not vanish from under their owners. It may
stay as it is for ever: the reading is complete all the same, and its problems name the node. What could never be read,
as after a restart of the collector, is not known, and everything else is told without it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from monitor.protocol.zookeeper.groups import SeenTree
from monitor.protocol.zookeeper.tree import Node, Tree

_OF_BROKERS: Final = "brokers/"


class Remembering:
    """Decodes tree after tree, and remembers the nodes of brokers and topics that could be read."""

    def __init__(self, decode: Callable[[Tree], SeenTree]) -> None:
        """Remember nothing yet; ``decode`` tells what is in a tree."""
        self._decode = decode
        self._readable: dict[str, Node] = {}

    def decoded(self, tree: Tree) -> SeenTree:
        """What is in the tree. Problems are of the nodes as they are now; one that is gone is forgotten."""
        seen = self._decode(tree)
        present = {path: node for path, node in tree.nodes.items() if path.startswith(_OF_BROKERS)}
        garbled = {each.path: each for each in seen.problems if each.path in present}
        known = {path: self._readable[path] for path in garbled if path in self._readable}
        self._readable = {path: node for path, node in present.items() if path not in garbled} | known
        if not known:
            return seen
        seen = self._decode(replace(tree, nodes=tree.nodes | known))
        return replace(seen, problems=(*(garbled[path] for path in known), *seen.problems))
