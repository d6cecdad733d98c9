"""The offsets topic of a real broker grows, and the broker is restarted: groups are then as the broker has them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import pytest
from kafka import KafkaAdminClient
from kafka.admin import NewPartitions
from kafka.errors import KafkaError

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.brokers import SOON_BACK
from tests.support.clients import commit, create_topic, produce
from tests.support.job_process import JobProcess, eventually, running

pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),  # kafka-python leaves those of failed connections
]

COMMITTED: Final = "groupwatch_partition_committed_offset"
STAYING: Final = "i"
"""Its hash code is 105, which is a multiple of three and of seven."""
GROUPS: Final = (*[f"group-{number}" for number in range(9)], STAYING)


@pytest.fixture
def kafka() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(BrokerSettings(heap_mb=384, offsets_topic_partitions=3, properties=SOON_BACK)) as broker:
        create_topic(broker.bootstrap_servers, "read", 1)
        produce(broker.bootstrap_servers, "read", {0: 9})
        for group in GROUPS:
            commit(broker.bootstrap_servers, group, "read", {0: 2})
        yield broker


@pytest.mark.long  # two starts of the job and two of the broker; the parts have tests of their own
def test_groups_whose_place_moved_are_as_the_broker_has_them_and_told_in_one_sentence(
    kafka: EmbeddedKafka, tmp_path: Path
):
    with running(JobProcess(tmp_path, {"test": {"bootstrap_servers": kafka.bootstrap_servers}})) as job:
        eventually(lambda: len(shown(job)) == len(GROUPS) or None, "all groups")
        with closing(KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers)) as admin:
            admin.create_partitions({"__consumer_offsets": NewPartitions(7)})
        assert job.stop() == 0
        job.start()
        job.await_ready()
        for group in GROUPS:  # the broker goes on with three partitions
            commit(kafka.bootstrap_servers, group, "read", {0: 3})
        eventually(lambda: shown(job) == dict.fromkeys(GROUPS, 3) or None, "what is placed by the former number")
        assert sentences(job) == []

        kafka.kill()
        kafka.start()
        lost = sorted(set(GROUPS) - eventually(lambda: offsets_by_the_broker(kafka), "its coordinators").keys())
        assert len(lost) > 2
        assert STAYING not in lost
        for group in (*lost[:2], *set(GROUPS) - set(lost)):
            commit(kafka.bootstrap_servers, group, "read", {0: 9})
        after = dict.fromkeys((*lost[:2], *set(GROUPS) - set(lost)), 9)
        assert offsets_by_the_broker(kafka) == after
        eventually(lambda: shown(job) == after or None, "the groups as the broker has them")
        (sentence,) = sentences(job)
        assert sentence.startswith(
            f"__consumer_offsets grew from 3 to 7 partitions, so {len(lost)} of 10 groups lost their committed offsets:"
        )
        assert job.log().count("grew from 3 to 7 partitions") == 1
        assert json.loads(job.get("/api/v1/findings")) == []


def shown(job: JobProcess) -> dict[str, float]:
    """The committed offset of each group."""
    return {sample.labels["group"]: sample.value for sample in job.metrics().all(COMMITTED)}


def sentences(job: JobProcess) -> list[str]:
    """What is found of the cluster itself."""
    (cluster,) = json.loads(job.get("/api/v1/clusters"))
    return [each["sentence"] for each in cluster.get("findings", ())]


def offsets_by_the_broker(kafka: EmbeddedKafka) -> dict[str, int] | None:
    """The committed offsets that it knows; None: it is still loading some of them."""
    with closing(KafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers)) as admin, suppress(KafkaError):
        found = admin.list_group_offsets(dict.fromkeys(GROUPS))
        return {group: committed.offset for group, own in found.items() for committed in own.values()}
    return None
