import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.protocol.rocketmq.json import MAX_DEPTH, Pairs, decode_json
from monitor.protocol.wire.errors import REASONS, DecodeError
from tests.support.examples import example_count
from tests.support.rocketmq_captures import Exchange, exchanges, refusal, without_pairs

ANSWERS = [each for each in exchanges() if "__error__" not in each.decoded]


@pytest.mark.parametrize("captured", ANSWERS, ids=lambda each: each.name)
def test_every_captured_body_is_read_as_it_was_then(captured: Exchange):
    assert decode_json(captured.response_body) == without_pairs(captured.decoded)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param('{{"a":1}:2}', [[{"a": 1}, 2]], id="an object as a key"),
        pytest.param('{{"a":1}:2,{"a":2}:3}', [[{"a": 1}, 2], [{"a": 2}, 3]], id="several"),
        pytest.param("{[1,2]:3}", [[[1, 2], 3]], id="an array as a key"),
        pytest.param('{"x":1,{"a":1}:2}', [["x", 1], [{"a": 1}, 2]], id="keys of both kinds"),
        pytest.param('{{{"a":1}:2}:3}', [[[[{"a": 1}, 2]], 3]], id="a key with such a key"),
        pytest.param("{0:1,-2:3}", {"0": 1, "-2": 3}, id="numbers as keys"),
        pytest.param("{true:1,null:2}", {"true": 1, "null": 2}, id="constants as keys"),
        pytest.param(' { "a" : [ 1 , { } , [ ] ] } ', {"a": [1, {}, []]}, id="spaces"),
        pytest.param('{"a":1,"a":2}', {"a": 2}, id="equal keys: the last counts"),
        pytest.param('{{"topic":"a}:{b","n":0}:1}', [[{"topic": "a}:{b", "n": 0}, 1]], id="braces within a name"),
        pytest.param('{{"topic":"\\"}:{\\"","n":0}:1}', [[{"topic": '"}:{"', "n": 0}, 1]], id="quotes within a name"),
        pytest.param('{"a":"[{"}', {"a": "[{"}, id="brackets within a text"),
        pytest.param('{"a":"\\ud800"}', {"a": "?"}, id="half a surrogate pair"),
        pytest.param('{{"\\udc00":1}:"\\ud83d\\ude00"}', [[{"?": 1}, "\U0001f600"]], id="a whole one and half a one"),
        pytest.param("[1.5,1e3,-0]", [1.5, 1000.0, 0], id="numbers"),
    ],
)
def test_what_a_text_holds(text: str, value: object):
    assert decode_json(text.encode()) == value


def test_an_object_with_objects_for_keys_is_told_from_an_array():
    assert isinstance(decode_json(b'{{"a":1}:2}'), Pairs)
    assert not isinstance(decode_json(b'[[{"a":1},2]]'), Pairs)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "bad_json"),
        (b"{", "bad_json"),
        (b'{"a"', "bad_json"),
        (b'{"a":', "bad_json"),
        (b'{"a":1', "bad_json"),
        (b'{"a":1,', "bad_json"),
        (b'{"a":1,}', "bad_json"),
        (b'{"a" 1}', "bad_json"),
        (b"{{:1}", "bad_json"),
        (b'{{"a":1}}', "bad_json"),
        (b"[1,]", "bad_json"),
        (b"[1 2]", "bad_json"),
        (b'"abc', "bad_json"),
        (b'"\n"', "bad_json"),
        (b"NaN", "bad_json"),
        (b'{"a":Infinity}', "bad_json"),
        (b"nul", "bad_json"),
        (b"1" * 5000, "bad_json"),
        (b'{"a":' + b"9" * 5000 + b"}", "bad_json"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "bad_json"),
        (b"{" * 100_000, "bad_json"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "bad_json"),
        (b'{{"a":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b":1}", "bad_json"),
        (b"[" * 100_000, "bad_json"),
        (b"{}{}", "trailing_bytes"),
        (b'{"a":1} x', "trailing_bytes"),
        (b'{"a":"\xff"}', "bad_utf8"),
    ],
)
def test_what_is_no_such_text_is_refused_with_a_reason(data: bytes, reason: str):
    with pytest.raises(DecodeError) as refused:
        decode_json(data)
    assert refused.value.reason == reason
    assert 0 <= refused.value.position <= len(data)


def test_containers_may_be_nested_as_deeply_as_promised():
    assert decode_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) is not None


TEXTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(TEXTS)
def test_what_is_json_is_read_as_json(value: object):
    assert decode_json(json.dumps(value).encode()) == json.loads(json.dumps(value))


@given(st.lists(st.tuples(st.dictionaries(st.text(), st.integers() | st.text(), min_size=1), TEXTS), min_size=1))
def test_objects_with_any_objects_for_keys_come_back(pairs: list[tuple[object, object]]):
    written = ",".join(f"{json.dumps(key)}:{json.dumps(value)}" for key, value in pairs)
    assert decode_json(f"{{{written}}}".encode()) == [[key, value] for key, value in json.loads(json.dumps(pairs))]


@settings(max_examples=example_count(3))
@given(st.sampled_from(ANSWERS), st.data())
def test_a_damaged_body_gives_a_value_or_a_reason(captured: Exchange, data: st.DataObject):
    body = bytearray(captured.response_body)
    cut = data.draw(st.integers(0, len(body)))
    place = data.draw(st.integers(0, len(body) - 1))
    body[place] = data.draw(st.sampled_from(b'{}[]:,"\\0\x00\xff'))
    for damaged in (bytes(body), bytes(body[:cut]), bytes(body[cut:])):
        refused = refusal(decode_json, damaged)
        assert refused is None or refused.reason in REASONS


@given(st.text(alphabet='{}[]:,"\\01a ', max_size=60))
def test_any_text_gives_a_value_or_a_reason(text: str):
    refused = refusal(decode_json, text.encode())
    assert refused is None or refused.reason in REASONS


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param('{"a":{0:1}},', id="objects that ordinary JSON cannot hold"),
        pytest.param('{{"a":"}"}:{"b":1}},', id="braces in texts"),
        pytest.param('{"a":"{{{{{{{{","b":{}},', id="braces that nothing closes"),
        pytest.param('{"a":"\\ud800"},', id="halves of surrogate pairs"),
    ],
)
def test_four_times_the_text_takes_about_four_times_as_long(unit: str):
    """Anything quadratic would take sixteen times; eight leaves room for a busy machine."""

    def seconds(count: int) -> float:
        data = f"[{unit * count}0]".encode()
        times = []
        for _ in range(3):
            began = time.process_time()
            decode_json(data)
            times.append(time.process_time() - began)
        return min(times)

    assert seconds(10_000) < 8 * seconds(2_500)
