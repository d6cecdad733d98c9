"""The captured logs of real groups, recorded in portions: the past is as it was, wherever the portions were cut."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from monitor.history.recorded import RecordedRow
from monitor.history.replay import Base, fold_group_rows
from monitor.model import Entity, GroupState
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC
from monitor.tracking.serialization import decode_group_state, encode_state
from streaming_jobs.ingest.decoding import OffsetsLogDecoder
from streaming_jobs.recording.chunk import RecordingChunk
from streaming_jobs.recording.delta import HELD
from streaming_jobs.recording.states import END, StateFold
from tests.history.memory import MemoryRecording
from tests.support import kind_captures

SCHEMA = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp_ms", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
    ]
)
LOGS = ("__consumer_offsets", SHARE_STATE_TOPIC)


def own(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record for record in records if record["topic"] in LOGS and record["key"] is not None]


def as_rows(portion: list[dict[str, Any]], recorded_ms: int) -> Iterator[RecordedRow]:
    """As the recording has this portion of the logs."""
    batch = pa.RecordBatch.from_pylist(
        [
            {
                "partition": record["p"],
                "offset": record["o"],
                "timestamp_ms": record["ts"],
                "key": kind_captures.key_of(record),
                "value": kind_captures.value_of(record),
                "topic": record["topic"],
            }
            for record in portion
        ],
        SCHEMA,
    )
    for made in OffsetsLogDecoder("c", 1, chunks=RecordingChunk)([batch]):
        for row in made.to_pylist():
            yield RecordedRow(recorded_ms, Entity(row["entity"]), row["name"], row["position"], row["events"])


def in_portions(records: list[dict[str, Any]], chance: random.Random) -> Iterator[list[dict[str, Any]]]:
    begin = 0
    while begin < len(records):
        end = chance.randint(begin + 1, len(records))
        yield records[begin:end]
        begin = end


def folded_at_marks() -> Iterator[tuple[dict[str, Any], dict[str, GroupState | None], list[dict[str, Any]]]]:
    """Each mark with all groups as their logs tell them by then, and the records since the one before."""
    states: dict[str, GroupState | None] = {}
    for mark, since in kind_captures.lines_until_each_mark():
        for record in own(since):
            kind_captures.fold_record(states, record)
        yield mark, dict(states), own(since)


@pytest.mark.parametrize("seed", range(2))
def test_every_group_is_as_it_was_at_every_mark(seed: int):
    """Portions end at marks and, by chance, between. All of what was recorded by a mark had happened by then."""
    chance = random.Random(seed)
    rows: dict[str, list[RecordedRow]] = defaultdict(list)
    compared, recorded_ms = 0, 0
    for mark, states, since in folded_at_marks():
        for portion in in_portions(since, chance):
            recorded_ms += 1
            for row in as_rows(portion, recorded_ms):
                rows[row.name].append(row)
        group = mark["group"]
        assert fold_group_rows("c", group, None, rows[group], END) == states.get(group), mark["label"]
        compared += states.get(group) is not None
    assert compared > 150


def test_states_that_are_kept_now_and_then_lead_to_the_same():
    """As the hourly upkeep has them: folded onto the states before, entity by entity."""
    portions: list[list[RecordedRow]] = []
    last: dict[str, GroupState | None] = {}
    for _, states, since in folded_at_marks():
        last = states
        if since:
            portions.append(list(as_rows(since, len(portions) + 1)))
    half = len(portions) // 2
    kept = Base(recorded_ms=half)
    first = [row for portion in portions[:half] for row in portion if row.entity is Entity.GROUP]
    for name in {row.name for row in first}:
        told = [(row.recorded_ms, row.entity.value, row.name, row.position, row.events, None) for row in first]
        frame = pd.DataFrame([each for each in told if each[2] == name], columns=[*HELD])
        for state in StateFold("c", half, [])(frame)["state"]:
            kept.states[Entity.GROUP, name] = decode_group_state(state)
    recording = MemoryRecording([row for portion in portions for row in portion], [kept])
    compared = 0
    for group, state in last.items():
        base = recording.base("c", half, [])
        rows = recording.rows("c", base.recorded_ms, END, [(Entity.GROUP, group)])
        assert fold_group_rows("c", group, base.group(group), rows, END) == state
        compared += state is not None and base.group(group) is not None
    assert compared > 3


def test_an_entity_that_cannot_be_folded_keeps_its_state():
    state = encode_state(GroupState(cluster="c", group="g"))
    told = [(1, "group", "g", 0, None, state), (2, "group", "g", 0, b"no events", None)]
    frame = pd.DataFrame(told, columns=[*HELD])
    assert list(StateFold("c", 2, [])(frame)["state"]) == [state]
