"""Members that subscribe to topics that do not exist, and groups that only look like it. The patience is 60 s."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.catalog_inputs import concerns_of
from monitor.detection.evaluation_input import GroupInputs, only_concerned
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.ownership.near_topics import MAX_TOPICS, near_topics
from monitor.model import (
    STREAM,
    Catalog,
    ConnectConfigsState,
    ConnectorConfig,
    EndOffsetAt,
    GroupKind,
    GroupState,
    IdPartitions,
    Member,
    PartitionState,
    Phase,
    Reconciliation,
    ResolvedRegex,
)
from monitor.model.expiry import DeletedOffset
from tests.support.builders import ASSIGNED, NOW, catalog, commit, group, member, topic

NOTHING = "nothing_to_read"
MISSING = "missing_topics"
PATIENCE_MS = 60_000
ORDERS = catalog(topic("orders", 2))
T_ID = "dG9waWN0b3BpY3RvcGljdA"


def told(state: GroupState, topics: Catalog = ORDERS, now_ms: int = NOW) -> dict[str, str]:
    """The findings about subscriptions with their sentences, by reason."""
    verdict = evaluate(state, topics, now_ms, DetectionSettings(commit_silence_ms=PATIENCE_MS))
    return {str(found.reason): found.sentence for found in verdict.findings if found.kind == "subscription"}


def since_ms(state: GroupState, topics: Catalog = ORDERS) -> int:
    found = evaluate(state, topics, NOW, DetectionSettings(commit_silence_ms=PATIENCE_MS)).findings
    return next(each.since_ms for each in found if each.kind == "subscription")


def app(name: str, topics: list[str], owned: dict[str, list[int]] | None = None, **more: object) -> Member:
    return member(name, topics, owned or {}, **({"client_id": name, "host": "/10.0.0.1"} | more))


def modern(*members: Member, regexes: tuple[ResolvedRegex, ...] = (), **more: object) -> GroupState:
    known = {"kind": GroupKind.CONSUMER, "protocol": "", "protocol_type": "", "target_epoch": 3, "generation": 3}
    return group(*members, regexes=regexes, **(known | more))


def regex_member(regex: str, **more: object) -> Member:
    return Member("m", regex=regex, client_id="app", host="/10.0.0.1", reconciliation=Reconciliation(3), **more)


# --- what is found ------------------------------------------------------------------------------------------------


def test_members_that_subscribe_to_a_misspelled_topic():
    """confluentinc/librdkafka #1201, with clients that join all the same: Java, kafka-python."""
    state = group(app("a", ["order"]), app("b", ["order"]), app("c", ["order"]))
    assert told(state) == {
        NOTHING: (
            "a at /10.0.0.1, b at /10.0.0.1, c at /10.0.0.1 have nothing to read. They subscribe to order, which does "
            "not exist, or groupwatch has no permission to see it. Topics with similar names exist: orders (not "
            "order)."
        )
    }
    assert since_ms(state) == ASSIGNED


def test_a_part_of_a_subscription_is_only_information():
    """confluentinc/confluent-kafka-dotnet #166: of three topics, only some exist; librdkafka reads those."""
    state = group(app("a", ["orders", "refunds", "bills"], {"orders": [0, 1]}))
    assert told(state) == {
        MISSING: "a at /10.0.0.1 subscribes to bills, refunds, which do not exist, or groupwatch has no permission to "
        "see them."
    }


def test_members_with_and_without_something_to_read_are_told_apart():
    state = group(app("a", ["orders", "refunds"], {"orders": [0, 1]}), app("b", ["refunds"]))
    assert told(state) == {
        NOTHING: "b at /10.0.0.1 has nothing to read. It subscribes to refunds, which does not exist, or groupwatch "
        "has no permission to see it.",
        MISSING: "a at /10.0.0.1 subscribes to refunds, which does not exist, or groupwatch has no permission to see "
        "it.",
    }


def test_a_topic_that_is_deleted_under_its_group_is_told_with_the_time():
    """librdkafka goes on with an error for each partition, and still owns them."""
    deleted = DeletedOffset("gone", 0, 100, ASSIGNED, None, ASSIGNED + 7_000)
    state = group(app("a", ["gone"], {"gone": [0]}), deleted_offsets=(deleted,))
    assert told(state)[NOTHING].endswith(f"Deleted: gone at {clock(ASSIGNED + 7_000)}.")
    assert since_ms(state) == ASSIGNED + 7_000


def clock(at_ms: int) -> str:
    seconds = at_ms // 1000 % 86_400
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02} UTC"


def test_an_expression_that_has_to_match_the_whole_name():
    """confluentinc/librdkafka PR #5251: with KIP-848 the broker matches by RE2/J, and no longer librdkafka by libc."""
    state = modern(regex_member("^order*"), regexes=(ResolvedRegex("^order*"),))
    assert told(state) == {
        NOTHING: "app at /10.0.0.1 has nothing to read. No topic fits the regular expression ^order*, which has to "
        "match the whole name. It matches a part of orders."
    }


# --- what is not --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "topics"),
    [
        pytest.param(group(app("a", ["orders"], {"orders": [0, 1]})), ORDERS, id="a healthy group"),
        pytest.param(group(app("a", ["seen"], {"seen": [0]})), ORDERS, id="a topic that groupwatch may not describe"),
        pytest.param(
            group(app("a", ["seen"], {"seen": [0]}), app("b", ["seen"])), ORDERS, id="of it, a member owns nothing"
        ),
        pytest.param(group(app("a", ["order"])), replace(ORDERS, pass_ms=ASSIGNED), id="no poll since the generation"),
        pytest.param(group(app("a", ["order"]), phase=Phase.EMPTY), ORDERS, id="a group that is not stable"),
        pytest.param(group(app("a", ["order"], unreadable="cut")), ORDERS, id="a member that cannot be read"),
        pytest.param(group(app("a", ["order"]), protocol=STREAM), ORDERS, id="Kafka Streams"),
        pytest.param(group(app("a", [])), ORDERS, id="kafka-python #1237: its pattern fits nothing yet"),
        pytest.param(
            modern(regex_member("^tenant-.*"), regexes=(ResolvedRegex("^tenant-.*"),)), ORDERS, id="topics to come"
        ),
        pytest.param(modern(regex_member("^order*")), ORDERS, id="the broker has not resolved it yet"),
        pytest.param(
            modern(regex_member("^order*", topics=("orders",)), regexes=(ResolvedRegex("^order*"),)),
            ORDERS,
            id="an expression and a topic",
        ),
        pytest.param(modern(regex_member("(?=order)"), regexes=(ResolvedRegex("(?=order)"),)), ORDERS, id="not RE2's"),
        pytest.param(
            group(
                app("a", ["gone"], {"gone": [0]}),
                offsets=[commit("gone", 1)],
                deleted_offsets=(DeletedOffset("gone", 0, 9, ASSIGNED, None, ASSIGNED),),
            ),
            ORDERS,
            id="offsets of one partition were deleted, and others are committed",
        ),
    ],
)
def test_no_finding(state: GroupState, topics: Catalog):
    assert told(state, topics) == {}


def test_a_hidden_topic_of_a_kip_848_group_says_nothing_of_others():
    """It is known by its id only: it may be that to which the member subscribes."""
    own = Reconciliation(3, assigned=(IdPartitions(T_ID, (0,)),))
    hidden = Member("m", topics=("order",), reconciliation=own)
    assert told(modern(hidden)) == {}
    assert NOTHING in told(modern(replace(hidden, reconciliation=Reconciliation(3))))


def test_a_sink_of_connect_is_left_to_connect():
    state = group(app("a", ["order"]))
    assert NOTHING in told(state)
    connector = ConnectorConfig("sink", is_configured=True, tasks=1, group_id="g")
    assert told(state, replace(ORDERS, connect_configs={"w": ConnectConfigsState("c", "w", (connector,))})) == {}


def test_it_waits_for_topics_that_clients_or_brokers_create():
    """SOHU-Co/kafka-node #1056: the topic comes after its consumers. That they do not find it is another finding."""
    state = group(app("a", ["order"]))
    assert told(state, now_ms=ASSIGNED + PATIENCE_MS) == {}
    assert NOTHING in told(state, now_ms=ASSIGNED + PATIENCE_MS + 1)
    assert told(state, catalog(topic("orders", 2), topic("order", 1))) == {}


@pytest.mark.parametrize("generation_ms", [ASSIGNED, ASSIGNED + 90_000])
def test_of_a_deleted_topic_the_time_runs_from_its_deletion(generation_ms: int):
    """Also in a generation that was old by then, and in one that begins when its members notice."""
    deleted_ms = ASSIGNED + 80_000
    deleted = DeletedOffset("gone", 0, 100, ASSIGNED, None, deleted_ms)
    state = group(app("a", ["orders", "gone"], {"orders": [0, 1]}), deleted_offsets=(deleted,))
    state = replace(state, generation_ms=generation_ms, phase_ms=generation_ms)
    topics = replace(ORDERS, pass_ms=ASSIGNED + 100_000)
    assert told(state, topics, deleted_ms + PATIENCE_MS) == {}
    assert MISSING in told(state, topics, deleted_ms + PATIENCE_MS + 1)


# --- further public reports ---------------------------------------------------------------------------------------


def reasons(state: GroupState, topics: Catalog, now_ms: int) -> dict[str, str]:
    verdict = evaluate(state, topics, now_ms, DetectionSettings(commit_silence_ms=PATIENCE_MS))
    return {f"{found.kind}/{found.reason}": found.sentence for found in verdict.findings}


def test_one_of_three_topics_was_deleted_and_the_consumer_gets_nothing_of_the_others():
    """confluentinc/confluent-kafka-dotnet #759 (2019): neither messages nor assignments came of the two other topics.

    "found that 1 of the topics was deleted": both are said, that the others have no owner, and what is deleted.
    """
    gone = DeletedOffset("gone", 0, 100, ASSIGNED - 1_000, None, ASSIGNED - 500)
    state = group(app("a", ["bills", "gone", "orders"]), deleted_offsets=(gone,))
    found = reasons(state, catalog(topic("orders", 2), topic("bills", 1)), NOW)
    assert found["orphaned/assignor_gap"].startswith("3 partitions of 2 topics (bills 0; orders 0-1) have no owner.")
    assert found["subscription/missing_topics"].endswith("Deleted: gone at 00:33:19 UTC.")


RECREATED_MS = ASSIGNED + 100_000
MINUTE_MS = 60_000


def recreated(records: int) -> Catalog:
    """A topic that was deleted, and created again within seconds. Then so many records came, two every 20 s."""
    points = tuple(EndOffsetAt(RECREATED_MS + 20_000 * step, min(2 * step, records)) for step in range(12))
    part = PartitionState(0, RECREATED_MS, earliest=0, end=records, ends=points, former_ms=RECREATED_MS - 5_000)
    made = replace(topic("test_topic", 1), partitions=(part,), topic_id="new")
    return replace(catalog(made), pass_ms=RECREATED_MS + 10 * MINUTE_MS)


def test_a_topic_is_recreated_and_its_consumer_believes_that_it_is_healthy():
    """confluentinc/confluent-kafka-python #1787 (2024), confluent-kafka-javascript #274 (2025): "a) believe that the
    topic is healthy but b) not be able to consume any messages", without an error or a lost assignment.

    The group has committed until the topic was deleted. A consumer that gets the new records commits them within the
    five minutes that it may take for a batch.
    """
    owner = app("a", ["test_topic"], {"test_topic": [0]})
    deleted = DeletedOffset("test_topic", 0, 100, RECREATED_MS - 9_000, None, RECREATED_MS - 4_000)
    stuck = group(owner, deleted_offsets=(deleted,))
    came_ms = RECREATED_MS + 20_000
    early = reasons(stuck, recreated(22), came_ms + 5 * MINUTE_MS - 1)
    assert early.keys() == {"uncommitted/at_risk"}
    assert "has committed nothing since its offsets were deleted at 1970-01-01 00:34:56 UTC." in str(early)
    late = reasons(stuck, recreated(22), came_ms + 5 * MINUTE_MS)
    assert late == {
        "uncommitted/never": (
            "The group has no committed offset in 1 partition of test_topic (0), since brokers deleted those there at "
            "1970-01-01 00:34:56 UTC, as they do with a topic. Its owner, a at /10.0.0.1, has had it for at least "
            "60 s, and records came since."
        )
    }


@pytest.mark.parametrize(
    ("more", "records"),
    [
        pytest.param({}, 0, id="nothing came to the new topic"),
        pytest.param({"offsets": [commit("test_topic", 0, 22, RECREATED_MS + MINUTE_MS)]}, 22, id="it reads on"),
    ],
)
def test_a_topic_that_is_recreated_is_no_fault_of_its_consumer(more: dict[str, object], records: int):
    deleted = DeletedOffset("test_topic", 0, 100, RECREATED_MS - 9_000, None, RECREATED_MS - 4_000)
    known = {} if more else {"deleted_offsets": (deleted,)}
    state = group(app("a", ["test_topic"], {"test_topic": [0]}), **more, **known)
    assert "uncommitted/never" not in reasons(state, recreated(records), RECREATED_MS + 9 * MINUTE_MS)


# --- similar names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("order", ["orders"]),
        ("orders-", ["orders"]),
        ("ordres", ["orders"]),
        ("ordars", ["orders"]),
        ("rders", ["orders"]),
        ("oredrs", ["orders"]),
        ("Orders", ["orders"]),
        ("o.r_d-ers", ["orders"]),
        ("order-events", []),
        ("odresr", []),
        ("t1", []),
        ("", []),
    ],
)
def test_similar_names_differ_in_one_place(name: str, near: list[str]):
    assert list(near_topics(name, ["orders", "refunds", "t2"])) == near


def test_few_similar_names_are_proposed_and_none_in_a_huge_cluster():
    assert near_topics("t00", [f"t0{digit}" for digit in range(1, 9)]) == ("t01", "t02", "t03")
    assert near_topics("order", ["orders", *map(str, range(MAX_TOPICS))]) == ()


def test_hostile_names_are_shown_as_escapes():
    hostile = "order\u202e\n"
    sentence = told(group(app("a", [hostile])), catalog(topic(f"{hostile}s", 1)))[NOTHING]
    assert "order\\u202e\\ns (not order\\u202e\\n)" in sentence
    assert sentence.isprintable()


# --- what the verdict depends on ----------------------------------------------------------------------------------


def test_a_verdict_is_made_again_when_a_similar_topic_comes():
    state = group(app("a", ["order"]))
    with_orders, without = ORDERS, catalog(topic("refunds", 1))

    def concerns(topics: Catalog) -> tuple[object, ...]:
        return concerns_of(state, view_assignment(state, topics), Topics(topics))

    assert concerns(with_orders) != concerns(without)
    assert concerns(without) == concerns(catalog(topic("refunds", 1), topic("bills", 1)))


def test_what_is_sent_to_be_explained_has_the_similar_topics():
    state = group(app("a", ["order"]))
    many = catalog(topic("orders", 2), topic("refunds", 1))
    sent = only_concerned(GroupInputs(group=state, catalog=many, now_ms=NOW))
    assert sent.catalog.topics.keys() == {"orders"}
    assert told(sent.group, sent.catalog) == told(state, many)
