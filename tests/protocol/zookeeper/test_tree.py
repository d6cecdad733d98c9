"""A tree of ZooKeeper: its folders, and how what is wrong in it is told."""

from __future__ import annotations

import pytest

from monitor.protocol.zookeeper.tree import Node, NodeProblem, describe_problems, printable_path
from tests.support.zookeeper_captures import build_tree


def test_the_folders_above_the_nodes_belong_to_the_tree():
    tree = build_tree({"a/b/c": Node(b"1"), "a/d": Node(b"2"), "e": Node(b"3")})
    assert (tree.under(""), tree.under("a"), tree.under("a/b")) == (("a", "e"), ("b", "d"), ("c",))
    assert (tree.under("e"), tree.under("nothing")) == ((), ())


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        pytest.param("consumers/g", "consumers/g", id="as it is"),
        pytest.param("a\n\x1b[31mb", r"a\n\x1b[31mb", id="a terminal's commands"),
        pytest.param("a\u202eb", r"a\u202eb", id="what turns the line round"),
        pytest.param("群/ü", "群/ü", id="letters of others"),
        pytest.param("x" * 201, "x" * 200 + "...", id="a long one"),
    ],
)
def test_a_path_as_it_is_shown(path, shown):
    assert printable_path(path) == shown


def test_what_is_wrong_is_told_with_its_path():
    assert describe_problems([NodeProblem(path="consumers/g/offsets/t/0", what="bad_text")], 5) == (
        "consumers/g/offsets/t/0: it is not of the form that belongs there.",
    )


def test_of_many_alike_some_are_told_and_the_rest_is_counted():
    problems = [NodeProblem(path=f"p{n}", what="bad_json") for n in range(1000)]
    assert describe_problems([*problems, NodeProblem(path="q", what="refused")], 2) == (
        "p0: its data are not JSON.",
        "p1: its data are not JSON.",
        "998 more nodes: its data are not JSON.",
        "q: groupwatch may not read it.",
    )
