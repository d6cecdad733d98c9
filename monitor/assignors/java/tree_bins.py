"""The trees into which ``HashMap`` turns crowded places, and the order in which they are iterated.

A place is a list until a ninth key comes. If the table has 64 places or more, the list then becomes a red-black tree
(in a smaller table the table is doubled instead). The tree serves look-ups; iteration still follows a chain through
all keys of the place. Three things change the chain, which in a list is simply the order in which keys came:

- a new key is chained in right behind its parent in the tree;
- whenever a tree has been built or has grown, its root is moved to the front of the chain;
- when the table doubles, the chain is divided in two, in order. A part of up to six keys is a list again; a larger
  one is built into a new tree. If all keys go to the same side, the tree stays as it is.

The tree is ordered by the mixed hash codes as signed numbers, and keys of equal hash codes by their class's own order
(``Comparable``). Source: the behaviour of ``java.util.HashMap`` in Java 8 to 21 (JEP 180).

Limit: keys of equal hash codes whose class is not ``Comparable`` are ordered by ``System.identityHashCode``, which
differs from one run of a JVM to the next. No such tree is built here: see ``java_crowds``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

TREE_SIZE: Final = 9
"""A place with as many keys becomes a tree."""
LIST_SIZE: Final = 6
"""Half of a divided tree with no more keys becomes a list again."""
SMALLEST_TABLE: Final = 64
"""Smaller tables have no trees."""

_LEFT: Final = 0
_RIGHT: Final = 1


class BinKey(msgspec.Struct, frozen=True, order=True):
    """A key as a tree sees it. Keys are compared by these fields, one after the other.

    Attributes:
        mixed: its hash code ``h ^ h >>> 16``, signed.
        natural: sorts as the keys' class does; None for all if the class is not ``Comparable``.
        number: which key it is, counted as they came.
    """

    mixed: int
    natural: bytes | msgspec.Struct | None
    number: int


class _Node:
    """A key with its place in the tree (parent, sides) and in the chain (before, after)."""

    __slots__ = ("after", "before", "key", "parent", "red", "sides")

    def __init__(self, key: BinKey) -> None:
        self.key = key
        self.parent: _Node | None = None
        self.sides: list[_Node | None] = [None, None]
        self.red = True
        self.before: _Node | None = None
        self.after: _Node | None = None


class TreeBin:
    """The keys of one place while it is a tree.

    >>> keys = [BinKey(0, None, number) for number in range(9)]
    >>> [key.number for key in TreeBin(keys)]  # the fourth is the root of nine that came in their order
    [3, 0, 1, 2, 4, 5, 6, 7, 8]
    """

    def __init__(self, keys: Sequence[BinKey]) -> None:
        """Build the tree of a list.

        Args:
            keys: at least one, in the order of the list.
        """
        self._root = self._first = last = _Node(keys[0])
        self._root.red = False
        for key in keys[1:]:
            node = _Node(key)
            _chain(node, behind=last)
            self._attach(node)
            last = node
        self._move_root_to_front()

    def put(self, key: BinKey) -> None:
        """Add a key that is not there yet."""
        node = _Node(key)
        _chain(node, behind=self._attach(node))
        self._move_root_to_front()

    @property
    def first(self) -> BinKey:
        """The key that is iterated first: the root's."""
        return self._first.key

    def __iter__(self) -> Iterator[BinKey]:
        """The keys in the order of iteration."""
        node: _Node | None = self._first
        while node is not None:
            yield node.key
            node = node.after

    def _attach(self, node: _Node) -> _Node:
        """Make the node a leaf of the tree, then balance it. Returns the parent that the leaf had first."""
        key = node.key
        below: _Node | None = self._root
        while below is not None:
            parent = below
            side = _RIGHT if parent.key < key else _LEFT
            below = parent.sides[side]
        parent.sides[side] = node
        node.parent = parent
        self._balance(node)
        return parent

    def _balance(self, node: _Node) -> None:
        """Restore the rules of a red-black tree after a red leaf was added: no red child of a red parent."""
        while (parent := node.parent) is not None and parent.red and (above := parent.parent) is not None:
            side = _RIGHT if above.sides[_RIGHT] is parent else _LEFT
            uncle = above.sides[1 - side]
            if uncle is not None and uncle.red:
                parent.red = uncle.red = False
                above.red = True
                node = above
                continue
            if parent.sides[1 - side] is node:
                self._rotate(parent, side)
                node, parent = parent, node
            parent.red = False
            above.red = True
            self._rotate(above, 1 - side)
        self._root.red = False

    def _rotate(self, node: _Node, side: int) -> None:
        """Let the node sink to this side; its child on the other side takes its place."""
        child = node.sides[1 - side]
        assert child is not None  # balancing rotates no node without one
        parent, inner = node.parent, child.sides[side]
        node.sides[1 - side] = inner
        if inner is not None:
            inner.parent = node
        child.parent = parent
        if parent is None:
            self._root = child
        else:
            parent.sides[_RIGHT if parent.sides[_RIGHT] is node else _LEFT] = child
        child.sides[side] = node
        node.parent = child

    def _move_root_to_front(self) -> None:
        root = self._root
        if root is self._first:
            return
        if root.before is not None:
            root.before.after = root.after
        if root.after is not None:
            root.after.before = root.before
        root.before, root.after = None, self._first
        self._first.before = root
        self._first = root


def _chain(node: _Node, behind: _Node) -> None:
    node.before, node.after = behind, behind.after
    if behind.after is not None:
        behind.after.before = node
    behind.after = node


def fill(listed: Sequence[BinKey], coming: Iterable[BinKey]) -> TreeBin | list[BinKey]:
    """A place of a table that is large enough for trees: a list of keys, and what further keys make of it."""
    found: TreeBin | list[BinKey] = list(listed)
    for key in coming:
        if isinstance(found, TreeBin):
            found.put(key)
            continue
        found.append(key)
        if len(found) >= TREE_SIZE:
            found = TreeBin(found)
    return found


def divide(tree: TreeBin, table: int) -> list[TreeBin | list[BinKey]]:
    """What a tree becomes when this table doubles: one or two trees or lists, none of them empty."""
    halves = [[key for key in tree if not key.mixed & table], [key for key in tree if key.mixed & table]]
    if not all(halves):
        return [tree]
    return [half if len(half) <= LIST_SIZE else TreeBin(half) for half in halves]
