"""A verdict as it is listed, and as the API gives it."""

import msgspec
import pytest

from monitor.detection.group_summary import summary_of
from monitor.model import GroupVerdict
from monitor.web.views.summary import verdict_json
from tests.web.examples import offsets_only, orders


def test_the_json_is_the_whole_verdict():
    assert msgspec.json.decode(verdict_json(orders()), type=GroupVerdict) == orders()


def test_the_summary_repeats_what_the_overview_needs():
    summary = summary_of(orders())
    assert (summary.cluster, summary.group, summary.members, summary.lag) == ("main", "orders", 2, 12)
    assert summary.findings == orders().findings


def test_a_name_that_json_cannot_carry_is_an_error_of_this_group():
    with pytest.raises(UnicodeEncodeError):
        verdict_json(offsets_only("\ud800"))
