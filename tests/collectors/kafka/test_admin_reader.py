"""What brokers tell of groups when asked is what their log tells, with real clients of all kinds."""

from __future__ import annotations

import pytest

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.kafka.admin_reader import REWRITE_MS, AdminReader
from monitor.config import ClusterSettings
from monitor.model import GroupKind, GroupState, Phase, Source
from monitor.tracking.group import fold_group
from tests.collectors.kafka.log_of_groups import known_to_both, states_by_the_log
from tests.support.clients import admin, commit, create_topic, produce
from tests.support.crowd import Crowd
from tests.support.job_process import eventually

pytestmark = pytest.mark.broker

ASSIGNORS = "org.apache.kafka.clients.consumer."
SETTLED_GROUPS = {
    "range": {"partition.assignment.strategy": f"{ASSIGNORS}RangeAssignor", "client.rack": "rack-a"},
    "sticky": {"partition.assignment.strategy": f"{ASSIGNORS}StickyAssignor"},
    "cooperative": {"partition.assignment.strategy": f"{ASSIGNORS}CooperativeStickyAssignor"},
    "static": {"partition.assignment.strategy": f"{ASSIGNORS}RoundRobinAssignor", "group.instance.id": "{}"},
    "uniform": {"group.protocol": "consumer"},
    "server-range": {"group.protocol": "consumer", "group.remote.assignor": "range", "group.instance.id": "{}"},
}


class Followed:
    """A cluster's groups as the readings tell them, folded one after the other."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.reader = AdminReader(ClusterSettings(name="prod", bootstrap_servers=bootstrap))
        self.states: dict[str, GroupState] = {}
        self.pass_ms = 0

    def read(self):
        self.pass_ms += 1
        reading = self.reader.read(self.pass_ms)
        for event in reading.groups:
            after = fold_group("prod", event.group, self.states.get(event.group), [event])
            if after is not None:
                self.states[event.group] = after
        return reading

    def difference(self, group: str) -> str:
        """What the readings know otherwise than the log."""
        self.read()
        by_log = states_by_the_log(self.bootstrap, "prod").get(group)
        by_admin = self.states.get(group)
        if by_log is None or by_admin is None:
            return (
                f"{group}: not known to both, but to {'the log' if by_log else 'the readings' if by_admin else 'none'}"
            )
        ours, theirs = known_to_both(by_admin), known_to_both(by_log)
        return "\n".join(f"{group}: {key}: {ours[key]} != {theirs[key]}" for key in ours if ours[key] != theirs[key])

    def await_agreement(self, group: str, is_so) -> GroupState:
        """Wait until readings and the log agree on a group for which this is so."""
        found = [""]

        def agrees() -> bool:
            try:
                found[0] = self.difference(group)
            except ConnectionFailed as error:  # the broker's coordinator has just begun
                found[0] = str(error)
            return not found[0] and is_so(self.states[group])

        try:
            eventually(agrees, group, 60)
        except AssertionError:
            raise AssertionError(found[0] or self.states.get(group)) from None
        return self.states[group]


@pytest.fixture(scope="module")
def crowd(broker):
    for topic, partitions in {"admin-a": 4, "admin-b": 3}.items():
        create_topic(broker.bootstrap_servers, topic, partitions)
        produce(broker.bootstrap_servers, topic, dict.fromkeys(range(partitions), 5))
    with Crowd(broker.bootstrap_servers) as clients:
        for kind, props in SETTLED_GROUPS.items():
            for number in range(2):
                name = f"admin-{kind}-{number}"
                own = {key: value.format(name) for key, value in props.items()}
                clients.tell(
                    "start", name=name, topics=["admin-a", "admin-b"], props={**own, "group.id": f"admin-{kind}"}
                )
        yield clients


@pytest.fixture
def followed(broker):
    them = Followed(broker.bootstrap_servers)
    yield them
    them.reader.close()


@pytest.mark.parametrize("kind", SETTLED_GROUPS)
def test_a_settled_group_is_what_the_log_tells(crowd, followed, kind):
    state = followed.await_agreement(
        f"admin-{kind}",
        lambda state: state.phase is Phase.STABLE and len(state.members) == 2 and len(state.offsets) == 7,
    )
    assert state.source is Source.ADMIN
    assert state.kind is (GroupKind.CONSUMER if "group.protocol" in SETTLED_GROUPS[kind] else GroupKind.CLASSIC)


def test_the_broker_tells_which_assignor_it_used(crowd, followed):
    """The log does not, where no member asks for one."""
    assert followed.await_agreement("admin-uniform", lambda state: len(state.members) == 2).protocol == "uniform"
    assert followed.await_agreement("admin-server-range", lambda state: len(state.members) == 2).protocol == "range"


def test_a_member_of_a_kip_848_group_that_gives_partitions_back_slowly(crowd, followed):
    """While it does, the group reconciles: it still owns what it gives back, and the new one has to wait."""
    props = {"group.protocol": "consumer", "group.id": "admin-slow"}
    crowd.tell("start", name="slow-0", topics=["admin-a"], props=props, revoke_ms=6000)
    followed.await_agreement("admin-slow", lambda state: state.phase is Phase.STABLE and len(state.offsets) == 4)
    crowd.tell("start", name="slow-1", topics=["admin-a"], props=props)
    state = followed.await_agreement("admin-slow", lambda state: len(state.members) == 2 and any_revokes(state))
    assert state.phase is Phase.RECONCILING
    state = followed.await_agreement("admin-slow", lambda state: state.phase is Phase.STABLE)
    assert not any_revokes(state)
    assert state.under_way is None
    assert state.moved_partitions == 2


def test_a_regular_expression_that_the_broker_resolves(crowd, followed):
    props = {"group.protocol": "consumer", "group.id": "admin-regex"}
    crowd.tell("start", name="regex-0", regex="admin-.*", props=props)
    state = followed.await_agreement(
        "admin-regex", lambda state: state.phase is Phase.STABLE and len(state.offsets) == 7
    )
    assert [(entry.regex, entry.topics) for entry in state.regexes] == [("admin-.*", ("admin-a", "admin-b"))]


def test_a_classic_group_that_rebalances_stays_as_it_was(crowd, followed):
    """Its broker then tells no assignment; who does not poll holds the rebalance up."""
    props = {"group.id": "admin-waiting", "partition.assignment.strategy": f"{ASSIGNORS}RangeAssignor"}
    crowd.tell("start", name="waiting-0", topics=["admin-a"], props=props)
    before = followed.await_agreement("admin-waiting", lambda state: len(state.offsets) == 4)
    since = crowd.seen()
    crowd.tell("sleep", name="waiting-0")
    crowd.await_event(since, "asleep", name="waiting-0")
    crowd.tell("start", name="waiting-1", topics=["admin-a"], props=props)

    def rebalances() -> bool:
        with admin(followed.bootstrap) as client:
            return client.describe_groups(["admin-waiting"])["admin-waiting"]["group_state"] == "PreparingRebalance"

    eventually(rebalances, "the rebalance", 30)
    reading = followed.read()
    assert [event.state for event in reading.groups if event.group == "admin-waiting"] == ["PreparingRebalance"]
    assert followed.difference("admin-waiting") == "", "nor does the log tell of it yet"
    assert followed.states["admin-waiting"].members == before.members


def test_a_group_that_only_commits_and_one_that_became_empty(crowd, followed):
    commit(followed.bootstrap, "admin-simple", "admin-a", {0: 2})
    assert followed.await_agreement("admin-simple", lambda state: bool(state.offsets)).phase is Phase.OFFSETS_ONLY
    for protocol in ("classic", "consumer"):
        group = f"admin-left-{protocol}"
        crowd.tell("start", name=group, topics=["admin-b"], props={"group.id": group, "group.protocol": protocol})
        followed.await_agreement(group, lambda state: len(state.offsets) == 3)
        crowd.tell("close", name=group)
        followed.await_agreement(group, lambda state: state.phase is Phase.EMPTY)


def test_a_group_that_has_not_changed_is_named_and_not_written_again(crowd, followed):
    commit(followed.bootstrap, "admin-still", "admin-a", {0: 2})
    first, second = followed.read(), followed.read()
    assert "admin-still" in {event.group for event in first.groups}
    assert "admin-still" not in {event.group for event in second.groups}
    assert "admin-still" in (second.listed or ())
    followed.pass_ms += REWRITE_MS
    assert "admin-still" in {event.group for event in followed.read().groups}, "now and then it is"
    assert second.complete


def test_a_deleted_group_is_gone_when_two_readings_have_not_found_it(crowd, followed):
    commit(followed.bootstrap, "admin-deleted", "admin-a", {0: 2})
    assert "admin-deleted" in followed.read().listed
    with admin(followed.bootstrap) as client:
        client.delete_groups(["admin-deleted"])
    assert "admin-deleted" in followed.read().listed, "it may be on its way to another coordinator"
    assert "admin-deleted" not in followed.read().listed


def any_revokes(state: GroupState) -> bool:
    return any(member.reconciliation and member.reconciliation.revoking for member in state.members)
