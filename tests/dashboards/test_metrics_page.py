"""docs/metrics.md is the one that the table of metrics gives now, and what it shows as configuration is read."""

import re
from pathlib import Path

from dashboards.metrics_page import PAGE, metrics_page
from monitor.config import load
from monitor.metrics.series_cap import LARGE
from monitor.metrics.specs import COUNTERS, FAMILIES, HISTOGRAMS, OF_THE_JVM


def test_the_page_is_not_stale():
    assert PAGE.read_text(encoding="utf-8") == metrics_page(), "run: python -m dashboards.metrics_page"


def test_the_page_has_every_family_once():
    names = re.findall(r"^\| `((?:groupwatch|kafka)_\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(names) == sorted([*FAMILIES, *(spec.name for spec in (*OF_THE_JVM, *HISTOGRAMS, *COUNTERS))])


def test_no_cell_of_a_table_breaks_it():
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert {line.count("|") for line in rows} == {3, 6}


def test_the_configuration_that_is_shown_can_be_read(tmp_path: Path):
    shown = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    file = tmp_path / "groupwatch.toml"
    file.write_text("".join(shown), encoding="utf-8")
    settings = load(file)
    metrics = settings.metrics
    assert settings.otlp.endpoint == "https://collector:4317"
    assert list(settings.otlp.headers) == ["authorization"]
    assert (metrics.max_series, metrics.deny_topics) == (500_000, ("__.*",))
    assert [override.detail for override in metrics.overrides] == ["group", "topic"]


def test_the_size_of_a_large_group_is_the_one_in_the_text():
    assert f"with {LARGE:,} or more such series" in PAGE.read_text(encoding="utf-8")
