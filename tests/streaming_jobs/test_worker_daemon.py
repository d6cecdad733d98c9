"""Which places Spark's Python workers take their modules from."""

import sys
from pathlib import Path

import pyspark
import pytest

from streaming_jobs.worker_daemon import leave_out_archives

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
