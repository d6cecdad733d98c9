"""Which places Spark's Python workers take their modules from, and what they look at after a task."""

import gc
import sys
import weakref
from pathlib import Path

import pyspark
import pytest
from pyspark import daemon

from streaming_jobs.runtime.worker_daemon import collect_young_garbage_only, leave_out_archives

HOME = Path(pyspark.__file__).parent
OWN = [str(HOME / "python/lib/pyspark.zip"), str(HOME / "jars/spark-core_2.13-4.0.0.jar")]
ELSEWHERE = ["/opt/spark/python/lib/pyspark.zip", "/jobs/helpers.zip"]


def test_archives_of_the_installed_pyspark_are_left_out_and_others_stay(monkeypatch: pytest.MonkeyPatch):
    before = list(sys.path)
    monkeypatch.setattr(sys, "path", [*OWN, *ELSEWHERE, *before])
    monkeypatch.setattr(sys, "path_importer_cache", dict.fromkeys([*OWN, *ELSEWHERE]))
    leave_out_archives()
    assert sys.path == [*ELSEWHERE, *before]
    assert sys.path_importer_cache.keys() & {*OWN, *ELSEWHERE} == set(ELSEWHERE)


def test_without_an_installed_pyspark_the_archives_are_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    path = [*OWN, str(tmp_path)]
    monkeypatch.setattr(sys, "path", list(path))
    leave_out_archives()
    assert sys.path == path


class Knot:
    """An object that only the collector of garbage can end: it refers to itself."""

    def __init__(self) -> None:
        self.self = self


def test_after_a_task_a_worker_looks_for_garbage_among_what_is_new(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(daemon, "gc", gc)  # given back at the end
    frozen: list[int] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))  # the real one would stay in force
    collect_young_garbage_only()
    assert frozen == [1]
    old = Knot()
    gc.collect()  # what survives this is old
    kept, new = weakref.ref(old), weakref.ref(Knot())
    del old
    gc.disable()
    try:
        daemon.gc.collect()
        assert new() is None
        assert kept() is not None
    finally:
        gc.enable()
