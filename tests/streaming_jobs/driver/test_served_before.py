"""What was served last comes back after a restart, but only as it was, and only where it still means the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from monitor.config import ClusterSettings, DetectionOptions, MetricsSettings, Settings, SparkSettings
from monitor.model import ClusterSnapshot, Finding, FindingKind, GroupSummary, PackedBlock, Phase
from monitor.model.snapshots import Deflated
from streaming_jobs.driver.served_before import AHEAD_MS, FILE, OLDEST_MS, serve_again, served_before
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.runtime.clock import now_ms

EVALUATED_MS = 1_000_000
BLOCK = PackedBlock("groupwatch_partition_lag", Deflated(b"\x00", 1, 2, 3), "g", 4)
FINDING = Finding(kind=FindingKind.LAG, reason="not_committing", since_ms=5, sentence="as told")
SHOWN = ClusterSnapshot(
    cluster="a b",
    ready=True,
    evaluated_ms=EVALUATED_MS,
    groups=(GroupSummary("a b", "g", "kafka-classic", Phase.STABLE, "range", 1, 7, (FINDING,)),),
    blocks=(BLOCK,),
    problem="No broker answers.",
)


def settings(root: Path | str, detail: str = "partition", burrow_allowed_lag: int = 0) -> Settings:
    return Settings(
        spark=SparkSettings(checkpoint=str(root)),
        metrics=MetricsSettings(detail=detail),
        detection=DetectionOptions(burrow_allowed_lag=burrow_allowed_lag),
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a%20b").mkdir()
    return tmp_path


def test_groups_and_series_come_back_and_are_not_ready(root: Path):
    served_before(settings(root)).keep(SHOWN)
    found = served_before(settings(root)).read("a b", EVALUATED_MS + OLDEST_MS)
    assert found is not None
    assert found == replace(SHOWN, ready=False, problem=None)
    assert found.is_restored
    assert [each.name for each in (root / "a%20b").iterdir()] == [FILE]


@pytest.mark.parametrize("other", [{"detail": "group"}, {"burrow_allowed_lag": 5}])
def test_what_other_settings_made_does_not_come_back(root: Path, other: dict[str, object]):
    served_before(settings(root)).keep(SHOWN)
    assert served_before(settings(root, **other)).read("a b", EVALUATED_MS) is None


@pytest.mark.parametrize(
    ("kept", "now_ms"),
    [
        (SHOWN, EVALUATED_MS + OLDEST_MS + 1),
        (replace(SHOWN, ready=False), EVALUATED_MS),
        (ClusterSnapshot(cluster="a b"), EVALUATED_MS),
        (SHOWN, EVALUATED_MS - AHEAD_MS - 1),
    ],
    ids=["too old", "of the run before", "nothing", "from the future"],
)
def test_what_is_old_or_was_not_evaluated_does_not_come_back(root: Path, kept: ClusterSnapshot, now_ms: int):
    served_before(settings(root)).keep(kept)
    assert served_before(settings(root)).read("a b", now_ms) is None


@pytest.mark.parametrize("content", [b"", b"\xc1", b"\x92\xa1a\x80", b"\x00" * 100])
def test_a_file_that_is_broken_is_as_none(root: Path, content: bytes):
    served_before(settings(root)).keep(SHOWN)
    (root / "a%20b" / FILE).write_bytes(content)
    assert served_before(settings(root)).read("a b", EVALUATED_MS) is None


def test_a_file_that_is_damaged_where_it_can_still_be_read_is_as_none(root: Path):
    served_before(settings(root)).keep(SHOWN)
    kept = (root / "a%20b" / FILE).read_bytes()
    (root / "a%20b" / FILE).write_bytes(kept.replace(b"groupwatch_partition_lag", b"groupwatch_partition_lab"))
    assert served_before(settings(root)).read("a b", EVALUATED_MS) is None


def test_what_was_kept_of_other_brokers_does_not_come_back(root: Path):
    def watching(*brokers: str) -> Settings:
        named = {name: ClusterSettings(name=name, bootstrap_servers=name) for name in brokers}
        return settings(root).model_copy(update={"clusters": named})

    served_before(watching("here:1")).keep(SHOWN)
    assert served_before(watching("here:1", "there:1")).read("a b", EVALUATED_MS) is None
    assert served_before(watching("here:1")).read("a b", EVALUATED_MS) is not None


def test_after_an_evaluation_of_a_run_a_crash_brings_nothing_back(root: Path):
    kept = served_before(settings(root))
    kept.keep(SHOWN)
    kept.forget("a b")
    kept.forget("a b")
    assert kept.read("a b", EVALUATED_MS) is None


def test_a_folder_that_may_not_be_entered_has_nothing(root: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # root, by whom this may be run, may enter any
    assert served_before(settings(root)).read("a b", EVALUATED_MS) is None


def test_a_checkpoint_elsewhere_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    served_before(settings("hdfs://host/groupwatch")).keep(SHOWN)
    assert served_before(settings("hdfs://host/groupwatch")).read("a b", EVALUATED_MS) is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    served_before(settings(tmp_path / "absent")).keep(SHOWN)
    assert "what is served cannot be kept for the next start" in caplog.text


def test_a_store_shows_what_was_kept_of_the_clusters_that_are_watched(root: Path):
    cluster = ClusterSettings(name="a b", bootstrap_servers="localhost:9092")
    chosen = settings(root).model_copy(update={"clusters": {"a b": cluster}})
    served_before(chosen).keep(replace(SHOWN, evaluated_ms=now_ms()))
    store = SnapshotStore(["a b"])
    serve_again(chosen, store)
    assert store.of("a b").is_restored
    assert store.of("a b").groups == SHOWN.groups
