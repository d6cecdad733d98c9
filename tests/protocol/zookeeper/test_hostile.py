"""Trees with anything in them: every node is used, or told as a problem, and what others say is read all the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import GroupKind, GroupObserved, Source
from monitor.protocol.zookeeper.kafka import kafka_tree
from monitor.protocol.zookeeper.metaq import metaq_tree
from monitor.protocol.zookeeper.tree import Node, describe_problems
from tests.support.zookeeper_captures import build_tree, captured_tree

SYSTEMS = pytest.mark.parametrize("decode", [kafka_tree, metaq_tree])

NAMES = st.text(st.characters(exclude_characters="/", exclude_categories=["Cs"]), min_size=1, max_size=8)
PARTS = st.one_of(NAMES, st.sampled_from(["0", "1", "0-0", "0-m", "1-s0", "master", "a", "b"]))
DATA = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [
            b'{"version":1,"subscription":{"a":2},"pattern":"static"}',
            b'{"version":1,"subscription":{".*":2},"pattern":"white_list"}',
            b'{"version":1,"partitions":{"0":[0],"1":[0]}}',
            b'{"broker":"0-m","numParts":2}',
            b"a,b",
            b"a-0",
            b"-5-7",
        ]
    ),
)
SHAPES = st.sampled_from(
    [
        "brokers/ids/{}",
        "brokers/ids/{}/master",
        "brokers/topics/{}",
        "brokers/topics/{}/{}",
        "brokers/topics-sub/{}/{}",
        "consumers/{}/ids/{}",
        "consumers/{}/owners/{}/{}",
        "consumers/{}/offsets/{}/{}",
        "{}/{}",
    ]
)
NODES = st.dictionaries(
    st.builds(lambda shape, names: shape.format(*names), SHAPES, st.lists(PARTS, min_size=3, max_size=3)),
    st.builds(Node, DATA, st.one_of(st.none(), st.integers(1, 2**63 - 1)), st.just(0), st.integers(-5, 2**62)),
    max_size=20,
)


@SYSTEMS
@given(nodes=NODES)
def test_a_tree_of_anything_is_read(decode, nodes):
    seen = decode(build_tree(nodes))
    assert {problem.path for problem in seen.problems} <= set(nodes)
    assert all(sentence.isprintable() for sentence in describe_problems(seen.problems, 20))
    for group in seen.groups:
        assert group.members or group.offsets
        assert len({member.member_id for member in group.members}) == len(group.members)
        GroupObserved(
            cluster="c",
            group=group.group,
            kind=GroupKind.METAQ,
            source=Source.SYSTEM,
            pass_ms=0,
            observed_ms=0,
            members=group.members,
            offsets=group.offsets,
        )


@SYSTEMS
@given(nodes=NODES)
def test_the_order_of_the_nodes_does_not_matter(decode, nodes):
    backwards = dict(reversed(nodes.items()))
    assert set(decode(build_tree(nodes)).problems) == set(decode(build_tree(backwards)).problems)
    assert decode(build_tree(nodes)).groups == decode(build_tree(backwards)).groups


@pytest.mark.parametrize(
    ("decode", "name", "root", "groups"),
    [
        pytest.param(kafka_tree, "kafka010-zk", "/kafka010", 4, id="kafka"),
        pytest.param(metaq_tree, "metaq-zk-twelve", "/meta", 4, id="metaq"),
    ],
)
@given(st.data())
def test_one_broken_node_hides_nothing_of_other_groups(decode, name, root, groups, data):
    tree = captured_tree(name, root)
    before = decode(tree)
    path = data.draw(st.sampled_from(sorted(each for each in tree.nodes if each.startswith("consumers/"))))
    broken = build_tree({**tree.nodes, path: Node(data.draw(st.binary(max_size=60)), 1)})
    after = {group.group: group for group in decode(broken).groups}
    others = [group for group in before.groups if group.group != path.split("/")[1]]
    assert len(others) >= groups - 1
    assert [after[group.group] for group in others] == others
