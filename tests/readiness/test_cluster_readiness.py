"""Groups are evaluated once nothing is missing, and what is missing has an order."""

from monitor.model import Catalog
from monitor.readiness.cluster_readiness import ClusterReadiness, Missing
from monitor.readiness.first_pass import FirstPass
from monitor.readiness.freshness import LEAST_MS, Freshness
from monitor.readiness.warm_up import WarmUp

TOPICS = Catalog(cluster="c", pass_ms=1)


def readiness(freshness: Freshness | None = None, *, resumed: bool = False) -> ClusterReadiness:
    """A cluster with a backlog of five offsets, whose collector ended its first pass at offset 3 of the events."""
    return ClusterReadiness(WarmUp(begin={0: 0}, target={0: 5}), FirstPass({0: 3}, own=True), freshness, resumed)


def test_the_backlog_is_awaited_first_and_then_the_topics():
    own = readiness()
    own.first_pass.advance({0: 3}, TOPICS)
    assert own.missing(0, 0) is Missing.BACKLOG
    own.warm_up.advance({0: 5})
    assert own.missing(0, 0) is None
    other = readiness()
    other.warm_up.advance({0: 5})
    assert other.missing(0, 0) is Missing.TOPICS


def test_groups_that_come_by_polls_are_missing_again_once_no_poll_comes():
    own = readiness(Freshness(interval_ms=1_000, mark=lambda read: read))
    own.first_pass.advance({0: 3}, TOPICS)
    own.warm_up.advance({0: 5})
    assert own.missing(1, 0) is None
    assert own.lateness is None
    assert own.missing(1, LEAST_MS + 1) is Missing.READINGS
    assert own.lateness == "no poll of its groups has arrived for 30 s"
    assert own.missing(2, LEAST_MS + 2) is None
    assert own.lateness is None


def test_a_backlog_that_gave_no_record_is_no_evaluation_but_of_a_job_that_goes_on():
    fresh, resumed = readiness(), readiness(resumed=True)
    for each in (fresh, resumed):
        each.warm_up.advance({0: 5})
    assert (fresh.has_read_nothing(), resumed.has_read_nothing()) == (True, False)
    assert (fresh.is_believable(0), fresh.is_believable(1), resumed.is_believable(0)) == (False, True, True)
    assert (fresh.is_polled, readiness(Freshness(1_000, mark=bool)).is_polled) == (False, True)
