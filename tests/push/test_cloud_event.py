"""Findings as CloudEvents, and their signature as others compute it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re

import msgspec
import pytest

from monitor.model import FindingNews, FindingScope
from monitor.push.cloud_event import LATEST_MS, EventError, event_body, finding_event, require_own, signed_headers
from tests.protocol.test_findings_topic import RECORD
from tests.web.examples import HOSTILE_NAMES


def test_an_event_has_the_attributes_of_cloudevents_and_the_record_of_the_topic():
    record = msgspec.structs.replace(RECORD, at_ms=1_795_315_215_042, group="orders/eu")
    event = json.loads(event_body(finding_event(record)))
    data = event.pop("data")
    assert event == {
        "specversion": "1.0",
        "id": "00ff-1795315215042-opened",
        "source": "/groupwatch/clusters/c",
        "type": "groupwatch.finding.opened",
        "subject": "orders%2Feu",
        "time": "2026-11-22T02:40:15.042Z",
        "datacontenttype": "application/json",
    }
    assert data == json.loads(msgspec.json.encode(record))
    assert data["group"] == "orders/eu"


def test_what_happens_to_a_finding_gives_events_of_their_own():
    records = [
        msgspec.structs.replace(RECORD, event=news, at_ms=at_ms)
        for news, at_ms in ((FindingNews.OPENED, 1), (FindingNews.CHANGED, 2), (FindingNews.CLOSED, 2))
    ]
    events = [finding_event(record) for record in records]
    assert len({event.id for event in events}) == 3
    assert [event.type.rpartition(".")[2] for event in events] == ["opened", "changed", "closed"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        *(({"id": name}, "its id is not one of groupwatch's") for name in ("", "a\nb: c", "a.b", "\u00e9", "a" * 101)),
        *(({"at_ms": at_ms}, "its time is out of range") for at_ms in (-1, LATEST_MS + 1, 2**63 - 1)),
    ],
)
def test_a_record_that_groupwatch_cannot_have_written_gives_no_event(changes, reason: str):
    """Whoever may write to the topic could otherwise hold up the events behind it."""
    with pytest.raises(EventError, match=reason):
        finding_event(msgspec.structs.replace(RECORD, **changes))


OWN = msgspec.structs.replace(RECORD, id="c0f5ea144c8130c778c12f96f2e89459")
"""The id is that of cluster c, group g, orphaned and grew."""


@pytest.mark.parametrize("event", FindingNews)
def test_a_record_of_a_cluster_of_the_topic_is_groupwatchs_own(event: FindingNews):
    require_own(msgspec.structs.replace(OWN, event=event), {"a", "c"})


def test_the_closing_of_a_finding_that_an_earlier_version_knew_is_its_own():
    """The id is BLAKE2b of 16 bytes over ["c","g","orphaned","long gone"]."""
    name = hashlib.blake2b(b'["c","g","orphaned","long gone"]', digest_size=16).hexdigest()
    require_own(msgspec.structs.replace(OWN, reason="long gone", id=name, event=FindingNews.CLOSED), {"c"})


@pytest.mark.parametrize(
    ("changes", "clusters", "reason"),
    [
        ({}, {"dev"}, "it names a cluster whose findings are not in this topic"),
        ({"cluster": "C"}, {"c"}, "it names a cluster whose findings are not in this topic"),
        ({"reason": "all clear"}, {"c"}, "its kind and reason are not those of a finding"),
        ({"kind": "all clear"}, {"c"}, "its kind and reason are not those of a finding"),
        *(
            (change, {"c"}, "its id is not that of its cluster, group, kind and reason")
            for change in (
                {"id": "0" * 32},
                {"group": "payments"},
                {"reason": "long gone", "event": FindingNews.CLOSED},
            )
        ),
    ],
)
def test_a_record_that_another_wrote_is_none(changes, clusters: set[str], reason: str):
    with pytest.raises(EventError, match=f"^{reason}$"):
        require_own(msgspec.structs.replace(OWN, **changes), clusters)


def of_cluster(cluster: str = "c", kind: str = "offsets_topic", reason: str = "grew", **changes):
    """A finding of a cluster; its id is BLAKE2b of 16 bytes over ["c","","offsets_topic","grew"]."""
    name = hashlib.blake2b(f'["{cluster}","","{kind}","{reason}"]'.encode(), digest_size=16).hexdigest()
    fields = {"id": name, "cluster": cluster, "group": "", "kind": kind, "reason": reason}
    return msgspec.structs.replace(RECORD, **fields | {"scope": FindingScope.CLUSTER} | changes)


def test_a_finding_of_a_cluster_is_an_event_about_the_cluster():
    """CloudEvents allows no empty subject."""
    record = of_cluster()
    require_own(record, {"c"})
    event = json.loads(event_body(finding_event(record)))
    assert (event["source"], event["subject"]) == ("/groupwatch/clusters/c", "c")
    assert event["type"] == "groupwatch.finding.opened"
    assert (event["data"]["scope"], event["data"]["group"]) == ("cluster", "")


def test_a_shard_has_findings_of_the_cluster_with_ids_of_their_own():
    name = hashlib.blake2b(b'["c","","offsets_topic","grew",2]', digest_size=16).hexdigest()
    require_own(of_cluster(id=name, shard=2), {"c"})
    with pytest.raises(EventError, match="its id is not that of"):
        require_own(of_cluster(shard=2), {"c"})


def of_alike(pattern: str = "anonymous.*", shard: int = 1, **changes):
    """A finding of alike groups; its id is BLAKE2b of 16 bytes over these five."""
    parts = f'["c","{pattern}","alike unattended","one_off"{f",{shard}" if shard > 1 else ""}]'
    name = hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()
    fields = {"id": name, "group": "", "kind": "unattended", "reason": "one_off", "shard": shard, "pattern": pattern}
    return msgspec.structs.replace(RECORD, **fields | {"scope": FindingScope.ALIKE} | changes)


@pytest.mark.parametrize(("pattern", "subject"), [("anonymous.*", "anonymous.%2A"), ("", "c")])
def test_a_finding_of_alike_groups_is_an_event_about_their_names(pattern: str, subject: str):
    record = of_alike(pattern)
    require_own(record, {"c"})
    require_own(of_alike(pattern, 2), {"c"})
    event = json.loads(event_body(finding_event(record)))
    assert event["subject"] == subject
    assert (event["data"]["scope"], event["data"]["group"], event["data"]["pattern"]) == ("alike", "", pattern)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (of_alike(reason="no_members"), "its kind and reason are not those of a finding"),
        (of_alike(group="payments"), "its id is not that of"),
        (of_alike(id=of_alike("job-*").id), "its id is not that of"),
        (of_cluster(kind="orphaned"), "its kind and reason are not those of a finding"),
        (of_cluster(scope=FindingScope.GROUP), "its kind and reason are not those of a finding"),
        (of_cluster(group="payments"), "its id is not that of"),
        (msgspec.structs.replace(OWN, shard=2, scope=FindingScope.CLUSTER), "its kind and reason are not those of"),
    ],
)
def test_a_finding_of_a_cluster_that_another_wrote_is_none(record, reason: str):
    with pytest.raises(EventError, match=reason):
        require_own(record, {"c"})


def test_the_last_instant_of_a_time_is_one():
    event = finding_event(msgspec.structs.replace(RECORD, at_ms=LATEST_MS))
    assert event.time == "9999-12-31T23:59:59.999Z"


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_no_name_can_leave_its_attribute(name: str):
    """CloudEvents forbids controls in attributes; the data has the exact name."""
    event = json.loads(event_body(finding_event(msgspec.structs.replace(RECORD, group=name, cluster=name))))
    assert re.fullmatch(r"[A-Za-z0-9._~%-]*", event["subject"])
    assert event["source"] == f"/groupwatch/clusters/{event['subject']}"
    assert event["data"]["group"] == name


def test_the_signature_is_that_of_standard_webhooks():
    """HMAC-SHA256 over id, seconds and body."""
    key = b"0123456789abcdef01234567"
    headers = signed_headers("00ff-3-opened", b'{"a":1}', key, 1_700_000_000_999)
    expected = hmac.new(key, b'00ff-3-opened.1700000000.{"a":1}', hashlib.sha256).digest()
    assert headers == {
        "webhook-id": "00ff-3-opened",
        "webhook-timestamp": "1700000000",
        "webhook-signature": f"v1,{base64.b64encode(expected).decode()}",
    }
