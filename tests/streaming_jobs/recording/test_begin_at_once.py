"""The clusters of a job share the tables of a recording, and begin it at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from deltalake import DeltaTable


@pytest.mark.spark
def test_clusters_that_begin_in_a_new_folder_at_once_are_all_recorded(tmp_path: Path):
    clusters = ["a", "b", "c"]
    program = [sys.executable, "-m", "tests.streaming_jobs.recording.begin_at_once", str(tmp_path), *clusters]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    for table in ("settings", "reach"):
        found = DeltaTable(str(tmp_path / table)).to_pyarrow_table()
        assert sorted(found["cluster"].to_pylist()) == clusters
