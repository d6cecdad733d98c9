"""What the driver is told of a bucket, batch after batch, adds up to what judging it at once would show."""

import gzip

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.config import DetectionOptions, DetectionOverride, detection_rules
from monitor.detection import evaluate
from monitor.detection.group_summary import summary_of
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.overrides import DetectionRules, ScaleEntry
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.expectations.expectation import Expectation, Expectations, MemberRange
from monitor.metrics import series_cap
from monitor.metrics.age_instants import AgedBlocks
from monitor.metrics.render import join, packed, render_groups
from monitor.metrics.series_filter import Detail, DetailOverride, SeriesRules
from monitor.model import ClusterSnapshot, Outage
from monitor.model.scaling import MemberRate, ScaleMemory, ScaleTarget
from monitor.scaling import verdicts as scaling_verdicts
from monitor.scaling.answer import scale_plan
from monitor.scaling.notes import decode_note
from monitor.tracking.serialization import encode_state
from streaming_jobs.buckets.batch_context import BatchContext, Unread
from streaming_jobs.buckets.judge import BucketEvaluator
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.driver.verdict_on_demand import AssignmentViewCache, VerdictsOnDemand
from streaming_jobs.ingest.schemas import BucketRow, RowKind
from tests.scaling.fleet import Fleet, as_notes, even, notes_on
from tests.support.builders import ASSIGNED, NOW, catalog, commit, group, range_by_hand, redated, topic

MEMBERS = range_by_hand({"C0": ["a"], "C1": ["a"]}, {"a": 2})
CATALOG = catalog(topic("a", 2))
TOPICS = Topics(CATALOG)


def state(name: str, offset: int, at_ms: int = NOW):
    """All of partition 1 is read."""
    offsets = [commit("a", 0, offset, at_ms), commit("a", 1, 100, at_ms)]
    return replace(group(*MEMBERS, offsets=offsets), group=name)


def orders(batch: int, known: int, now_ms: int = NOW) -> BatchContext:
    return BatchContext(run="r", batch=batch, now_ms=now_ms, known=known, catalog="c")


def lines_shown(view: ClusterView, now_ms: int) -> list[str]:
    """What /metrics shows of the groups then."""
    cluster = ClusterSnapshot(cluster="c", ready=True, evaluated_ms=now_ms, blocks=tuple(view.blocks()))
    return sorted(gzip.decompress(join(AgedBlocks().of(cluster, now_ms).blocks)).decode().splitlines())


def age_in(lines: list[str], name: str) -> float:
    """The age of a group's lag, in seconds."""
    (line,) = [each for each in lines if each.startswith(f'groupwatch_group_lag_seconds{{cluster="c",group="{name}"')]
    return float(line.rpartition(" ")[2])


BATCHES = st.tuples(st.dictionaries(st.sampled_from("gh"), st.integers(98, 100)), st.integers(0, 1), st.booleans())


@given(st.lists(BATCHES, max_size=8))
def test_two_judges_that_take_turns_tell_what_is_so(batches):
    """The state of a group may stay when the group is gone: its deleted offsets are remembered."""
    view, judges, known, names = ClusterView("c"), [], -1, set()
    judges = [BucketEvaluator(0, DetectionRules()) for _ in range(2)]
    for batch, (offsets, turn, stays) in enumerate(batches):
        groups = {name: state(name, offset) for name, offset in offsets.items()}
        gone = [] if stays else [BucketRow(0, RowKind.GROUP, name, None) for name in names - groups.keys()]
        names = set(groups)
        now_ms = NOW + 1_000 * batch
        view.take([*gone, *judges[turn].rows(groups, TOPICS, orders(batch, known, now_ms))])
        known = batch
        verdicts = [evaluate(each, CATALOG, now_ms, DetectionSettings()) for each in groups.values()]
        assert {each.group: each for each in view.summaries()} == {each.group: summary_of(each) for each in verdicts}
        lines = lines_shown(view, now_ms)
        assert lines == sorted(gzip.decompress(join(packed(render_groups(verdicts)))).decode().splitlines())


@given(st.lists(st.tuples(st.dictionaries(st.sampled_from("gh"), st.integers(96, 99)), st.integers(0, 1)), max_size=8))
def test_two_judges_agree_on_what_is_apart(batches):
    """A group is large here if more than one series of detail is about it: both with lag, none once they are gone."""
    series = SeriesRules(max_series=10**6)
    view, known, names = ClusterView("c"), -1, set()
    judges = [BucketEvaluator(0, DetectionRules(), series) for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch:
        for batch, (offsets, turn) in enumerate(batches):
            patch.setattr(series_cap, "LARGE", 4 if batch % 3 else 1)  # as if it grew and shrank
            groups = {name: state(name, offset) for name, offset in offsets.items()}
            gone = [BucketRow(0, RowKind.GROUP, name, None) for name in names - groups.keys()]
            names = set(groups)
            now_ms = NOW + 1_000 * batch
            view.take([*gone, *judges[turn].rows(groups, TOPICS, orders(batch, known, now_ms))])
            known = batch
            verdicts = [evaluate(each, CATALOG, now_ms, DetectionSettings()) for each in groups.values()]
            told = list(view.blocks())
            lines = lines_shown(view, now_ms)
            assert lines == sorted(gzip.decompress(join(packed(render_groups(verdicts)))).decode().splitlines())
            assert {each.bucket for each in told} <= {0}
            if batch % 3 == 0:
                assert {each.group for each in told if each.family == "groupwatch_partition_lag"} == names
                assert {each.group for each in told if each.family == "groupwatch_group_lag"} <= {""}


def test_what_was_told_is_not_told_again():
    judge, groups = BucketEvaluator(0, DetectionRules()), {"g": state("g", 90), "h": state("h", 90)}
    first = list(judge.rows(groups, Topics(CATALOG), orders(1, known=-1)))
    assert {row.kind for row in first} == {RowKind.SUMMARIES, RowKind.BLOCK, RowKind.DUE}
    assert [row.kind for row in judge.rows(groups, Topics(CATALOG), orders(2, known=1))] == [RowKind.DUE]
    groups["h"] = state("h", 95)
    (summaries, *blocks, _due) = judge.rows(groups, Topics(CATALOG), orders(3, known=2))
    assert [each["group"] for each in msgspec.msgpack.decode(summaries.payload)] == ["h"]
    assert "groupwatch_partition_lag" in [row.name for row in blocks]
    assert "groupwatch_group_state" not in [row.name for row in blocks]


def test_a_group_whose_partition_is_not_read_keeps_its_last_verdict_marked_and_the_others_go_on():
    """ "g" is in partition 1 of 2 (103 is odd), and "h" in partition 0."""
    judge, groups = BucketEvaluator(0, DetectionRules()), {"g": state("g", 90), "h": state("h", 90)}
    view = ClusterView("c")
    view.take(judge.rows(groups, TOPICS, orders(1, known=-1)))
    before = {each.group: each for each in view.summaries()}
    first = lines_shown(view, NOW)
    unread = {1: Unread(sentence="Broker 2 does not answer", since_ms=NOW)}
    late = NOW + 3_600_000
    context = replace(orders(2, 1, late), log_partitions=2, unread=unread)
    assert context.instant_of("g") == NOW
    assert context.instant_of("h") == late
    view.take(judge.rows(groups, TOPICS, context))
    after = {each.group: each for each in view.summaries()}
    assert after["g"] == replace(before["g"], unjudged="Broker 2 does not answer")
    assert after["h"].unjudged is None
    assert after["h"].findings, "an hour of silence with lag"
    lines = lines_shown(view, late + 20_000)
    assert age_in(lines, "g") == age_in(first, "g"), "its age stays: nobody knows whether it has committed"
    assert age_in(lines, "h") == age_in(first, "h") + 3_620
    other = BucketEvaluator(0, DetectionRules())
    view.take(other.rows(groups, TOPICS, replace(context, batch=3, known=2)))
    assert {each.group: each for each in view.summaries()} == after, "a worker that has not seen the group before"
    assert lines_shown(view, late + 20_000) == lines
    view.take(other.rows(groups, TOPICS, orders(4, 3, late)))
    assert [each.unjudged for each in view.summaries()] == [None, None]


def test_the_age_of_a_group_that_is_not_read_stays_until_it_is_read_again():
    judge, groups, view = BucketEvaluator(0, DetectionRules()), {"g": state("g", 90)}, ClusterView("c")
    view.take(judge.rows(groups, TOPICS, orders(1, known=-1)))
    first = age_in(lines_shown(view, NOW), "g")
    unread = {1: Unread(sentence="Broker 2 does not answer", since_ms=NOW + 3_000)}
    view.take(judge.rows(groups, TOPICS, replace(orders(2, 1), log_partitions=2, unread=unread)))
    assert age_in(lines_shown(view, NOW + 20_000), "g") == first + 3
    view.take(judge.rows(groups, TOPICS, orders(3, 2, NOW + 30_000)))
    assert age_in(lines_shown(view, NOW + 30_000), "g") == first + 30


def test_the_age_of_a_group_on_which_a_rule_fails_stays_as_it_was_last_shown(monkeypatch):
    judge, groups, view = BucketEvaluator(0, DetectionRules()), {"g": state("g", 90)}, ClusterView("c")
    view.take(judge.rows(groups, TOPICS, orders(1, known=-1)))
    first = age_in(lines_shown(view, NOW), "g")
    view.take(judge.rows(groups, TOPICS, orders(2, 1, NOW + 29_000)))
    monkeypatch.setattr(judge, "rules", None)
    for batch in (3, 4):
        groups = {"g": state("g", 90)}
        view.take(judge.rows(groups, TOPICS, orders(batch, batch - 1, NOW + 10_000 * batch)))
        assert age_in(lines_shown(view, NOW + 60_000), "g") == first + 29


def test_the_age_of_an_unmet_expectation_grows():
    """Nothing else about the group has an age: it has read everything."""
    judge, groups, view = BucketEvaluator(0, DetectionRules()), {"quiet": settled("quiet")}, ClusterView("c")
    judge.expect(Expectations((Expectation("quiet", members=MemberRange(5, 5)),)))
    ages = []
    for batch, now_ms in enumerate((NOW + 1_000, NOW + 21_000)):
        view.take(judge.rows(groups, TOPICS, orders(batch, batch - 1, now_ms)))
        lines = lines_shown(view, now_ms)
        (line,) = [each for each in lines if each.startswith("groupwatch_group_finding_oldest_seconds")]
        ages.append(float(line.rpartition(" ")[2]))
    assert ages[1] == ages[0] + 20


def test_a_worker_that_had_the_bucket_before_serves_no_verdict_of_that_time():
    former, newer, view = BucketEvaluator(0, DetectionRules()), BucketEvaluator(0, DetectionRules()), ClusterView("c")
    view.take(former.rows({"g": state("g", 90)}, TOPICS, orders(1, known=-1)))
    groups = {"g": state("g", 100)}
    view.take(newer.rows(groups, TOPICS, orders(2, known=1)))
    (before,) = view.summaries()
    unread = {1: Unread(sentence="Broker 2 does not answer", since_ms=NOW)}
    view.take(former.rows(groups, TOPICS, replace(orders(3, 2), log_partitions=2, unread=unread)))
    (after,) = view.summaries()
    assert (before.lag, after) == (0, replace(before, unjudged="Broker 2 does not answer"))


def test_of_a_group_that_was_never_read_there_is_no_verdict():
    """The job started while its broker was away. What was committed since is not known, nor since when."""
    judge, view = BucketEvaluator(0, DetectionRules()), ClusterView("c")
    unread = {1: Unread(sentence="Broker 2 does not answer", since_ms=NOW + 3_600_000, was_read=False)}
    context = replace(orders(1, -1, NOW + 3_600_000), log_partitions=2, unread=unread)
    view.take(judge.rows({"g": state("g", 90)}, TOPICS, context))
    (summary,) = view.summaries()
    assert (summary.lag, summary.findings, summary.unjudged) == (None, (), "Broker 2 does not answer")
    assert list(view.blocks()) == []


GROWN = Topics(catalog(topic("a", 3, grown=1)))
LATER_PASS = Topics(
    catalog(replace(topic("a", 2), pass_ms=NOW + 10_000, observed_ms=NOW + 10_000), pass_ms=NOW + 10_000)
)


def pass_at(at_ms: int) -> Topics:
    """A pass that finds the ends where they were."""
    return Topics(catalog(redated(topic("a", 2), at_ms), pass_ms=at_ms))


MOVED = Topics(
    catalog(
        replace(
            topic("a", 2),
            partitions=tuple(
                replace(each, ends=(each.ends[0], replace(each.ends[1], at_ms=NOW + 10_000)))
                for each in topic("a", 2).partitions
            ),
        )
    )
)


@pytest.mark.parametrize(
    ("name", "topics", "passed_ms", "is_judged_again"),
    [
        pytest.param("quiet", TOPICS, 86_400_000, False, id="nothing ever happens"),
        pytest.param("quiet", LATER_PASS, 10_000, False, id="a pass saw what the one before saw"),
        pytest.param("rebalanced", LATER_PASS, 1, True, id="a pass is the first since the generation"),
        pytest.param("quiet", GROWN, 1, True, id="the topic has grown"),
        pytest.param("late", TOPICS, 57_999, False, id="the age only grows"),
        pytest.param("late", TOPICS, 58_000, True, id="the silence is too long"),
        pytest.param("ahead", TOPICS, 4_999, False, id="a poll is awaited"),
        pytest.param("ahead", TOPICS, 5_000, True, id="a poll is awaited for 5 s"),
        pytest.param("late", pass_at(NOW + 10_000), 1, True, id="a pass is the second that saw the ends there"),
        pytest.param("ahead", pass_at(NOW + 10_000), 1, True, id="a poll that was awaited has come"),
        pytest.param("late", MOVED, 1, True, id="a pass took the place of the one that saw the records first"),
    ],
)
def test_a_group_is_judged_again_when_it_is_due_or_what_concerns_it_has_changed(
    name, topics, passed_ms, is_judged_again
):
    judge = BucketEvaluator(0, DetectionRules())
    groups = {
        "quiet": settled("quiet"),
        "rebalanced": replace(settled("rebalanced"), protocol="of another library", generation_ms=NOW + 5_000),
        "late": state("late", 99, at_ms=NOW - 2_000),
        "ahead": state("ahead", 105),
    }
    list(judge.rows({name: groups[name]}, TOPICS, orders(0, -1)))
    list(judge.rows({name: groups[name]}, topics, orders(1, 0, NOW + passed_ms)))
    assert judge.made == 1 + is_judged_again


def test_groups_in_which_records_wait_take_turns_when_passes_find_nothing_new():
    """Each is judged once in 30 s, and no pass makes all verdicts again."""
    judge, first_ms = BucketEvaluator(0, DetectionRules()), NOW + 10_000
    groups = {name: state(name, 99, at_ms=NOW) for name in (f"g{number}" for number in range(90))}
    list(judge.rows(groups, pass_at(first_ms), orders(0, -1, first_ms)))
    made = []
    for batch in range(1, 4):
        before, at_ms = judge.made, first_ms + 10_000 * batch
        list(judge.rows(groups, pass_at(at_ms), orders(batch, batch - 1, at_ms)))
        made.append(judge.made - before)
    assert sum(made) == 90
    assert max(made) < 60


def test_a_verdict_by_an_older_pass_is_made_again_at_its_turn_though_no_pass_comes():
    judge, groups = BucketEvaluator(0, DetectionRules()), {"late": state("late", 99, at_ms=NOW)}
    newest = pass_at(NOW + 20_000)
    for batch, (topics, at_ms) in enumerate(
        [(pass_at(NOW + 10_000), NOW + 10_000), (newest, NOW + 20_000), (newest, NOW + 55_000), (newest, NOW + 57_000)]
    ):
        list(judge.rows(groups, topics, orders(batch, batch - 1, at_ms)))
    assert judge.made == 2


@pytest.mark.parametrize(
    "later",
    [
        {"outages": {1: Outage(NOW - 5_000, NOW)}},
        {"log_partitions": 50},
        {"names": {"T": "a", "U": "b"}},
    ],
    ids=["an outage", "the partitions of the log", "topics"],
)
def test_a_group_in_which_records_wait_is_judged_by_what_a_pass_says_besides_dates(later):
    judge, groups = BucketEvaluator(0, DetectionRules()), {"late": state("late", 99, at_ms=NOW)}
    list(judge.rows(groups, pass_at(NOW + 10_000), orders(0, -1, NOW + 10_000)))
    changed = Topics(replace(pass_at(NOW + 10_001).catalog, **later))
    list(judge.rows(groups, changed, orders(1, 0, NOW + 10_001)))
    assert judge.made == 2


def test_a_group_that_is_scaled_is_judged_by_each_pass():
    rules = DetectionRules(scales=(ScaleEntry("late", ScaleTarget()),))
    judge, groups = BucketEvaluator(0, rules), {"late": state("late", 99, at_ms=NOW)}
    for batch in range(3):
        at_ms = NOW + 10_000 * (batch + 1)
        list(judge.rows(groups, pass_at(at_ms), orders(batch, batch - 1, at_ms)))
    assert judge.made == 3


def test_a_group_is_judged_again_for_a_new_state():
    judge = BucketEvaluator(0, DetectionRules())
    for batch in range(2):
        list(judge.rows({"quiet": settled("quiet")}, TOPICS, orders(batch, batch - 1)))
    assert judge.made == 2, "equal states, but not the same"


@pytest.mark.parametrize(
    ("groups", "due_ms"),
    [
        pytest.param(["quiet"], None, id="never"),
        pytest.param(["quiet", "ahead"], NOW + 5_000, id="when a poll is awaited for 5 s"),
        pytest.param(["late"], NOW + 58_000, id="when a silence will be too long"),
        pytest.param(["silent", "late"], NOW + 1_000, id="when a silence is too long"),
    ],
)
def test_the_driver_is_told_when_a_bucket_is_due(groups, due_ms):
    """The silent one was last committed 59 s ago, and its patience is 60 s."""
    known = {
        "quiet": settled("quiet"),
        "late": state("late", 99, at_ms=NOW - 2_000),
        "ahead": state("ahead", 105),
        "silent": state("silent", 90, at_ms=NOW - 59_000),
    }
    view = ClusterView("c")
    judge = BucketEvaluator(0, DetectionRules())
    view.take(judge.rows({name: known[name] for name in groups}, TOPICS, orders(0, -1)))
    assert view.due_ms == due_ms


def settled(name: str):
    return replace(group(*MEMBERS, offsets=[commit("a", 0), commit("a", 1)]), group=name)


def test_everything_is_told_again_to_a_driver_that_missed_a_batch():
    judge, groups = BucketEvaluator(0, DetectionRules()), {"g": state("g", 90)}
    told = {(row.kind, row.name) for row in judge.rows(groups, Topics(CATALOG), orders(1, known=-1))}
    again = {(row.kind, row.name) for row in judge.rows(groups, Topics(CATALOG), orders(2, known=-1))}
    judge.reset()
    anew = {(row.kind, row.name) for row in judge.rows(groups, Topics(CATALOG), orders(3, known=2))}
    assert told <= again
    assert told <= anew


def text_of(view: ClusterView) -> str:
    return gzip.decompress(join(view.blocks())).decode()


def test_a_group_that_can_no_longer_be_judged_is_an_error_and_shown_as_it_was():
    """10 records wait for "g" and for "h"; then 5 for "h", and the state of "g" is broken."""
    judge, view = BucketEvaluator(0, DetectionRules()), ClusterView("c")
    groups = {"g": state("g", 90), "h": state("h", 90)}
    view.take(judge.rows(groups, Topics(CATALOG), orders(1, known=-1)))
    before = next(each for each in view.summaries() if each.group == "g")
    groups |= {"g": replace(groups["g"], offsets=None), "h": state("h", 95)}
    for batch in (2, 3):
        view.take(judge.rows(groups, Topics(CATALOG), orders(batch, known=batch - 1)))
        g, h = view.summaries()
        assert g.unjudged is not None
        assert g.unjudged.startswith("TypeError: ")
        assert replace(g, unjudged=None) == before
        assert h.unjudged is None
        assert [failure.partition(":")[0] for failure in view.failures] == ["group/g"]
        assert 'groupwatch_group_lag{cluster="c",group="g"} 10' in text_of(view)
        assert 'groupwatch_group_lag{cluster="c",group="h"} 5' in text_of(view)
    groups["g"] = state("g", 97)
    view.take(judge.rows(groups, Topics(CATALOG), orders(4, known=3)))
    assert [(each.group, each.unjudged) for each in view.summaries()] == [("g", None), ("h", None)]
    assert view.failures == ()
    assert 'groupwatch_group_lag{cluster="c",group="g"} 3' in text_of(view)


def test_a_group_that_was_never_judged_is_listed_with_what_it_is():
    judge, view = BucketEvaluator(0, DetectionRules()), ClusterView("c")
    view.take(judge.rows({"g": replace(state("g", 90), offsets=None)}, Topics(CATALOG), orders(1, known=-1)))
    (g,) = view.summaries()
    assert (g.group, g.kind, g.lag, g.findings) == ("g", "kafka-classic", None, ())
    assert g.unjudged is not None
    assert 'group="g"' not in text_of(view)


def test_a_lag_that_no_number_can_hold_ends_at_the_largest_and_its_group_is_judged():
    """As a checkpoint of an earlier version may have it: two commits at -2^63, so the lag would be 2^64 + 200."""
    judge, view = BucketEvaluator(0, DetectionRules()), ClusterView("c")
    deep = [commit("a", 0, -(2**63)), commit("a", 1, -(2**63))]
    groups = {"g": replace(state("g", 90), offsets=tuple(deep)), "h": state("h", 90)}
    view.take(judge.rows(groups, Topics(CATALOG), orders(1, known=-1)))
    assert [(each.group, each.lag, each.unjudged) for each in view.summaries()] == [
        ("g", 2**63 - 1, None),
        ("h", 10, None),
    ]
    assert view.failures == ()


def test_a_group_is_judged_by_the_thresholds_of_its_override():
    """In "g" and "h" 10 and 100 records wait; the settings are those that the job makes of the file."""
    override = DetectionOverride(groups="g", lag_records=5)
    rules = detection_rules(DetectionOptions(lag_records=500, overrides=(override,)))
    judge = BucketEvaluator(0, rules)
    view = ClusterView("c")
    view.take(judge.rows({"g": state("g", 90), "h": state("h", 90)}, TOPICS, orders(1, known=-1)))
    late = {each.group: [f for f in each.findings if f.reason == "behind"] for each in view.summaries()}
    assert (bool(late["g"]), bool(late["h"])) == (True, False)


def test_a_threshold_of_no_record_is_passed_by_one():
    judge, view = BucketEvaluator(0, detection_rules(DetectionOptions(lag_records=0))), ClusterView("c")
    view.take(judge.rows({"g": state("g", 99), "h": state("h", 100)}, TOPICS, orders(1, known=-1)))
    late = {each.group: [f for f in each.findings if f.reason == "behind"] for each in view.summaries()}
    assert (bool(late["g"]), bool(late["h"])) == (True, False)


def test_the_times_of_commits_are_series_where_they_are_wanted():
    families = []
    for rules in (SeriesRules(), SeriesRules(commit_times=True)):
        view = ClusterView("c")
        view.take(BucketEvaluator(0, DetectionRules(), rules).rows({"g": state("g", 90)}, TOPICS, orders(1, known=-1)))
        families.append({block.family for block in view.blocks()})
    added = {"groupwatch_partition_last_commit_timestamp_seconds", "groupwatch_partition_commits_total"}
    assert families[1] - families[0] == added


def test_series_that_are_left_out_change_no_verdict():
    """Less detail of "g", none of "h": both are listed with the same findings as ever."""
    series = SeriesRules(overrides=(DetailOverride(Detail.GROUP, groups="g"),), deny_groups=("h",))
    groups = {"g": state("g", 90), "h": state("h", 90)}
    views = [ClusterView("c"), ClusterView("c")]
    for view, rules in zip(views, (SeriesRules(), series), strict=True):
        view.take(BucketEvaluator(0, DetectionRules(), rules).rows(groups, TOPICS, orders(1, known=-1)))
    whole, less = views
    assert less.summaries() == whole.summaries()
    text = gzip.decompress(join(less.blocks())).decode()
    assert 'groupwatch_group_lag{cluster="c",group="g"} ' in text
    assert 'group="h"' not in text
    assert "partition_lag" not in text
    assert "partition_lag" in gzip.decompress(join(whole.blocks())).decode()


def test_expectations_are_checked_with_each_verdict_and_a_change_makes_all_of_them_again():
    judge, view, states = BucketEvaluator(0, DetectionRules()), ClusterView("c"), {"g": state("g", 100)}
    three = Expectations((Expectation("g", members=MemberRange(3)),))

    def findings(batch: int) -> list[str]:
        view.take(judge.rows(states, TOPICS, orders(batch, batch - 1)))
        return [each.kind.value for each in view.summary("g").findings]

    assert (findings(0), view.summary("g").expectations, judge.made) == ([], None, 1)
    judge.expect(three)
    assert (findings(1), judge.made) == (["expectation"], 2)
    judge.expect(Expectations((Expectation("g", members=MemberRange(3)),)))
    assert (findings(2), judge.made) == (["expectation"], 2), "the same ones, sent again"
    assert (
        'groupwatch_group_expectation_info{cluster="c",group="g",team="",met="no"} 1'
        in gzip.decompress(join(view.blocks())).decode()
    )
    judge.expect(None)
    assert (findings(3), view.summary("g").expectations, judge.made) == ([], None, 3)


SCALED = DetectionRules(scales=(ScaleEntry("g", ScaleTarget(members_per_replica=1)),))


def test_the_members_of_a_group_are_counted_where_an_entry_asks_for_it():
    fleet = Fleet(even(6, 60.0), [150.0, 150.0]).run(700)
    judge, view = BucketEvaluator(0, SCALED), ClusterView("c")
    groups = {"g": fleet.state, "h": replace(fleet.state, group="h")}
    context = orders(1, known=-1, now_ms=fleet.now_ms)
    view.take(judge.rows(groups, Topics(fleet.catalog), context))
    scaling = view.summary("g").scaling
    assert (scaling.wanted_members, scaling.members, view.summary("h").scaling) == (6, 2, None)
    lines = lines_shown(view, fleet.now_ms)
    assert 'groupwatch_group_wanted_replicas{cluster="c",group="g"} 6' in lines
    assert not [line for line in lines if "wanted" in line and 'group="h"' in line]
    on_demand = VerdictsOnDemand(view, AssignmentViewCache(), Topics(fleet.catalog), fleet.now_ms, SCALED)
    view.take([BucketRow(0, RowKind.GROUP, "g", encode_state(fleet.state))])
    assert on_demand("g").scaling == scaling
    assert scale_plan(on_demand.inputs("g"), SCALED.scales[0].target).scaling.wanted_members == 6


def test_what_was_measured_of_a_group_comes_to_the_driver_and_to_a_worker_that_is_new():
    fleet = Fleet(even(6, 60.0), [150.0, 150.0]).run(200)
    view, judge = ClusterView("c"), BucketEvaluator(0, SCALED)
    view.take(judge.rows({"g": fleet.state}, Topics(fleet.catalog), orders(1, known=-1, now_ms=fleet.now_ms)))
    memory = view.scale_memory("g")
    assert [each.per_s for each in memory.rates] == pytest.approx([150, 150], rel=0.03)
    assert {name: decode_note(note).memory for name, note in view.scale_notes().items()} == {"g": memory}
    fleet.rates, fleet.speeds = even(6, 10.0), [150.0] * 2
    fleet.run(400)
    newer = BucketEvaluator(0, SCALED)
    newer.scaler.begin_again(view.scale_notes())
    view.take(newer.rows({"g": fleet.state}, Topics(fleet.catalog), orders(2, known=1, now_ms=fleet.now_ms)))
    assert view.summary("g").scaling.capacity_per_s == pytest.approx(150, rel=0.03)
    view.take(newer.rows({}, Topics(fleet.catalog), orders(3, known=2, now_ms=fleet.now_ms)))
    assert view.scale_notes() == {}, "of a group that is gone"


def test_a_lower_number_comes_when_it_is_due_though_nothing_happens():
    """The group has read all, and nothing comes in: no record and no poll says that ten minutes have passed."""
    fleet = Fleet(lambda second: [60.0 if second < 200 else 0.0] * 6, [100.0] * 4).run(900)
    topics, view = Topics(fleet.catalog), ClusterView("c")
    judge = BucketEvaluator(0, SCALED)
    rates = (MemberRate(fleet.now_ms, "m00", "", 100.0),)
    judge.scaler.begin_again(as_notes(ScaleMemory(since_ms=fleet.now_ms, rates=rates, latest=4)))
    view.take(judge.rows({"g": fleet.state}, topics, orders(1, known=-1, now_ms=fleet.now_ms)))
    assert view.summary("g").scaling.wanted_members == 4
    assert view.due_ms == fleet.now_ms + 600_000
    view.take(judge.rows({"g": fleet.state}, topics, orders(2, known=1, now_ms=view.due_ms)))
    assert view.summary("g").scaling.wanted_members == 1


def test_a_judge_that_gets_a_bucket_back_goes_on_from_what_the_other_one_remembered():
    """The first needed 3 once. The other has said 6 for 15 minutes: the first must not say 3 then."""
    fleet, view = Fleet(even(6, 60.0), [400.0] * 6).run(900), ClusterView("c")
    judges = [BucketEvaluator(0, SCALED) for _ in range(2)]
    rates = (MemberRate(fleet.now_ms, "m00", "", 200.0),)
    memories = as_notes(ScaleMemory(since_ms=1, rates=rates, latest=3))
    turns = [(judges[0], 30), (judges[1], 30), *[(judges[1], 60)] * 12, (judges[0], 30), (judges[1], 30)]
    told = []
    for batch, (judge, seconds) in enumerate(turns):
        if judge is judges[1] and len(told) == 1:
            fleet.rates = even(6, 120.0)
        if len(told) == 12:
            fleet.rates = even(6, 60.0)
        context = orders(batch + 1, known=batch if told else -1, now_ms=fleet.run(seconds).now_ms)
        if not judge.follows(context):
            judge.scaler.begin_again(view.scale_notes() if told else memories)
        view.take(judge.rows({"g": fleet.state}, Topics(fleet.catalog), context))
        told.append(view.summary("g").scaling.wanted_members)
    assert (told[0], told[3:]) == (3, [6] * (len(told) - 3))


def test_a_group_that_is_not_evaluated_has_no_number_in_its_series():
    """An autoscaler must not act on a number of an hour ago; the other series stay as they were."""
    fleet, view = Fleet(even(6, 60.0), [150.0, 150.0]).run(200), ClusterView("c")
    judge, topics = BucketEvaluator(0, SCALED), Topics(fleet.catalog)
    view.take(judge.rows({"g": fleet.state}, topics, orders(1, known=-1, now_ms=fleet.now_ms)))
    assert [line for line in lines_shown(view, fleet.now_ms) if "_wanted_" in line]
    unread = {0: Unread("Broker 2 does not answer.", fleet.now_ms)}
    context = replace(orders(2, known=1, now_ms=fleet.now_ms + 1_000), log_partitions=1, unread=unread)
    view.take(judge.rows({"g": fleet.state}, topics, context))
    lines = lines_shown(view, fleet.now_ms)
    assert not [line for line in lines if "_wanted_" in line or "_drain_" in line or "_scale_hold" in line]
    assert [line for line in lines if line.startswith("groupwatch_group_lag{")]


def test_workers_that_take_turns_make_one_number_a_pass():
    """A pass is that of second 200, the next that of 220. Each worker takes over what the other one has made."""
    fleet, view = Fleet(even(6, 60.0), [150.0, 150.0]).run(200), ClusterView("c")
    judges = [BucketEvaluator(0, SCALED) for _ in range(2)]
    notes = []
    for batch in range(7):
        judge, context = judges[batch % 2], orders(batch + 1, known=batch if batch else -1, now_ms=fleet.now_ms)
        judge.scaler.begin_again(view.scale_notes())
        view.take(judge.rows({"g": fleet.state}, Topics(fleet.catalog), context))
        notes.append(view.scale_notes()["g"])
        fleet.run(4)
    assert [decode_note(note).looked_ms - ASSIGNED for note in notes] == [200_000] * 5 + [220_000] * 2


def test_what_is_remembered_of_a_group_that_cannot_be_read_stays_with_a_worker_that_is_new():
    """Its broker is away, so the new worker does not evaluate it. The group is not gone."""
    fleet, view = Fleet(even(6, 60.0), [150.0, 150.0]).run(200), ClusterView("c")
    topics = Topics(fleet.catalog)
    view.take(BucketEvaluator(0, SCALED).rows({"g": fleet.state}, topics, orders(1, known=-1, now_ms=fleet.now_ms)))
    remembered = view.scale_notes()
    newer = BucketEvaluator(0, SCALED)
    newer.scaler.begin_again(remembered)
    unread = {0: Unread("Broker 2 does not answer.", fleet.now_ms, was_read=False)}
    context = replace(orders(2, known=-1, now_ms=fleet.now_ms + 1_000), log_partitions=1, unread=unread)
    whole = BucketRow(0, RowKind.WHOLE, "", b"")
    view.take([whole, *newer.rows({"g": fleet.state}, topics, context)])
    assert view.summary("g").unjudged
    assert view.scale_notes() == remembered != {}


def test_no_number_counts_that_is_older_than_five_minutes_in_which_the_group_could_not_be_read():
    """Its members may be others by then. How fast they read stays."""
    fleet, view = Fleet(even(6, 60.0), [150.0, 150.0]).run(200), ClusterView("c")
    topics, judge = Topics(fleet.catalog), BucketEvaluator(0, SCALED)
    view.take(judge.rows({"g": fleet.state}, topics, orders(1, known=-1, now_ms=fleet.now_ms)))
    before = view.scale_memory("g")
    unread = {0: Unread("Broker 2 does not answer.", fleet.now_ms)}
    for batch, (away_ms, left) in enumerate([(300_000, before), (300_001, ScaleMemory(rates=before.rates))], 2):
        now_ms = fleet.now_ms + away_ms
        context = replace(orders(batch, known=batch - 1, now_ms=now_ms), log_partitions=1, unread=unread)
        view.take(judge.rows({"g": fleet.state}, topics, context))
        assert view.scale_memory("g") == left
    assert before.latest is not None


def test_nothing_is_remembered_of_groups_that_are_gone_or_whose_members_are_not_counted():
    fleet, view = Fleet(even(6, 60.0), [150.0, 150.0]).run(200), ClusterView("c")
    topics, groups = Topics(fleet.catalog), {name: replace(fleet.state, group=name) for name in "gh"}
    judge = BucketEvaluator(0, SCALED)
    judge.scaler.begin_again(notes_on(dict.fromkeys("gh", ScaleMemory(since_ms=1, latest=3))))
    view.take(judge.rows(groups, topics, orders(1, known=-1, now_ms=fleet.now_ms)))
    assert view.scale_notes().keys() == {"g"}
    view.take(judge.rows({}, topics, orders(2, known=1, now_ms=fleet.now_ms)))
    assert view.scale_notes() == {}
    view.take(judge.rows(groups, topics, orders(3, known=2, now_ms=fleet.now_ms)))
    assert view.scale_notes().keys() == {"g"}, "it is back"
    assert view.scale_memory("g").since_ms == fleet.now_ms, "and new"
    view.take(BucketEvaluator(0, SCALED).rows({}, topics, orders(4, known=3, now_ms=fleet.now_ms)))
    assert view.scale_notes() == {}, "it went in the turn of a worker that has not seen it"
    view.take(judge.rows(groups, topics, orders(5, known=4, now_ms=fleet.now_ms)))
    view.take([BucketRow(0, RowKind.GROUP, "g", None)])
    assert view.scale_notes() == {}


def test_a_fault_in_the_number_leaves_the_verdict(monkeypatch):
    def fail(*_: object) -> None:
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr(scaling_verdicts, "judge_scaling", fail)
    fleet, view = Fleet(even(6, 60.0), [150.0, 150.0]).run(200), ClusterView("c")
    judge = BucketEvaluator(0, SCALED)
    view.take(judge.rows({"g": fleet.state}, Topics(fleet.catalog), orders(1, known=-1, now_ms=fleet.now_ms)))
    found = view.summary("g")
    assert (found.unjudged, found.lag is not None, found.scaling.wanted_members) == (None, True, None)
    assert found.scaling.sentence == "The number cannot be calculated (ZeroDivisionError: float division by zero)."
