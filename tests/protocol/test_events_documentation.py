"""docs/events.md says of every event what the code takes: its fields, their types and what they are when left out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from msgspec import inspect

from monitor import model
from monitor.model import CollectedEvent
from monitor.protocol.events_topic import EVENTS_VERSION, decode_event, encode_event
from monitor.protocol.wire.errors import REASONS

PAGE = (Path(__file__).parents[2] / "docs" / "events.md").read_text(encoding="utf-8")
EVENTS = get_args(CollectedEvent)
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
NAMED = {
    "ObservedOffset",
    "PartitionObserved",
    "ListedOffset",
    "Member",
    "TopicPartitions",
    "IdPartitions",
    "Reconciliation",
    "ClassicProtocol",
    "ResolvedRegex",
    "StreamsNotice",
    "WireForm",
    "StreamsClient",
    "StreamsTask",
    "TaskOffset",
    "SpareTasks",
    "RedeliveryObserved",
    "TopicExpression",
    "UnreadableQueue",
    "Topology",
    "Subtopology",
    "ConnectWorker",
    "ConnectAssignment",
    "ConnectorTasks",
    "ListedShareOffset",
    "ShareConfig",
    "PendingOffsets",
    "OffsetsRetention",
    "FormerRetention",
    "OffsetsTopicSeen",
    "ReplicasSeen",
    "BrokersSeen",
    "BrokerAway",
}


SIMPLE = {
    inspect.IntType: "number",
    inspect.BoolType: "boolean",
    inspect.StrType: "text",
    inspect.EnumType: "text",
    inspect.BytesType: "base64",
}
PARTITION = ["number", "text"]
"""The types of what the page calls a partition."""

OF_EVERY_EVENT = [("cluster", "text"), ("version?", "number = 1")]
"""What the page has once, above the events."""

SMALL = dict(re.findall(r"^\| `(\w+)`(?:, array)? \| (`.*) \|$", PAGE.split("### Small values\n")[1], re.MULTILINE))
"""The values whose fields are one row."""


def told(kind: inspect.Type) -> str:
    """A type in the words of the page."""
    simple = next((text for of, text in SIMPLE.items() if isinstance(kind, of)), None)
    if simple is not None:
        return simple
    match kind:
        case inspect.StructType():
            return f"`{kind.cls.__name__}`"
        case inspect.VarTupleType():
            one = told(kind.item_type)
            return f"list of ({one})" if " or " in one else f"list of {one}"
        case inspect.UnionType():
            texts = sorted(told(each) for each in kind.types if not isinstance(each, inspect.NoneType))
            one = "partition" if texts == PARTITION else " or ".join(texts)
            return one + (" or null" if kind.includes_none else "")
    raise AssertionError(kind)


def fields(struct: type[msgspec.Struct]) -> list[tuple[str, str]]:
    """The names of the fields, with a question mark if they may be left out, and their types with their defaults."""
    kind = inspect.type_info(struct)
    assert isinstance(kind, inspect.StructType)
    return [
        (each.encode_name + ("" if each.required else "?"), told(each.type) + default(each)) for each in kind.fields
    ]


def default(field: inspect.Field) -> str:
    """What the page has behind the type: nothing for null and for an empty list."""
    if field.required or field.default is None or field.default == ():
        return ""
    return f" = {msgspec.json.encode(field.default).decode()}"


def rows(section: str) -> list[tuple[str, str]]:
    found = re.findall(r"^\| `(\w+)`(\??) \| (.*?) \| .*\|$", section, re.MULTILINE)
    return [(name + optional, without_quotes(kind)) for name, optional, kind in found]


def fields_of_row(row: str) -> list[tuple[str, str]]:
    found = [re.fullmatch(r"`(\w+)`(\??) ([^:]*)(?:: .*)?", each) for each in row.split("; ")]
    return [(each[1] + each[2], without_quotes(each[3])) for each in found if each]


def without_quotes(kind: str) -> str:
    """A type whose default is not marked as code."""
    return re.sub(r" = `(.*)`$", r" = \1", kind)


def is_array(name: str) -> bool:
    return bool(re.search(rf"^\| `{name}`, array \|", PAGE, re.MULTILINE) or "An array." in SECTIONS.get(name, ""))


def test_every_event_and_every_value_in_one_is_there_once_and_nothing_else():
    tags = [inspect.type_info(event).tag for event in EVENTS]
    assert sorted([*SECTIONS, *SMALL]) == sorted([*tags, *NAMED])


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_the_fields_of_an_event_are_those_of_the_code(event: type[msgspec.Struct]):
    own = rows(SECTIONS[str(inspect.type_info(event).tag)])
    assert own == [field for field in fields(event) if field not in OF_EVERY_EVENT]
    assert len(own) == len(fields(event)) - len(OF_EVERY_EVENT)


@pytest.mark.parametrize("name", sorted(NAMED))
def test_the_fields_of_a_value_are_those_of_the_code(name: str):
    own = fields_of_row(SMALL[name]) if name in SMALL else rows(SECTIONS[name])
    assert own == fields(getattr(model, name))
    assert is_array(name) == getattr(model, name).__struct_config__.array_like


def test_the_values_of_texts_from_a_list_are_all_told():
    for kind in (model.GroupKind, model.Source, model.Sharing, model.MemberState):
        assert [value for value in kind if f"`{value}`" not in PAGE] == []


def test_the_examples_are_events_as_they_are_written():
    (block,) = re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    examples = block.splitlines()
    events = [decode_event(line.encode()) for line in examples]
    assert {type(event) for event in events} == set(EVENTS)
    assert [json.loads(encode_event(event)) for event in events] == [json.loads(line) for line in examples]


def test_the_version_and_the_reasons_for_a_refusal_are_told():
    assert f"This page is of version {EVENTS_VERSION}." in PAGE
    for reason in ("null_value", "bad_json", "bad_utf8", "bad_event", "newer_version", "from_the_future"):
        assert reason in REASONS
        assert f"`{reason}`" in PAGE
