"""What Spark's Python workers look at after a task."""

import gc
import weakref

import pytest
from pyspark import daemon

from streaming_jobs.runtime.worker_daemon import collect_young_garbage_only


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
