"""Groups that one member used for a short time, and others that came and went alike. Times are in seconds."""

import pytest
from msgspec.structs import replace

from monitor.kinds.short_lives import has_siblings, lives_by_pattern, short_life, sibling_pattern
from monitor.model import (
    GroupKind,
    Member,
    MembershipStored,
    OffsetCommitted,
    Phase,
    ShortLife,
    Source,
    TopicPartitions,
)
from monitor.tracking.group import fold_group

UUID = "0b7e2a52-9f64-4f0a-8d55-6f6c0d8a3d10"
NAME = f"anonymous.{UUID}"


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        (NAME, "anonymous.*"),
        (NAME.upper(), "ANONYMOUS.*"),
        (f"{UUID}-audit", "*-audit"),
        ("anonymous.Vq9xk3T-RkyzAbCdEfGh_w", "anonymous.*"),
        ("app-7f9c5b6d84-x2kqz", "app*"),
        ("console-consumer-48213", "console-consumer-*"),
        ("_confluent-ksql-default_transient_5839201_1700000000000", "_confluent-ksql-default_transient_*_*"),
        ("report-2026-11-28", "report-*-*-*"),
        ("job.9c1185a5c5e9fc54", "job.*"),
        ("billing", None),
        ("deadbeefcafe-facade", None),
        ("a.abcdefghijklmnopqrstuv", None),
        (UUID, None),
        ("1700000000000", None),
        ("", None),
        ("g" * 255 + "1", None),
    ],
)
def test_the_part_of_a_name_that_looks_made_up(name, pattern):
    assert sibling_pattern(name) == pattern


def test_a_name_of_any_length_is_read_at_once():
    assert sibling_pattern("a" * 32_767) is None
    assert sibling_pattern("z" + "a" * 253 + "1") == "z*"


def member(name="m"):
    return Member(
        name, topics=("t",), assigned=(TopicPartitions("t", (0,)),), session_timeout_ms=45_000, client_id="app"
    )


def generation(number, at_s, *members, name=NAME):
    protocol = "range" if members else None
    return MembershipStored(name, number, "consumer", protocol, None, int(at_s * 1000), members)


def commit(at_s, name=NAME):
    return OffsetCommitted(name, "t", 0, 10, int(at_s * 1000))


def folded(*events, name=NAME):
    return fold_group("c", name, None, events)


SHORT = generation(1, 100, member()), commit(111), generation(2, 112)


def test_the_life_of_a_group_that_one_member_used_and_left():
    assert short_life(folded(*SHORT)) == ShortLife("anonymous.*", 100_000, 112_000)


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(SHORT[:2], id="it is still there"),
        pytest.param((SHORT[0], SHORT[2]), id="it has committed nothing, so nothing shows how it left"),
        pytest.param((SHORT[0], commit(106.9), SHORT[2]), id="no commit for 5 s: a broker may have missed it"),
        pytest.param((*SHORT, commit(118)), id="somebody committed for it afterwards"),
        pytest.param(
            (generation(1, 100, member()), commit(700), generation(2, 700.1)), id="it worked for more than ten minutes"
        ),
        pytest.param((generation(1, 100, member(), member("n")), *SHORT[1:]), id="two members"),
        pytest.param(
            (SHORT[0], generation(2, 105, member(), member("n")), commit(111), generation(3, 112)), id="another joined"
        ),
        pytest.param(
            (SHORT[0], generation(2, 105, member("n")), commit(111), generation(3, 112)), id="another took over"
        ),
        pytest.param(
            (*SHORT, generation(3, 200, member()), commit(211), generation(4, 212)), id="it came back under its name"
        ),
        pytest.param((generation(7, 100, member()), commit(111), generation(8, 112)), id="it had others before"),
        pytest.param((commit(111), generation(2, 112)), id="only the end of its life is in the log"),
    ],
)
def test_whatever_may_be_a_real_group_has_no_such_life(events):
    assert short_life(folded(*events)) is None


def test_ten_minutes_and_five_seconds_are_the_limits():
    life = folded(generation(1, 100, member()), commit(695), generation(2, 700))
    assert short_life(life) == ShortLife("anonymous.*", 100_000, 700_000)


def test_the_member_may_have_rejoined_in_between():
    """As kafka-python's consumer does when it learns of its topic."""
    events = SHORT[0], generation(2, 101, member()), generation(3, 102, member()), commit(111), generation(4, 112)
    assert short_life(folded(*events)) == ShortLife("anonymous.*", 100_000, 112_000)


def test_a_group_with_a_chosen_name_has_no_such_life():
    events = generation(1, 100, member(), name="billing"), commit(111, "billing"), generation(2, 112, name="billing")
    assert short_life(folded(*events, name="billing")) is None


@pytest.mark.parametrize(
    "more", [{"kind": GroupKind.CONSUMER}, {"source": Source.ADMIN}, {"phase": Phase.OFFSETS_ONLY}, {"offsets": ()}]
)
def test_only_the_log_of_a_classic_group_shows_its_whole_life(more):
    assert short_life(replace(folded(*SHORT), **more)) is None


def lives(*spans_s):
    return lives_by_pattern([ShortLife("app-*", begin * 1000, end * 1000) for begin, end in spans_s])


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        pytest.param((100, 110), [(10, 20), (30, 40), (50, 60)], True, id="three before it"),
        pytest.param((100, 110), [(120, 130), (140, 150), (160, 170)], True, id="three after it"),
        pytest.param((100, 110), [(10, 20), (120, 130), (140, 150)], True, id="one before it and two after it"),
        pytest.param((100, 110), [(10, 20), (120, 130)], False, id="two"),
        pytest.param((100, 110), [], False, id="the only one of its pattern"),
        pytest.param((100, 110), [(100, 110)] * 9, False, id="nine shards of a service that was stopped"),
        pytest.param((100, 110), [(10, 20), (30, 40), (50, 100)], False, id="one ended as it began"),
        pytest.param((100, 110), [(10, 20), (30, 40), *[(95, 115)] * 5], False, id="two, and five at the same time"),
        pytest.param((100, 110), [(n, n + 1) for n in range(0, 90, 3)], True, id="thirty"),
    ],
)
def test_how_many_others_came_and_went_at_other_times(own, others, expected):
    life = ShortLife("app-*", own[0] * 1000, own[1] * 1000)
    assert has_siblings(life, lives(own, *others)) is expected


def test_the_oldest_and_the_newest_of_many_have_siblings():
    spans = [(n, n + 1) for n in range(0, 90, 3)]
    assert all(has_siblings(ShortLife("app-*", a * 1000, b * 1000), lives(*spans)) for a, b in spans)


def test_groups_of_another_pattern_do_not_count():
    assert not has_siblings(ShortLife("billing-*", 100_000, 110_000), lives((10, 20), (30, 40), (50, 60), (70, 80)))


# --- public reports -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        pytest.param("kafka-topics-ui-1485871234567", "kafka-topics-ui-*", id="lensesio/kafka-topics-ui #44 (2017)"),
        pytest.param("kafka-web-console-4821", "kafka-web-console-*", id="cjmamo/kafka-web-console #36"),
        pytest.param(
            "_confluent-ksql-default_transient_8319_1576022400000",
            "_confluent-ksql-default_transient_*_*",
            id="confluentinc/ccloud-tools #22 (2019): a trial of KSQL",
        ),
        pytest.param(
            "spark-kafka-source-1d3f3a52-9f64-4f0a-8d55-6f6c0d8a3d10--1503215421-executor",
            "spark-kafka-source-*--*-executor",
            id="apache/spark PR #24613 (2019): an id of each lifetime of the application",
        ),
    ],
)
def test_what_user_interfaces_and_tools_leave_behind(name, pattern):
    """Each page that was opened, and each query that was run, left a group of a new name, whose lag grew for days."""
    own = [generation(1, 100, member(), name=name), commit(111, name), generation(2, 112, name=name)]
    assert short_life(folded(*own, name=name)) == ShortLife(pattern, 100_000, 112_000)


def test_an_empty_group_that_somebody_used_for_days_is_none_of_them():
    """redpanda-data/console #115 (2020): "any consumer-group that has no active members" should be deletable.

    Not every such group is a leftover: this one, of the pattern of the others, worked for days until its member left.
    """
    name = "kafka-topics-ui-1485871234567"
    own = [generation(1, 100, member(), name=name), commit(200_000, name), generation(2, 200_001, name=name)]
    assert short_life(folded(*own, name=name)) is None
