"""The archive of Java's classes: whose it is, when it is not used, and that a JVM maps it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from monitor.java_runtime.jars import kafka_jars, spark_kafka_jars
from streaming_jobs.runtime.class_archive import ClassArchive, archive_for, to_write, with_archive
from streaming_jobs.runtime.session import create_session, stop_session
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM, PATIENCE_S, eventually

OPTIONS = "-Dours=1"
CONNECTOR = "/cache/a connector.jar"


@pytest.fixture
def java(tmp_path: Path) -> Path:
    (tmp_path / "java" / "lib").mkdir(parents=True)
    (tmp_path / "java" / "lib" / "modules").write_bytes(b"17.0.15")
    return tmp_path / "java"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, but for the jars that this user has already."""
    kafka, connector = kafka_jars()[0].parent, spark_kafka_jars()[0].parent
    folder = tmp_path / "the cache"
    folder.mkdir()
    for jars in (kafka, connector):
        (folder / jars.name).symlink_to(jars)
    monkeypatch.setenv("GROUPWATCH_CACHE", str(folder))
    return folder


def kept(java: Path) -> ClassArchive:
    archive = archive_for(java, CONNECTOR)
    archive.file.parent.mkdir(parents=True)
    written = archive.file.parent / "written"
    written.write_bytes(b"classes")
    archive.keep(written)
    return archive


def test_a_kept_archive_is_used_before_the_options_of_a_deployment(java: Path, cache: Path):
    archive = kept(java)
    options = with_archive(OPTIONS, java, CONNECTOR)
    assert options.endswith(f"'-XX:SharedArchiveFile={archive.file}' {OPTIONS}")  # quoted, as Spark's launcher reads it
    assert archive.file.is_relative_to(cache)
    assert archive.file.read_bytes() == b"classes"


def test_without_an_archive_the_options_stay(java: Path, cache: Path):
    assert with_archive(OPTIONS, java, CONNECTOR) == OPTIONS


@pytest.mark.parametrize("own", ["-XX:SharedArchiveFile=/own.jsa", "-XX:ArchiveClassesAtExit=/own.jsa"])
def test_options_that_name_an_archive_stay(java: Path, cache: Path, own: str):
    kept(java)
    assert with_archive(own, java, CONNECTOR) == own


def test_an_archive_that_is_written_is_not_used_at_the_same_time(java: Path, cache: Path):
    kept(java)
    options = to_write(OPTIONS, cache / "new.jsa")
    assert with_archive(options, java, CONNECTOR) == options


def truncate(archive: ClassArchive) -> None:
    os.truncate(archive.file, 3)


def flip(archive: ClassArchive) -> None:
    archive.file.write_bytes(b"classeS")


def lose_checksum(archive: ClassArchive) -> None:
    archive.checksum_file.unlink()


def lose(archive: ClassArchive) -> None:
    archive.file.unlink()


@pytest.mark.parametrize("harm", [truncate, flip, lose_checksum, lose])
def test_a_damaged_archive_is_never_given_to_a_jvm(java: Path, cache: Path, harm: Callable[[ClassArchive], None]):
    harm(kept(java))
    assert with_archive(OPTIONS, java, CONNECTOR) == OPTIONS


def test_damage_is_told(java: Path, cache: Path, caplog: pytest.LogCaptureFixture):
    archive = kept(java)
    truncate(archive)
    with_archive(OPTIONS, java, CONNECTOR)
    assert f"{archive.file} is damaged" in caplog.text


def test_that_no_archive_fits_is_told(java: Path, cache: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO")
    with_archive(OPTIONS, java, CONNECTOR)
    assert caplog.text == ""  # nobody has asked for one
    kept(java)
    with_archive(OPTIONS, java, "/another.jar")
    assert "`groupwatch prepare` writes one" in caplog.text


def test_another_java_or_class_path_has_another_archive(java: Path, cache: Path, tmp_path: Path):
    jar = tmp_path / "own.jar"
    jar.write_bytes(b"1")
    os.utime(jar, (1_000, 1_000))

    def archive() -> Path:
        return archive_for(java, str(jar)).file

    seen = [archive()]
    os.utime(jar, (1_000, 1_000.4))  # Java compares seconds, and so does what copies files
    assert archive() == seen[0]
    os.utime(jar, (1_000, 1_001))
    seen.append(archive())
    jar.write_bytes(b"12")
    os.utime(jar, (1_000, 1_001))
    seen.append(archive())
    seen.append(archive_for(java, f"{jar}:{jar}").file)
    (java / "lib" / "modules").write_bytes(b"17.0.16 or so")
    seen.append(archive())
    assert len(set(seen)) == len(seen)


def prepare(config: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "monitor.cli", "prepare", "--config", str(config), *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "groupwatch.toml"
    file.write_text(f'[spark.conf]\n"{DRIVER_JVM}" = "{BRIEF_JVM}"\n')
    return file


@pytest.mark.long  # a trial run and the archive of its classes: a minute of one core
@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_prepare_writes_an_archive_that_a_jvm_maps(cache: Path, config: Path, tmp_path: Path):
    for told, *options in (("Wrote ",), ("already exists", "--all-jars")):
        with prepare(config, *options) as preparing:
            _, said = preparing.communicate(timeout=PATIENCE_S)
        assert (preparing.returncode, told in said) == (0, True), said
    assert [sorted(cache.glob(f"{part}*/*.jar")) != [] for part in ("delta-spark", "aws-msk-iam-auth")] == [True] * 2
    archive, checksum = sorted((cache / "classes").iterdir())
    assert (archive.suffix, checksum.suffix) == (".jsa", ".sha256")

    spark = create_session("local[1]", 1, spark_kafka_jars(), {DRIVER_JVM: BRIEF_JVM}, tmp_path / "spark.log")
    try:
        jvm: Any = spark._jvm
        mapped = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/maps").read_text()
    finally:
        stop_session(spark)
    assert str(archive) in mapped


@pytest.mark.broker
def test_an_interrupted_prepare_leaves_nothing(cache: Path, config: Path):
    with prepare(config) as preparing:
        eventually(lambda: list((cache / "classes").glob("part-*")), "the trial's folder")
        preparing.send_signal(signal.SIGINT)
        _, said = preparing.communicate(timeout=PATIENCE_S)
    assert preparing.returncode == 130, said
    assert list((cache / "classes").iterdir()) == []


def test_prepare_refuses_where_no_job_would_look(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, config: Path):
    (tmp_path / "spark-defaults.conf").write_text("spark.driver.extraClassPath /own.jar\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    with prepare(config) as preparing:
        _, said = preparing.communicate(timeout=PATIENCE_S)
    assert preparing.returncode == 2
    assert "spark-defaults.conf" in said
