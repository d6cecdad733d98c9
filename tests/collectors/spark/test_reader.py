"""Queries of Spark as groups: the checkpoint of a real query, and checkpoints that something has happened to."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from monitor.collectors.spark.reader import LARGEST_FILE, SparkCheckpointReader
from monitor.config.systems import SparkQueriesSettings
from monitor.detection import DetectionSettings, evaluate
from monitor.model import (
    Catalog,
    EndOffsetAt,
    FindingKind,
    GroupKind,
    GroupsListed,
    PartitionState,
    Phase,
    Source,
    TopicState,
)
from monitor.tracking.group import fold_group
from monitor.tracking.polled.group import is_deleted

CAPTURE = Path(__file__).parents[2] / "fixtures" / "spark-checkpoint"
BATCH_MS = 1795340552480
"""When the newest batch of the capture began."""

NEWEST = [("clicks", 0, 4), ("clicks", 1, 2), ("clicks", 2, 3), ("views", 0, 5)]
BEFORE = [("clicks", 0, 4), ("clicks", 1, 2), ("clicks", 2, 0), ("views", 0, 5)]


@pytest.fixture
def checkpoint(tmp_path):
    copied = Path(shutil.copytree(CAPTURE, tmp_path / "checkpoint"))
    for name in (".2.crc", ".3.6f1a.tmp"):  # what Spark leaves beside its files
        (copied / "commits" / name).write_bytes(b"crc\0")
    return copied


def reader(**checkpoints: object) -> SparkCheckpointReader:
    settings = SparkQueriesSettings(
        name="queries", cluster="prod", checkpoints={k: str(v) for k, v in checkpoints.items()}
    )
    return SparkCheckpointReader(settings, clock=lambda: 5_000)


def offsets(reading):
    (group,) = reading.groups
    return [(each.topic, each.partition, each.offset) for each in group.offsets]


def test_a_query_is_a_group_without_members_as_far_as_its_newest_committed_batch(checkpoint):
    reading = reader(etl=checkpoint).read(4_000)
    (group,) = reading.groups
    assert (group.cluster, group.group, group.kind, group.source) == ("prod", "etl", GroupKind.SPARK, Source.CHECKPOINT)
    assert (group.pass_ms, group.observed_ms, group.members) == (4_000, 5_000, ())
    assert offsets(reading) == NEWEST
    assert {each.committed_ms for each in group.offsets} == {BATCH_MS}
    assert (reading.complete, reading.problems, reading.listed, reading.topics) == (True, (), ("etl",), ())


@pytest.mark.parametrize("uri", ["file://{}", "file:{}", "{}/"])
def test_a_checkpoint_may_be_named_by_its_uri(checkpoint, uri):
    assert offsets(reader(etl=uri.format(checkpoint)).read(1)) == NEWEST


def test_a_batch_that_is_not_committed_does_not_count(checkpoint):
    (checkpoint / "commits" / "2").unlink()
    assert offsets(reader(etl=checkpoint).read(1)) == BEFORE


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (lambda file: file.unlink(), "is missing although its batch is committed"),
        (lambda file: file.write_bytes(file.read_bytes()[:-3]), "not a readable offset log (bad_json"),
        (lambda file: file.write_bytes(b""), "(underflow"),
        (lambda file: file.write_bytes(b"v1\n" + b"x" * LARGEST_FILE), "more than 32 MB"),
    ],
)
def test_where_the_newest_cannot_be_read_the_batch_before_it_counts_and_it_is_said(checkpoint, harm, says):
    harm(checkpoint / "offsets" / "2")
    reading = reader(etl=checkpoint).read(1)
    assert offsets(reading) == BEFORE
    (problem,) = reading.problems
    assert problem.startswith("Spark query 'etl': ")
    assert says in problem


def test_a_checkpoint_that_cannot_be_read_hides_no_other_and_its_group_stays(checkpoint, tmp_path):
    reading = reader(etl=checkpoint, gone=tmp_path / "nowhere", remote="s3a://bucket/checkpoint").read(9_000)
    assert [group.group for group in reading.groups] == ["etl"]
    assert not reading.complete
    gone, remote = reading.problems
    assert "nowhere/commits cannot be read (No such file or directory)" in gone
    assert "not on a file system of this machine" in remote
    listing = GroupsListed(
        cluster="prod", source=reading.source, pass_ms=9_000, completed_ms=9_000, groups=reading.listed or ()
    )
    state = fold_group("prod", "gone", None, reader(gone=checkpoint).read(1).groups)
    assert not is_deleted(state, listing, frozenset(listing.groups))


def test_a_query_that_has_not_committed_yet_is_no_group_and_no_problem(checkpoint):
    for file in (checkpoint / "commits").iterdir():
        file.unlink()
    reading = reader(etl=checkpoint).read(1)
    assert (reading.groups, reading.problems) == ((), ())


def test_a_name_from_the_settings_is_shown_harmlessly(tmp_path):
    (problem,) = reader(**{"a\nb": tmp_path}).read(1).problems
    assert "'a\\nb'" in problem


# --- what is said of such a group -------------------------------------------------------------------------------------


def ends(**offsets: tuple[int, ...]) -> Catalog:
    """Topics whose partitions have ended there ever since the batch began."""
    topics = {}
    for topic, own in offsets.items():
        known = [
            PartitionState(
                partition=number,
                first_seen_ms=BATCH_MS,
                earliest=0,
                end=end,
                ends=tuple(EndOffsetAt(BATCH_MS + each, end) for each in (0, 60_000, 120_000, 180_000)),
            )
            for number, end in enumerate(own)
        ]
        topics[topic] = TopicState(
            cluster="prod", topic=topic, pass_ms=BATCH_MS, partitions=tuple(known), observed_ms=BATCH_MS + 180_000
        )
    return Catalog(cluster="prod", pass_ms=BATCH_MS, topics=topics)


def verdict(checkpoint, catalog, later_ms):
    """Of a checkpoint that has just been read."""
    state = fold_group("prod", "etl", None, reader(etl=checkpoint).read(BATCH_MS + later_ms).groups)
    assert state is not None
    return evaluate(state, catalog, BATCH_MS + later_ms, DetectionSettings())


def test_a_query_that_has_read_everything_is_fine_without_members(checkpoint):
    said = verdict(checkpoint, ends(clicks=(4, 2, 3), views=(5,)), 600_000)
    assert (said.kind, said.state, said.findings, said.lag) == (GroupKind.SPARK, Phase.OFFSETS_ONLY, (), 0)


def test_a_query_that_has_stopped_is_told_by_its_offsets_and_not_as_unattended(checkpoint):
    said = verdict(checkpoint, ends(clicks=(14, 2, 3), views=(5,)), 600_000)
    assert said.lag == 10
    assert {finding.kind for finding in said.findings} == {FindingKind.LAG}
    assert verdict(checkpoint, ends(clicks=(14, 2, 3), views=(5,)), 30_000).findings == (), "it has only just committed"


def test_a_query_that_begins_anew_is_a_rewind(checkpoint):
    state = fold_group("prod", "etl", None, reader(etl=checkpoint).read(1).groups)
    for number in ("1", "2"):
        (checkpoint / "commits" / number).unlink()
    (checkpoint / "offsets" / "0").write_text('v1\n{"batchTimestampMs":1795340600000}\n{"clicks":{"0":1,"1":2,"2":3}}')
    after = fold_group("prod", "etl", state, reader(etl=checkpoint).read(6_000).groups)
    assert after is not None
    assert (after.offsets[0].offset, after.offsets[0].rewinds, after.redelivered_records) == (1, 1, 3)
    assert len(after.offsets) == 3, "what it no longer reads is forgotten"


def test_an_address_that_is_none_is_told_and_hides_no_other(checkpoint):
    reading = reader(etl=checkpoint, odd="hdfs://[x").read(9_000)
    assert [group.group for group in reading.groups] == ["etl"]
    (problem,) = reading.problems
    assert "is neither a path nor a URI" in problem
