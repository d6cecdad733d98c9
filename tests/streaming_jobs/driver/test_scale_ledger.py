"""What is remembered of groups whose members are counted: it is there after a restart, and old numbers are not."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from msgspec.structs import replace

from monitor.model.scaling import EnoughMembers, MemberRate, ScaleMemory
from monitor.scaling.notes import decode_note
from streaming_jobs.buckets.catalog_server import CatalogServer
from streaming_jobs.driver.scale_ledger import FILE, ScaleLedger
from tests.scaling.fleet import notes_on
from tests.streaming_jobs.driver.test_met_ledger import InMemory

NOW = 1_796_000_000_000
MEMORY = ScaleMemory(
    since_ms=NOW - 900_000,
    rates=(MemberRate(NOW - 60_000, "m", "/10.0.0.1", 200.0),),
    enough=(EnoughMembers(NOW - 900_000, 3),),
    latest=4,
)


@pytest.fixture
def catalogs() -> Iterator[CatalogServer]:
    server = CatalogServer("127.0.0.1")
    yield server
    server.close()


def offered(ledger: ScaleLedger, catalogs: CatalogServer) -> dict[str, ScaleMemory]:
    notes = msgspec.msgpack.decode(catalogs.address.fetch(ledger.key), type=dict[str, bytes])
    return {name: decode_note(note).memory for name, note in notes.items()}


def loaded(notes: InMemory, catalogs: CatalogServer, now_ms: int, cluster: str = "prod") -> dict[str, ScaleMemory]:
    ledger = ScaleLedger(cluster, notes(FILE), catalogs)
    ledger.load(now_ms)
    return offered(ledger, catalogs)


def test_how_fast_members_read_is_known_after_a_restart(catalogs):
    notes = InMemory()
    ledger = ScaleLedger("prod", notes(FILE), catalogs)
    ledger.load(NOW)
    assert offered(ledger, catalogs) == {}
    ledger.take(notes_on({"orders": MEMORY}), NOW)
    assert offered(ledger, catalogs) == {"orders": MEMORY}, "for a Python worker that is new"
    kept = replace(MEMORY, since_ms=0, enough=())
    assert loaded(notes, catalogs, NOW + 60_000) == {"orders": kept}
    assert loaded(notes, catalogs, NOW + 301_000) == {"orders": replace(kept, latest=None)}
    assert loaded(notes, catalogs, NOW, cluster="other") == {}


def test_it_is_stored_once_a_minute(catalogs):
    notes = InMemory()
    ledger = ScaleLedger("prod", notes(FILE), catalogs)
    ledger.load(NOW)
    ledger.take(notes_on({"orders": MEMORY}), NOW)
    first = notes.texts[FILE]
    ledger.take(notes_on({"orders": replace(MEMORY, latest=3)}), NOW + 59_000)
    assert notes.texts[FILE] == first
    assert offered(ledger, catalogs)["orders"].latest == 3, "executors get it at once"
    ledger.take(notes_on({"orders": replace(MEMORY, latest=3)}), NOW + 60_000)
    assert loaded(notes, catalogs, NOW + 60_000)["orders"].latest == 3


def test_a_higher_number_is_stored_at_once(catalogs):
    """A crash must not bring a lower one back."""
    notes = InMemory()
    ledger = ScaleLedger("prod", notes(FILE), catalogs)
    ledger.load(NOW)
    ledger.take(notes_on({"orders": MEMORY}), NOW)
    ledger.take(notes_on({"orders": replace(MEMORY, latest=8)}), NOW + 1_000)
    assert loaded(notes, catalogs, NOW + 2_000)["orders"].latest == 8


def test_a_number_that_stays_is_current_after_a_restart(catalogs):
    notes = InMemory()
    ledger = ScaleLedger("prod", notes(FILE), catalogs)
    ledger.load(NOW)
    for minute in range(11):
        ledger.take(notes_on({"orders": MEMORY}), NOW + 60_000 * minute)
    assert loaded(notes, catalogs, NOW + 60_000 * 10 + 5_000)["orders"].latest == 4


def test_a_group_that_is_gone_is_forgotten_also_if_it_went_while_the_job_was_down(catalogs):
    """Executors send the notes that they were given, also on groups whose broker does not answer."""
    notes = InMemory()
    ledger = ScaleLedger("prod", notes(FILE), catalogs)
    ledger.load(NOW)
    ledger.take(notes_on({"orders": MEMORY, "mail": MEMORY}), NOW)
    again = ScaleLedger("prod", notes(FILE), catalogs)
    again.load(NOW + 60_000)
    assert set(offered(again, catalogs)) == {"orders", "mail"}
    again.take(notes_on({"mail": MEMORY}), NOW + 60_000)
    assert set(offered(again, catalogs)) == {"mail"}
    assert set(loaded(notes, catalogs, NOW + 60_000)) == {"mail"}
    again.take({}, NOW + 120_000)
    assert offered(again, catalogs) == {}


def test_two_clusters_have_keys_of_their_own(catalogs):
    first, second = (ScaleLedger(name, InMemory()(FILE), catalogs) for name in ("a", "b"))
    first.load(NOW)
    second.load(NOW)
    first.take(notes_on({"orders": MEMORY}), NOW)
    second.take(notes_on({"orders": replace(MEMORY, latest=9)}), NOW)
    assert (offered(first, catalogs)["orders"].latest, offered(second, catalogs)["orders"].latest) == (4, 9)


@pytest.mark.parametrize("text", ["", "{", '{"cluster":"prod"}', "cut", "other sum"])
def test_what_cannot_be_used_is_measured_again(catalogs, caplog, text):
    notes = InMemory()
    ledger = ScaleLedger("prod", notes(FILE), catalogs)
    ledger.load(NOW)
    ledger.take(notes_on({"orders": MEMORY}), NOW)
    whole = notes.texts[FILE]
    notes.texts[FILE] = {"cut": whole[:-20], "other sum": whole.replace("200.0", "900.0")}.get(text, text)
    assert loaded(notes, catalogs, NOW) == {}
    assert "the speed of members is unknown" in caplog.text


def test_a_disk_that_is_away_ends_nothing(catalogs, caplog):
    notes = InMemory()
    notes.unreadable.add(FILE)
    ledger = ScaleLedger("prod", notes(FILE), catalogs)
    ledger.load(NOW)
    notes.is_away = True
    ledger.take(notes_on({"orders": MEMORY}), NOW)
    ledger.take(notes_on({"orders": replace(MEMORY, latest=5)}), NOW + 60_000)
    assert caplog.text.count("cannot be stored") == 1
    assert offered(ledger, catalogs)["orders"].latest == 5
