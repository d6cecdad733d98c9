"""The board gives what was put on it; what cannot be judged is an error that says why."""

import gzip
import threading
from itertools import count

import msgspec
import pytest

from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.metrics.age_instants import deflated_samples
from monitor.model import Catalog, ClusterSnapshot, Finding, FindingKind, GroupSummary, PackedBlock, Phase
from monitor.model.ended_findings import EndedFinding, EndedLately
from monitor.snapshot_file import NotJudgedError
from monitor.tracking.serialization import encode_state
from monitor.web.views.lag_history import LagPoint
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.driver.growing_ages import GrowingAges
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.driver.verdict_on_demand import AssignmentViewCache, VerdictsOnDemand
from streaming_jobs.ingest.schemas import BucketRow, RowKind
from tests.support.builders import group
from tests.support.job_process import eventually


def test_a_group_whose_state_cannot_be_read_is_an_error_with_the_reason():
    view = ClusterView("c")
    view.take([BucketRow(0, RowKind.GROUP, "g", b"no state")])

    store = SnapshotStore(["c"])
    assert store.inputs("c") is None
    store.publish(
        ClusterSnapshot(cluster="c", ready=True),
        VerdictsOnDemand(view, AssignmentViewCache(), Topics(Catalog(cluster="c", pass_ms=1)), 2, DetectionSettings()),
    )
    assert store.verdict("c", "absent") is None
    assert store.verdict("elsewhere", "g") is None
    with pytest.raises(NotJudgedError, match=r"^StateCorruptError: "):
        store.verdict("c", "g")
    inputs = store.inputs("c")
    assert inputs is not None
    assert inputs.inputs("absent") is None
    with pytest.raises(NotJudgedError, match=r"^StateCorruptError: "):
        inputs.inputs("g")


def test_what_is_published_of_a_cluster_keeps_its_carrier():
    """What was served before a restart has none."""
    store = SnapshotStore(["c", "own"], carriers={"c": "monitoring"})
    store.publish(ClusterSnapshot(cluster="c", ready=True))
    assert {each.cluster: each.carrier for each in store.read().clusters} == {"c": "monitoring", "own": None}


def test_the_lag_of_a_group_is_remembered_every_15_s_of_what_was_judged():
    store = SnapshotStore(["c"])
    judge = VerdictsOnDemand(
        ClusterView("c"), AssignmentViewCache(), Topics(Catalog(cluster="c", pass_ms=1)), 2, DetectionSettings()
    )
    lags = {0: 7, 5_000: 8, 15_000: 9, 45_000: 10}
    for at_ms, lag in lags.items():
        groups = (GroupSummary("c", "g", "kafka-classic", Phase.STABLE, None, 1, lag, ()),)
        shown = ClusterSnapshot(cluster="c", ready=True, evaluated_ms=at_ms, groups=groups)
        store.publish(shown, judge)
        store.publish(msgspec.structs.replace(shown, evaluated_ms=at_ms + 20_000), None)
    assert store.history("c", "g") == (LagPoint(0, 7), LagPoint(15_000, 9), LagPoint(45_000, 10))
    assert store.history("c", "absent") == store.history("elsewhere", "g") == ()


def test_what_ended_lately_goes_with_a_cluster_and_with_what_explains_its_group():
    view = ClusterView("c")
    view.take([BucketRow(0, RowKind.GROUP, "g", encode_state(group()))])
    judge = VerdictsOnDemand(view, AssignmentViewCache(), Topics(Catalog(cluster="c", pass_ms=1)), 2, DetectionRules())
    finding = Finding(FindingKind.DRIFT, "replayed", 1_000, "Astray.")
    calm = GroupSummary("c", "g", "kafka-classic", Phase.STABLE, None, 1, 0, ())
    store = SnapshotStore(["c"])
    for at_ms, findings in ((3_600_000, (finding,)), (3_700_000, ())):
        groups = (msgspec.structs.replace(calm, findings=findings),)
        store.publish(ClusterSnapshot(cluster="c", ready=True, evaluated_ms=at_ms, groups=groups), judge)
    known = EndedLately(3_600_000, (EndedFinding("g", FindingKind.DRIFT, "replayed", 1_000, 3_700_000, "Astray."),))
    assert store.of("c").ended == known
    store.publish(store.of("c"), None)
    assert store.read().clusters[0].ended == known
    inputs = store.inputs("c")
    assert inputs is not None
    found = inputs.inputs("g")
    assert found is not None
    assert found.ended == known


def lagging(evaluated_ms: int) -> ClusterSnapshot:
    """A group whose lag is one second old then."""
    line = f'groupwatch_group_lag_seconds{{cluster="c",group="g"}} @{evaluated_ms - 1_000}\n'
    blocks = (PackedBlock("groupwatch_group_lag_seconds", deflated_samples(line)),)
    return ClusterSnapshot(cluster="c", ready=True, evaluated_ms=evaluated_ms, blocks=blocks)


def age_in(store: SnapshotStore) -> str:
    text = gzip.decompress(store.read().metrics_gzip).decode()
    (line,) = [each for each in text.splitlines() if each.startswith("groupwatch_group_lag_seconds{")]
    return line.rpartition(" ")[2]


def test_ages_grow_without_an_evaluation():
    now = [10_000]
    store = SnapshotStore(["c"], clock=lambda: now[0])
    store.publish(lagging(10_000))
    assert age_in(store) == "1"
    now[0] += 7_000
    assert age_in(store) == "1", "a scrape makes no text"
    store.grow_ages()
    assert age_in(store) == "8"


def test_where_no_age_grows_nothing_is_written():
    store = SnapshotStore(["c"])
    before = store.read()
    store.grow_ages()
    assert store.read() is before


def test_ages_are_written_once_somebody_has_read_them():
    ticks = count(10_000, 1_000_000)
    store, stopped = SnapshotStore(["c"], clock=lambda: next(ticks)), threading.Event()
    store.publish(lagging(10_000))
    first = store.read()
    GrowingAges(store, stopped, pause_s=0.01).start()
    try:
        assert not stopped.wait(0.2)
        assert store.read() is first, "nobody has read"
        store.process.observe_scrape(0.001)
        eventually(lambda: store.read() is not first, "ages that have grown")
        second = store.read()
        eventually(lambda: store.read() is not second, "ages for the next scrape")
    finally:
        stopped.set()
