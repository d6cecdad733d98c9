"""What leaves the executors for each group."""

import msgspec
import pytest

from monitor.metrics.publish import published
from monitor.model import GroupVerdict
from tests.metrics.examples import offsets_only, orders


def test_the_json_is_the_whole_verdict():
    assert msgspec.json.decode(published(orders()).verdict_json, type=GroupVerdict) == orders()


def test_the_summary_repeats_what_the_overview_needs():
    summary = published(orders()).summary
    assert (summary.cluster, summary.group, summary.members, summary.lag) == ("main", "orders", 2, 12)
    assert summary.findings == orders().findings


def test_a_name_that_json_cannot_carry_is_an_error_of_this_group():
    with pytest.raises(UnicodeEncodeError):
        published(offsets_only("\ud800"))
