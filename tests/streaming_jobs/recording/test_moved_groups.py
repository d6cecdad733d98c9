"""The past as the job saw it: groups whose place in the offsets topic moved, and records of an unknown version."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pyarrow as pa

from monitor.history.recorded import RecordedRow
from monitor.history.replay import group_at
from monitor.model import AnyEvent, Entity, GroupState, LogPlaces
from monitor.tracking.group import fold_group
from streaming_jobs.ingest.decoding import OffsetsLogDecoder
from streaming_jobs.recording.chunk import RecordingChunk
from tests.history.memory import MemoryRecording
from tests.streaming_jobs.ingest.test_decoding import records
from tests.streaming_jobs.ingest.test_log_places import key
from tests.streaming_jobs.recording.test_chunk import value

# The hash code of "d" is 100: partition 1 of three, 2 of seven; "k", 107: 2 and 2; "g", 103: 1 and 5; "i": 0 and 0.
UNKNOWN = b"\0\5new"
OPEN = LogPlaces(7, before=3)
BEGIN_MS, GROWN_MS = 10_000, 20_000
FORMER = [(number, 5, key(group), value(43, BEGIN_MS)) for number, group in ((1, "d"), (1, "g"), (0, "i"))]
AFTER = [(5, 0, key("g"), value(42, GROWN_MS))]


def recording(*portions: tuple[int, LogPlaces, list[tuple]]) -> MemoryRecording:
    """Portions of the log, each at its time: the records of one partition come in a chunk of their own."""
    return MemoryRecording([row for portion in portions for row in as_rows(*portion)])


def as_rows(recorded_ms: int, places: LogPlaces, log: list[tuple]) -> Iterator[RecordedRow]:
    decoder = OffsetsLogDecoder("c", 1, chunks=RecordingChunk, places=places)
    for made in decoder([written(recorded_ms, [each for each in log if each[0] == number]) for number in range(7)]):
        for row in made.to_pylist():
            yield RecordedRow(recorded_ms, Entity(row["entity"]), row["name"], row["position"], row["events"])


def written(at_ms: int, log: list[tuple]) -> pa.RecordBatch:
    """The records, all of one instant."""
    batch = records(*log) if log else records((0, 0, None, None)).slice(1)
    place = batch.schema.get_field_index("timestamp_ms")
    return batch.set_column(place, "timestamp_ms", pa.array([at_ms] * len(log), pa.int64()))


def offsets_at(past: MemoryRecording, at_ms: int) -> dict[str, list[int]]:
    known = {name: group_at(past, "c", name, at_ms) for name in ("d", "g", "i")}
    return {name: [offset.offset for offset in state.offsets] for name, state in known.items() if state is not None}


def test_groups_that_the_brokers_look_for_elsewhere_are_gone_from_then_on():
    past = recording((BEGIN_MS, LogPlaces(3), FORMER), (GROWN_MS, OPEN, AFTER))
    assert offsets_at(past, BEGIN_MS) == {"d": [43], "g": [43], "i": [43]}
    assert offsets_at(past, GROWN_MS) == {"g": [42], "i": [43]}, "g has committed again"


def test_a_log_that_has_grown_says_nothing_while_no_broker_was_restarted():
    after = [(1, 9, key("d"), value(42, GROWN_MS))]
    past = recording((BEGIN_MS, LogPlaces(3), FORMER), (GROWN_MS, OPEN, after))
    assert offsets_at(past, GROWN_MS) == {"d": [42], "g": [43], "i": [43]}


def test_a_group_of_an_unknown_version_is_in_the_past_as_it_was_in_the_job():
    log = [
        (0, 5, key("i"), value(43, BEGIN_MS)),
        (0, 6, bytes.fromhex("0002 0001") + b"i", UNKNOWN),
        (0, 7, key("i"), UNKNOWN),
    ]
    past = group_at(recording((BEGIN_MS, LogPlaces(), log)), "c", "i", BEGIN_MS)
    (made,) = OffsetsLogDecoder("c", 1)([written(BEGIN_MS, log)])
    (payload,) = [row["payload"] for row in made.to_pylist() if row["entity"] == "group"]
    job: GroupState | None = fold_group("c", "i", None, msgspec.msgpack.decode(payload, type=list[AnyEvent]))
    assert past == job
    assert past is not None
    assert past.unread is not None
    assert [each.version for each in past.unread_commits] == [5]
