"""A recording goes on with the cluster that it is of, and with no other of the same name."""

from __future__ import annotations

from monitor.history.identity import encode_ids, replaced_reason

FIRST = {"cluster_id": "k1", "log_id": "l1", "events_id": "e1"}


def test_the_same_cluster_goes_on():
    assert replaced_reason([], FIRST) is None
    assert replaced_reason([None, encode_ids(FIRST)], FIRST) is None


def test_an_id_that_becomes_known_refuses_nothing():
    assert replaced_reason([encode_ids(FIRST)], FIRST | {"source_id": "s"}) is None
    assert replaced_reason([encode_ids(FIRST | {"source_id": "s"})], FIRST) is None


def test_an_events_topic_that_a_collector_created_again_refuses_nothing():
    assert replaced_reason([encode_ids(FIRST)], FIRST | {"events_id": "new"}) is None


def test_another_cluster_or_a_topic_that_was_recreated_is_refused():
    start = "it has the recording of another Kafka cluster or topic"
    for name, before in (("cluster_id", "k1"), ("log_id", "l1")):
        reason = replaced_reason([encode_ids(FIRST)], FIRST | {name: "new"})
        assert reason == f"{start} ({name} {before}, now new); set another [history] folder"
