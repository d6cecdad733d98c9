"""Partitions that an assignor gives to several members on purpose, and those that nobody meant to be so."""

import pytest

from monitor.detection import DetectionSettings, evaluate
from monitor.findings.table import spec_of
from monitor.model import FindingKind, TopicPartitions
from monitor.model.findings import Severity
from tests.support.builders import NOW, catalog, commit, group, member, places, topic

LOG = "g-t-changelog"


def worker(name, assigned, copied):
    """A worker of Faust; ``copied`` None: what its leader wrote cannot be read."""
    kept = None if copied is None else tuple(TopicPartitions(*each) for each in copied.items())
    return member(name, ["src", *(each for each in assigned if each != "src")], assigned, copies=kept)


def judged(*members, protocol="faust", changelog_partitions=2):
    counts = {LOG: changelog_partitions}
    topics = {name: topic(name, counts.get(name, 2)) for each in members for name in each.topics}
    state = group(*members, protocol=protocol, offsets=[commit("src", 0), commit("src", 1)])
    return evaluate(state, catalog(*topics.values()), NOW, DetectionSettings())


def told(verdict):
    return [(finding.kind.value, finding.reason, finding.partitions) for finding in verdict.findings]


def owners(verdict, name):
    return [row.owners for row in verdict.partitions if row.topic == name]


def test_of_a_standby_copy_only_the_worker_that_writes_is_the_owner():
    verdict = judged(
        worker("A", {"src": [0], LOG: [0, 1]}, {LOG: (1,)}), worker("B", {"src": [1], LOG: [1, 0]}, {LOG: (0,)})
    )
    assert told(verdict) == []
    assert owners(verdict, LOG) == [("A",), ("B",)]
    assert [each.partitions for each in verdict.members] == [2, 2]


def test_the_name_of_a_changelog_does_not_matter_where_the_leader_names_the_copies():
    verdict = judged(
        worker("A", {"src": [0], "own": [0, 1]}, {"own": (1,)}), worker("B", {"src": [1], "own": [0, 1]}, {"own": (0,)})
    )
    assert told(verdict) == []


DOUBLE = ("double_owned", "same_generation")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(
            worker("A", {"src": [0, 1], LOG: [0, 1]}, {LOG: (1,)}),
            worker("B", {"src": [1], LOG: [0, 1]}, {LOG: (0,)}),
            [(*DOUBLE, places("src", 1))],
            id="a source partition with two owners beside copies",
        ),
        pytest.param(
            worker("A", {"src": [0, 1], LOG: [0, 1]}, None),
            worker("B", {"src": [1], LOG: [0, 1]}, None),
            [(*DOUBLE, places("src", 1))],
            id="the same where the copies are not known",
        ),
        pytest.param(
            worker("A", {"src": [0], LOG: [0, 1]}, {}),
            worker("B", {"src": [1], LOG: [1]}, {}),
            [(*DOUBLE, places(LOG, 1))],
            id="two that write one changelog partition",
        ),
        pytest.param(
            worker("A", {"src": [0], "other-t-changelog": [0, 1]}, None),
            worker("B", {"src": [1], "other-t-changelog": [1]}, None),
            [(*DOUBLE, places("other-t-changelog", 1))],
            id="a changelog of another application, and nothing can be read",
        ),
        pytest.param(
            worker("A", {"src": [0], LOG: [0, 1]}, None),
            worker("B", {"src": [1], LOG: [0, 1]}, None),
            [],
            id="a changelog by its name, and nothing can be read",
        ),
        pytest.param(
            worker("A", {"src": [0], LOG: [0, 1]}, {LOG: (0, 1)}),
            worker("B", {"src": [1], LOG: [0, 1]}, {LOG: (0, 1)}),
            [],
            id="a global table that all write: each has copies of all",
        ),
    ],
)
def test_what_two_workers_of_faust_own(first, second, expected):
    assert told(judged(first, second)) == expected


def test_three_workers_of_which_two_write():
    verdict = judged(
        worker("A", {"src": [0], LOG: [0]}, {}),
        worker("B", {"src": [1], LOG: [0, 1]}, {}),
        worker("C", {LOG: [0]}, {LOG: (0,)}),
    )
    (double,) = [finding for finding in verdict.findings if finding.kind is FindingKind.DOUBLE_OWNED]
    assert (double.partitions, double.members) == (places(LOG, 0), ("A", "B"))


def test_a_worker_with_copies_only_is_not_idle_nor_is_the_other_overloaded():
    """A changelog partition stays with that of the source from which it is made."""
    verdict = judged(worker("A", {"src": [0, 1], LOG: [0, 1]}, {}), worker("B", {LOG: [0, 1]}, {LOG: (0, 1)}))
    assert told(verdict) == []
    assert [(each.partitions, each.idle) for each in verdict.members] == [(4, False), (0, False)]


@pytest.mark.parametrize("protocol", ["range", "mine"])
def test_copies_are_of_faust_alone(protocol):
    members = [worker(name, {"src": [number], LOG: [0, 1]}, {LOG: (0, 1)}) for number, name in enumerate("AB")]
    kinds = [finding.kind for finding in judged(*members, protocol=protocol).findings]
    assert kinds[0] is FindingKind.DOUBLE_OWNED


def test_an_assignor_that_gives_all_to_everybody_means_it():
    both = [member(name, ["src"], {"src": [0, 1]}) for name in "AB"]
    assert told(judged(*both, protocol="broadcast")) == []
    assert told(judged(*both, protocol="mine")) == [(*DOUBLE, places("src", 0, 1))]


def test_what_not_all_subscribers_have_is_not_broadcast():
    members = [*(member(name, ["src"], {"src": [0, 1]}) for name in "AB"), member("C", ["src"], {"src": [0]})]
    assert told(judged(*members, protocol="broadcast")) == [(*DOUBLE, places("src", 1))]


# --- public reports -----------------------------------------------------------------------------------------------


def test_a_global_table_whose_partitions_all_workers_write_and_keep():
    """faust-streaming/faust PR #426 (2022): with use_partitioner, any worker writes any partition of a global table.

    So each has all partitions as copies, its active ones too. The topic of the table may be that of another
    application, so its name is no help.
    """
    shared = {"src": [], "other-t-changelog": [0, 1]}
    workers = [
        worker(name, shared | {"src": [number]}, {"other-t-changelog": (0, 1)}) for number, name in enumerate("AB")
    ]
    assert told(judged(*workers)) == []


def test_a_global_table_of_one_partition_for_three_workers():
    """faust-streaming/faust #283 (2022): one worker has it as active, and all others as a standby copy."""
    workers = [worker(name, {"src": [], LOG: [0]}, {LOG: (0,)}) for name in "BC"]
    verdict = judged(worker("A", {"src": [0, 1], LOG: [0]}, {}), *workers, changelog_partitions=1)
    assert told(verdict) == []
    assert owners(verdict, LOG) == [("A",)]


def test_workers_of_an_application_without_tables_of_which_one_gets_nothing():
    """faust-streaming/faust #401 (2022): three partitions, three workers, and "some workers got 2 and some got 0"."""
    verdict = judged(worker("A", {"src": [0, 1]}, {}), worker("B", {"src": []}, {}))
    assert told(verdict) == [("idle_members", "no_partitions", ())]


def test_an_assignor_of_a_user_interface_that_shows_all_to_each():
    """SourceLabOrg/kafka-webview PR #141 (2019): its DuplicatedAssignor, "duplicated", gives each member everything."""
    both = [member(name, ["src"], {"src": [0, 1]}) for name in "AB"]
    assert told(judged(*both, protocol="duplicated")) == []
    one_less = [*both, member("C", ["src"], {"src": [0]})]
    assert told(judged(*one_less, protocol="duplicated")) == [(*DOUBLE, places("src", 1))]


def test_an_assignor_that_keeps_members_in_reserve():
    """streamthoughts' FailoverAssignor (deordie-digest #49, 2021): one member has everything, by its priority.

    The others are idle on purpose. That they are idle is information, and nothing is said to be wrong.
    """
    verdict = judged(member("A", ["src"], {"src": [0, 1]}), member("B", ["src"], {}), protocol="failover")
    assert told(verdict) == [("imbalance", "partitions", ()), ("idle_members", "no_partitions", ())]
    assert {spec_of(finding.kind, finding.reason).severity for finding in verdict.findings} == {Severity.INFO}
