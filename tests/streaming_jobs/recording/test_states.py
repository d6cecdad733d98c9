"""Hourly states: what cannot be read is counted, and never leaves a state as it was."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pandas as pd
import pytest
from deltalake import DeltaTable

from monitor.history.past import RecordedPast
from monitor.history.recorded import RecordedEvent, RecordedRow, RecordedSettings, encode_events
from monitor.model import STATE_VERSION, Entity, GroupState, Member, MembershipStored
from monitor.model.group_choice import GroupChoice
from monitor.tracking.serialization import decode_group_state, encode_state
from streaming_jobs.recording.delta import HELD
from streaming_jobs.recording.states import StateFold
from tests.history.folder import write_recording
from tests.support.delta_spark import DeltaSpark

BEGIN = 1_795_313_400_000
MINUTE, HOUR = 60_000, 3_600_000
ANOTHER = msgspec.msgpack.encode((STATE_VERSION + 1, {"group": "g"}))
"""A state as another groupwatch writes it."""


def row(at_ms: int, generation: int, position: int = 0) -> RecordedRow:
    member = Member(member_id=f"m{generation}", client_id="m")
    stored = MembershipStored("g", generation, "consumer", "range", "m", stored_ms=at_ms, members=(member,))
    events = encode_events([RecordedEvent(at_ms, stored)])
    return RecordedRow(at_ms + 1_000, Entity.GROUP, "g", position, events)


def fold(*rows: tuple[int, bytes | None, bytes | None]) -> list[tuple[bytes | None, int]]:
    """The states and what is counted, of rows of the group g: position, events, state."""
    held = [(BEGIN, "group", "g", position, events, state) for position, events, state in rows]
    made = StateFold("c", BEGIN + HOUR, [])(pd.DataFrame(held, columns=[*HELD]))
    return [(state, int(unread)) for state, unread in zip(made["state"], made["unread_rows"], strict=True)]


def test_a_damaged_row_is_left_out_and_counted():
    ((state, unread),) = fold((1, row(BEGIN, 1).events, None), (2, b"\xc1", None), (3, row(BEGIN, 3).events, None))
    assert state is not None
    assert (decode_group_state(state).generation, unread) == (3, 1)


def test_an_entity_of_which_nothing_can_be_read_is_counted():
    assert fold((1, b"\xc1", None), (2, b"", None)) == [(None, 2)]


def test_a_state_that_cannot_be_read_is_not_handed_on():
    """Until then, each hour wrote the same old bytes again, without any event since."""
    assert fold((0, None, b"\xc1"), (1, row(BEGIN, 1).events, None)) == [(None, 1)]


def test_a_group_that_is_left_out_from_now_on_has_no_state():
    """Nothing comes of it anymore, so its state would stay as it was, and members would seem to stand still."""
    held = [(BEGIN, "group", "g", 0, None, encode_state(GroupState(cluster="c", group="g")))]
    frame = pd.DataFrame(held, columns=[*HELD])
    assert len(StateFold("c", BEGIN + HOUR, [])(frame)) == 1
    assert len(StateFold("c", BEGIN + HOUR, [], GroupChoice(deny=("g",)))(frame)) == 0


def test_the_past_before_and_after_an_upgrade_is_folded_from_the_events(tmp_path: Path):
    rows = [row(BEGIN, 1), row(BEGIN + 30 * MINUTE, 2), row(BEGIN + 5 * HOUR, 3)]
    states = [(BEGIN + MINUTE, "group", "g", ANOTHER)]
    write_recording(tmp_path, "c", rows, {BEGIN: RecordedSettings()}, states)
    past = RecordedPast(str(tmp_path))
    for at_ms, generation in ((BEGIN + 10 * MINUTE, 1), (BEGIN + HOUR, 2), (BEGIN + 5 * HOUR, 3)):
        found = past.inputs("c", "g", at_ms)
        assert found is not None
        assert found.group.generation == generation


@pytest.mark.spark
def test_after_an_upgrade_states_are_made_anew_from_all_events(delta_spark: DeltaSpark, tmp_path: Path):
    rows = [row(BEGIN, 1), row(BEGIN + 30 * MINUTE, 2)]
    states = [(BEGIN + MINUTE, "group", "g", ANOTHER)]
    write_recording(tmp_path, "c", rows, {BEGIN: RecordedSettings()}, states)
    delta_spark.run("tests.streaming_jobs.recording.keep_up", str(tmp_path), "c")
    found = DeltaTable(str(tmp_path / "states")).to_pyarrow_table().to_pylist()
    newest = max(found, key=lambda each: each["recorded_ms"])
    assert newest["recorded_ms"] == BEGIN + 30 * MINUTE + 1_000
    assert decode_group_state(newest["state"]).generation == 2
