"""The clusters of a job share the tables of a recording, and begin it at the same time."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.support.delta_spark import DeltaSpark


@pytest.mark.spark
def test_clusters_that_begin_in_a_new_folder_at_once_are_all_recorded(delta_spark: DeltaSpark, tmp_path: Path):
    clusters = ["a", "b", "c"]
    delta_spark.run("tests.streaming_jobs.recording.begin_at_once", str(tmp_path), *clusters)
    for table in ("settings", "reach"):
        found = DeltaTable(str(tmp_path / table)).to_pyarrow_table()
        assert sorted(found["cluster"].to_pylist()) == clusters
