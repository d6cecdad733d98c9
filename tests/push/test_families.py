"""The text of /metrics as families, and their portions."""

from __future__ import annotations

import gzip

import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitor.metrics.process_metrics import ProcessMetrics
from monitor.push.families import Family, HistogramPoint, NumberPoint, TextError, batches, read_families
from tests.web.examples import HOSTILE_NAMES, falling_behind, offsets_only, orders, ready_cluster, snapshot


def test_a_histogram_has_the_count_of_each_bucket():
    """0.2 s twice and 7 s in buckets up to 0.5 and 5 s: two, none, and one above."""
    text = (
        "# HELP x_seconds Time.\n# TYPE x_seconds histogram\n"
        'x_seconds_bucket{a="b",le="0.5"} 2\nx_seconds_bucket{a="b",le="5.0"} 2\nx_seconds_bucket{a="b",le="+Inf"} 3\n'
        'x_seconds_count{a="b"} 3\nx_seconds_sum{a="b"} 7.4\n'
    )
    (family,) = read_families(text)
    assert family == Family(
        "x_seconds", "Time.", "histogram", [HistogramPoint({"a": "b"}, (0.5, 5.0), (2, 0, 1), total=7.4)]
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("-1", -1), ("1.5", 1.5), ("1e3", 1000.0), ("9223372036854775807", 2**63 - 1), ("9" * 19, 1e19)],
)
def test_whole_numbers_of_64_bits_stay_whole(text: str, value: float):
    (family,) = read_families(f"# TYPE a gauge\na {text}\n")
    (point,) = family.points
    assert isinstance(point, NumberPoint)
    assert (point.value, type(point.value)) == (value, type(value))


def test_all_that_is_served_is_read_as_the_parser_of_prometheus_reads_it():
    """Also names that try to end a line or a label."""
    groups = [orders(), falling_behind(), *(offsets_only(name) for name in HOSTILE_NAMES)]
    text = gzip.decompress(snapshot(ready_cluster(*groups)).metrics_gzip).decode() + ProcessMetrics().text()
    expected = {
        (sample.name, frozenset(sample.labels.items()), sample.value)
        for metric in text_string_to_metric_families(text)
        for sample in metric.samples
    }
    found = {
        (family.name, frozenset(point.labels.items()), point.value)
        for family in read_families(text)
        for point in family.points
        if isinstance(point, NumberPoint)
    }
    assert found == {each for each in expected if not each[0].startswith("groupwatch_scrape_seconds")}
    assert len(found) > 250


def test_a_line_that_is_no_sample_is_refused():
    with pytest.raises(TextError):
        list(read_families("# TYPE a gauge\na{b=c\n"))


def test_portions_have_about_the_size_and_together_everything_once():
    """Each point takes 40 bytes and 2 for its label: with 100 bytes, three points fill a portion."""
    one = Family("one", "", "gauge", [NumberPoint({"n": str(number)}, number) for number in range(5)])
    two = Family("two", "", "gauge", [NumberPoint({"n": str(number)}, number) for number in range(2)])
    portions = list(batches([one, two], 100))
    told = [[(family.name, [point.value for point in family.points]) for family in each] for each in portions]
    assert told == [[("one", [0, 1, 2])], [("one", [3, 4]), ("two", [0])], [("two", [1])]]
    assert list(batches([], 100)) == []
