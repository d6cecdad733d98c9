"""The address of the page in findings on their way out: by the settings, never by what a record says."""

from __future__ import annotations

import json

import msgspec

from monitor.protocol.findings_topic import decode_finding, encode_finding
from streaming_jobs.driver.finding_links import with_link
from tests.protocol.test_findings_topic import RECORD

URL = "https://ops.example.com/groupwatch"


def page_of(record: object) -> object:
    return json.loads(msgspec.json.encode(record)).get("page_url", "none")


def test_a_finding_links_to_the_page_of_its_group_and_that_of_a_cluster_to_its_groups():
    record = msgspec.structs.replace(RECORD, cluster="prod", group="a/b c")
    assert page_of(with_link(record, URL)) == f"{URL}/groups/prod/a%2Fb%20c"
    assert page_of(with_link(msgspec.structs.replace(record, group=""), URL)) == f"{URL}/?cluster=prod"


def test_without_an_address_the_record_is_as_it_was_before_there_was_one():
    assert encode_finding(with_link(RECORD, None)) == encode_finding(RECORD)
    assert b"page_url" not in encode_finding(RECORD)


def test_a_link_that_somebody_else_wrote_is_not_passed_on():
    forged = decode_finding(encode_finding(msgspec.structs.replace(RECORD, page_url="https://evil.example")))
    assert page_of(with_link(forged, None)) == "none"
    assert page_of(with_link(forged, URL)).startswith(URL)
