"""Groups are judged by topics that a pass of this run has seen, however the clocks stand."""

import pytest

from monitor.model import Catalog
from monitor.readiness.first_pass import FirstPass

HOUR = 3_600_000


def catalog(pass_ms: int) -> Catalog:
    return Catalog(cluster="c", pass_ms=pass_ms)


@pytest.mark.parametrize("pass_ms", [HOUR, 3 * HOUR], ids=["the clock was set back since", "as time goes"])
def test_the_own_collectors_pass_is_among_what_was_written_when_the_query_started(pass_ms):
    """An earlier job's pass began at 2 h by the clock of its time; its catalog is in the state."""
    passes = FirstPass({0: 50}, own=True)
    passes.advance({0: 49}, catalog(2 * HOUR))
    assert not passes.seen
    passes.advance({0: 50}, catalog(pass_ms))
    assert passes.seen
    passes.advance({0: 60}, catalog(pass_ms + 10_000))
    assert passes.seen


@pytest.mark.parametrize("pass_ms", [HOUR, 3 * HOUR], ids=["another machine's clock is behind", "as time goes"])
def test_of_another_jobs_passes_one_more_has_to_come(pass_ms):
    """The last one that stands in the log may be as old as the death of the job that wrote it."""
    passes = FirstPass({0: 50}, own=False)
    for read in (40, 50, 50):
        passes.advance({0: read}, catalog(2 * HOUR))
        assert not passes.seen
    passes.advance({0: 60}, catalog(2 * HOUR))  # topics of the next pass, which is not complete
    assert not passes.seen
    passes.advance({0: 61}, catalog(pass_ms))
    assert passes.seen


def test_before_anything_was_ever_listed_the_first_pass_to_come_counts():
    passes = FirstPass({0: 0}, own=False)
    passes.advance({}, None)
    assert not passes.seen
    passes.advance({0: 3}, catalog(HOUR))
    assert passes.seen


def test_where_groups_and_topics_come_by_the_same_readings_one_more_is_enough_though_it_is_incomplete():
    passes = FirstPass({0: 50}, own=False, by_readings=True)
    passes.advance({0: 40}, catalog(2 * HOUR), readings=1)
    passes.advance({0: 50}, catalog(2 * HOUR), readings=2)
    assert not passes.seen
    passes.advance({0: 60}, catalog(2 * HOUR), readings=3)
    assert passes.seen


def test_of_a_kafka_cluster_readings_of_its_groups_tell_nothing_of_its_topics():
    passes = FirstPass({0: 50}, own=False)
    passes.advance({0: 50}, catalog(2 * HOUR), readings=2)
    passes.advance({0: 60}, catalog(2 * HOUR), readings=3)
    assert not passes.seen
