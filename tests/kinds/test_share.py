"""How far a share group is in a partition: KIP-1226, and where the start of the log has passed it."""

import pytest

from monitor.kinds.share import ArchivedCounts, LastTries, archived_counts, last_tries, share_progress
from monitor.model import ArchivedRecords, DeliveredSince, ShareBatch, SharePartition

WAITS, DONE, ARCHIVED = 0, 2, 4


def partition(start=None, count=None, *batches, **fields):
    """Batches as (first, last, state, deliveries)."""
    return SharePartition("t", 0, start, count, tuple(ShareBatch(*each) for each in batches), **fields)


DRAINED = partition(24, 7, (24, 30, DONE, 1))
"""All 31 records are accepted: the start offset is the one before the newest answer."""
OLDER = partition(5, None, (5, 9, DONE, 1), (10, 11, WAITS, 1))
HOLES = partition(31, 3, (31, 31, ARCHIVED, 1), (32, 32, DONE, 1), (33, 33, WAITS, 1), (34, 34, ARCHIVED, 3))


@pytest.mark.parametrize(
    ("known", "end", "log_start", "expected"),
    [
        pytest.param(partition(), 31, 0, (None, None, None), id="it has answered for nothing yet"),
        pytest.param(DRAINED, 31, 0, (0, 0, None), id="everything is accepted, and the start stands behind it"),
        pytest.param(DRAINED, 40, 0, (9, 9, 31), id="nine more records"),
        pytest.param(DRAINED, None, 0, (None, None, None), id="the end is not known"),
        pytest.param(DRAINED, 40, None, (9, 9, 31), id="the start of the log is not known"),
        pytest.param(DRAINED, 20, 0, (0, 0, None), id="the end is older than the state"),
        pytest.param(HOLES, 40, 0, (6, 6, 33), id="one waits among those that are done with"),
        pytest.param(HOLES, 40, 34, (5, 6, 35), id="the log begins behind what waits: Kafka counts it on"),
        pytest.param(HOLES, 40, 38, (2, 6, 38), id="the log begins behind all that is known"),
        pytest.param(HOLES, 40, 40, (0, 6, None), id="everything was cut"),
        pytest.param(OLDER, 20, 0, (10, None, 10), id="before Kafka 4.2"),
        pytest.param(partition(5, 0, (8, 9, DONE, 1)), 20, 0, (15, 15, 5), id="handed out, and not answered for"),
    ],
)
def test_lag_as_it_is_and_as_kafka_counts_it_and_the_first_record_that_waits(known, end, log_start, expected):
    found = share_progress(known, end, log_start)
    assert (found.lag, found.kafka_lag, found.first_waiting) == expected


@pytest.mark.parametrize(
    ("log_start", "waiting", "most", "lost"),
    [(0, 4, 3, 0), (12, 2, 3, 2), (13, 1, 1, 3), (20, 0, 0, 8)],
)
def test_what_waits_for_another_delivery_and_what_retention_took(log_start, waiting, most, lost):
    """Records 10 to 13 have been delivered, 15 and 16 are done with; records 14 and 17 on have no answer yet."""
    known = partition(10, 2, (10, 12, WAITS, 3), (13, 13, WAITS, 1), (14, 14, WAITS, 0), (15, 16, DONE, 1))
    found = share_progress(known, 30, log_start)
    assert (found.waiting_redelivery, found.max_deliveries, found.lost) == (waiting, most, lost)


def test_records_before_their_last_delivery():
    known = partition(
        10,
        0,
        (10, 12, WAITS, 4),
        (13, 13, WAITS, 2),
        (14, 14, DONE, 4),
        (15, 15, WAITS, 5),
        waiting=(DeliveredSince(2, 50), DeliveredSince(4, 70), DeliveredSince(5, 60)),
    )
    assert last_tries(known, limit=5) == LastTries(records=4, offsets=(10, 11, 12, 15), since_ms=60)
    assert last_tries(known, limit=5, log_start=12, most=1) == LastTries(records=2, offsets=(12,), since_ms=60)
    assert last_tries(known, limit=7) == LastTries()


def test_given_up_and_rejected_are_told_apart_by_the_limit():
    known = partition(
        archived=(ArchivedRecords(1, 7, 30, 1), ArchivedRecords(3, 2, 90, 5), ArchivedRecords(4, 1, 40, 9)),
    )
    assert archived_counts(known.archived, limit=3) == ArchivedCounts(
        given_up=3, rejected=7, newest_given_up=40, given_up_ms=9
    )
    assert archived_counts(known.archived, limit=5) == ArchivedCounts(rejected=10)


def test_what_was_archived_is_told_apart_by_the_limit_of_then():
    archived = (ArchivedRecords(3, 2, 90, 5, limit=3), ArchivedRecords(3, 7, 30, 1, limit=5))
    told = ArchivedCounts(given_up=2, rejected=7, newest_given_up=90, given_up_ms=5)
    assert archived_counts(archived, limit=2) == archived_counts(archived, limit=9) == told
