"""A group that is looked at is judged anew, but its assignor is not asked again while nothing has changed."""

from msgspec.structs import replace

from monitor.detection.evaluate import evaluate
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.tracking.serialization import encode_state
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.driver.verdict_on_demand import MAX_CACHED_GROUPS, AssignmentViewCache, VerdictsOnDemand
from streaming_jobs.ingest.schemas import BucketRow, RowKind
from tests.support.builders import NOW, catalog, commit, group, range_by_hand, topic

MEMBERS = range_by_hand({"C0": ["a"], "C1": ["a"]}, {"a": 2})
CATALOG = catalog(topic("a", 2))
SETTINGS = DetectionSettings()


def told(view: ClusterView, name: str, offset: int = 90):
    state = replace(group(*MEMBERS, offsets=[commit("a", 0, offset)]), group=name)
    view.take([BucketRow(0, RowKind.GROUP, name, encode_state(state))])
    return state


def test_the_verdict_is_the_newest_and_the_standing_is_made_once():
    view, views = ClusterView("c"), AssignmentViewCache()
    for offset in (90, 95):
        state = told(view, "g", offset)
        evaluation = VerdictsOnDemand(view, views, Topics(CATALOG), NOW, DetectionRules(default=SETTINGS))
        assert evaluation("g") == evaluation("g") == evaluate(state, CATALOG, NOW, SETTINGS)
    assert views.standings.made == 1
    told_members = replace(state, generation_ms=state.generation_ms + 1)
    view.take([BucketRow(0, RowKind.GROUP, "g", encode_state(told_members))])
    assert evaluation("g") == evaluate(told_members, CATALOG, NOW, SETTINGS)
    assert views.standings.made == 2


def test_a_group_that_is_not_there_has_no_verdict():
    assert (
        VerdictsOnDemand(
            ClusterView("c"), AssignmentViewCache(), Topics(CATALOG), NOW, DetectionRules(default=SETTINGS)
        )("g")
        is None
    )


def test_who_looks_at_all_groups_does_not_fill_the_memory():
    view, views = ClusterView("c"), AssignmentViewCache()
    names = [f"g{number}" for number in range(MAX_CACHED_GROUPS + 1)]
    evaluation = VerdictsOnDemand(view, views, Topics(CATALOG), NOW, DetectionRules(default=SETTINGS))
    for name in names:
        told(view, name)
        evaluation(name)
    evaluation(names[-1])
    assert views.standings.made == len(names)
    evaluation(names[0])
    assert views.standings.made == len(names) + 1
