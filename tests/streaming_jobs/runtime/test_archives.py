"""Which places Spark's Python processes take their modules from."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from streaming_jobs.runtime.archives import leave_out_archives, path_without_archives

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


def test_what_the_jvm_starts_takes_the_installed_pyspark_and_keeps_what_else_is_on_the_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Spark puts its archives before the path that the JVM has inherited."""
    (tmp_path / "helper.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    path = os.pathsep.join([OWN[0], path_without_archives()])
    program = "import helper, pyspark, sys; print(pyspark.__file__); print(helper.__file__)"
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.splitlines() == [pyspark.__file__, str(tmp_path / "helper.py")]
    assert ended.stderr == ""
