"""Which topics a group reads, and which it only has offsets in."""

from msgspec.structs import replace

from monitor.model import GroupKind, Phase, ResolvedRegex, TopicCommits
from monitor.topics.uses import group_use, has_known_readers, is_reader
from tests.support.builders import catalog, commit, group, member, topic

CATALOG = catalog(topic("orders", 2), topic("mail", 1))


def test_a_group_reads_what_its_members_subscribe_to_or_own():
    state = group(member("a", ["orders"]), member("b", ["orders"], {"refunds": [0]}))
    use = group_use(state, CATALOG)
    assert (use.members, use.reads, use.commits) == (2, ("orders", "refunds"), ())


def test_commits_are_told_by_topic_with_the_newest():
    offsets = [commit("mail", 0, at_ms=5), commit("orders", 0, at_ms=7), commit("orders", 1, at_ms=6)]
    use = group_use(group(offsets=offsets), CATALOG)
    assert use.commits == (TopicCommits("mail", (0,), 5), TopicCommits("orders", (0, 1), 7))


def test_a_commit_in_a_transaction_counts():
    state = replace(group(offsets=[commit("mail", 0, at_ms=5)]), unconfirmed=(commit("mail", 1, at_ms=9),))
    assert group_use(state, CATALOG).commits == (TopicCommits("mail", (0, 1), 9),)


def test_a_regular_expression_stands_for_the_topics_that_the_broker_resolved():
    one = replace(member("a", ["mail"]), regex="ord.*")
    state = replace(
        group(one, protocol=None),
        kind=GroupKind.CONSUMER,
        protocol_type="",
        regexes=(ResolvedRegex("ord.*", ("orders",)),),
    )
    use = group_use(state, CATALOG)
    assert (use.reads, use.protocol_type) == (("mail", "orders"), "consumer")


def test_an_empty_group_does_not_read_what_it_has_offsets_in():
    use = group_use(group(phase=Phase.EMPTY, offsets=[commit("mail", 0)]), CATALOG)
    assert has_known_readers(use)
    assert not is_reader(use, "mail")


def test_consumers_that_only_commit_read_what_they_commit():
    use = group_use(group(phase=Phase.OFFSETS_ONLY, offsets=[commit("mail", 0)]), CATALOG)
    assert not has_known_readers(use)
    assert [is_reader(use, name) for name in ("mail", "orders")] == [True, False]


def test_a_spark_query_reads_what_it_has_offsets_in():
    use = group_use(replace(group(offsets=[commit("mail", 0)]), kind=GroupKind.SPARK), CATALOG)
    assert is_reader(use, "mail")


def test_a_member_that_cannot_be_decoded_makes_the_topics_incomplete():
    assert group_use(group(member("a", ["mail"])), CATALOG).is_complete
    assert not group_use(group(member("a", [], unreadable="subscription")), CATALOG).is_complete
