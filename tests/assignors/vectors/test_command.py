"""The command ``python -m monitor.assignors``, as a user runs it: a process with pipes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from monitor.assignors.vectors.limits import CASE_ITEMS, LINE_BYTES
from tests.assignors.golden import families, original, read

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "monitor.assignors"]
MEMBER = {"id": "C0", "topics": ["t"]}
ASKED = {"id": "ok", "assignor": "kafka.range", "input": {"topics": {"t": 2}, "members": [MEMBER]}}
ANSWERED = {"id": "ok", "answer": {"assignment": {"C0": {"t": [0, 1]}}}}


def run(lines, *options):
    """What the command writes for these lines (bytes, or values to be written as JSON), line by line."""
    text = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    done = subprocess.run([*COMMAND, *options], input=text, cwd=ROOT, capture_output=True, check=True)
    assert done.stderr == b""
    assert done.stdout.isascii()
    return [json.loads(line) for line in done.stdout.splitlines()]


def start(*options):
    pipe = subprocess.PIPE
    return subprocess.Popen([*COMMAND, *options], cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe)


def said(vector):
    """The output line for a vector."""
    return {"id": vector["id"]} | {
        {"expected": "answer"}.get(key, key): value for key, value in original(vector).items()
    }


def test_vectors_are_answered_line_by_line():
    vectors = [vector for family in families() for vector in read(family)]
    assert run(vectors) == [said(vector) for vector in vectors]


def case(**changes):
    return ASKED | changes


def group(**changes):
    return case(input=ASKED["input"] | changes)


HOSTILE = [
    pytest.param(b"", None, "The line is empty", id="an empty line"),
    pytest.param(b" \t\r", None, "The line is empty", id="only spaces"),
    pytest.param(b"{", None, "Not JSON: Expecting property name", id="half an object"),
    pytest.param(b"{} {}", None, "Not JSON: Extra data", id="two values"),
    pytest.param(b"\x00\x01", None, "Not JSON: Expecting value", id="control characters"),
    pytest.param(b'{"id": "\xff"}', None, "Not UTF-8: invalid start byte at byte 8", id="no UTF-8"),
    pytest.param(b"\xef\xbb\xbf{}", None, "The line begins with a byte order mark", id="a byte order mark"),
    pytest.param(json.dumps(ASKED).encode("utf-16"), None, "Not UTF-8", id="UTF-16"),
    pytest.param(b"[" * 200_000, None, "Nested too deeply", id="deep arrays, not closed"),
    pytest.param(b"[" * 200_000 + b"]" * 200_000, None, "Nested too deeply", id="deep arrays"),
    pytest.param(b'{"a":' * 200_000 + b"1" + b"}" * 200_000, None, "Nested too deeply", id="deep objects"),
    pytest.param(b'{"id": "x", "input": NaN}', None, "Not JSON: NaN is no number", id="NaN"),
    pytest.param(b'{"id": "x", "input": -Infinity}', None, "Not JSON: -Infinity is no number", id="infinity"),
    pytest.param(b'{"id": ' + b"9" * 5000 + b"}", None, "A number is too long", id="a number of 5000 digits"),
    pytest.param([], None, "Expected an object", id="an array"),
    pytest.param(None, None, "Expected an object", id="null"),
    pytest.param({}, None, "Expected a text or a whole number - at `$.id`", id="no id"),
    pytest.param(case(id=None), None, "Expected a text or a whole number", id="null as id"),
    pytest.param(case(id=True), None, "Expected a text or a whole number", id="true as id"),
    pytest.param(case(id=1.5), None, "Expected a text or a whole number", id="a fraction as id"),
    pytest.param({"id": "x"}, "x", "Expected a text - at `$.assignor`", id="no assignor"),
    pytest.param(case(assignor=["kafka.range"]), "ok", "Expected a text - at `$.assignor`", id="a list as assignor"),
    pytest.param({"id": 7, "assignor": "a"}, 7, "Object missing required field `input`", id="no input"),
    pytest.param(case(assignor="kafka.rage"), "ok", "Unknown assignor 'kafka.rage'", id="an unknown assignor"),
    pytest.param(case(assignor="Kafka.range"), "ok", "Unknown assignor 'Kafka.range'", id="exact case"),
    pytest.param(case(assignor="a" * 10**6), "ok", "Unknown assignor 'aaa", id="a long name"),
    pytest.param(case(input=None), "ok", "Expected `object`, got `null`", id="null as input"),
    pytest.param(case(input={}), "ok", "Object missing required field `topics`", id="an empty input"),
    pytest.param(group(topics=[]), "ok", "Expected `object`, got `array` - at `$.topics`", id="a list of topics"),
    pytest.param(
        group(topics={"t": "2"}), "ok", "Expected `int`, got `str` - at `$.topics[...]`", id="a text as count"
    ),
    pytest.param(group(topics={"t": 1.5}), "ok", "Expected `int`, got `float`", id="half a partition"),
    pytest.param(group(topics={"t": True}), "ok", "Expected `int`, got `bool`", id="true as count"),
    pytest.param(group(topics={"t": -1}), "ok", "Expected `int` >= 0", id="a negative count"),
    pytest.param(group(topics={"t": 10**12}), "ok", "Too large: more than 5000000 partitions", id="10^12"),
    pytest.param(
        group(topics={"t": CASE_ITEMS, "u": 1}), "ok", "Too large: more than 5000000 partitions", id="too many in all"
    ),
    pytest.param(
        b'{"id": "x", "assignor": "kafka.range", "input": {"topics": {"t": 1e999}, "members": []}}',
        "x",
        "Expected `int`, got `float`",
        id="a number beyond all numbers",
    ),
    pytest.param(group(topics=dict.fromkeys("tu", 9 * 10**4299)), "ok", "Too large", id="a sum of 4301 digits"),
    pytest.param(group(members=[MEMBER, MEMBER]), "ok", "Two members have the same id", id="a member twice"),
    pytest.param(group(members=[{"id": "C0"}]), "ok", "Object missing required field `topics`", id="no subscription"),
    pytest.param(group(members=[MEMBER | {"generation": 2**31}]), "ok", "Expected `int` <= 2147483647", id="a long"),
    pytest.param(group(members=[MEMBER | {"user_data": "!"}]), "ok", "Invalid base64", id="no base64"),
    pytest.param(group(members=[MEMBER | {"owned": {"t": [-1]}}]), "ok", "Expected `int` >= 0", id="owns -1"),
    pytest.param(group(members=[MEMBER | {"id": "\ud800"}]), "ok", "Half of a surrogate pair", id="half a character"),
    pytest.param(case(id="\udfff"), "\udfff", "Half of a surrogate pair", id="half a character as id"),
    pytest.param(
        b'{"id": "x", "assignor": "a", "input": {"t": 1, "t": 2}}', "x", "The key 't' occurs twice", id="a key twice"
    ),
]


@pytest.fixture(scope="module")
def hostile_replies():
    """All hostile lines between two good ones, in one process."""
    lines = [param.values[0] for param in HOSTILE]
    first, *replies, last = run([ASKED, *lines, ASKED])
    assert first == last == ANSWERED
    return replies


@pytest.mark.parametrize("position", range(len(HOSTILE)), ids=[param.id for param in HOSTILE])
def test_a_line_that_is_no_case_says_why_and_the_rest_goes_on(hostile_replies, position):
    _, line_id, why = HOSTILE[position].values
    assert len(hostile_replies) == len(HOSTILE)
    reply = hostile_replies[position]
    assert reply.keys() == {"id", "invalid"}
    assert reply["id"] == line_id
    assert reply["invalid"].startswith(why)
    assert len(reply["invalid"]) < 5000


def test_a_line_that_is_too_long_is_passed_over():
    long = json.dumps(case(padding="x" * LINE_BYTES)).encode()
    assert run([ASKED, long, ASKED]) == [
        ANSWERED,
        {"id": None, "invalid": f"Too large: more than {LINE_BYTES} bytes in a line"},
        ANSWERED,
    ]


def test_other_keys_windows_line_ends_and_a_last_line_without_end_are_fine():
    line = json.dumps(case(expected=None, note="\u00e9", deep=[[[]]])).encode()
    assert run([line + b"\r", b"  " + line]) == [ANSWERED, ANSWERED]


def test_no_lines_give_no_lines():
    assert run([]) == []


def test_ids_are_given_back_as_they_came():
    ids = ["", "\uffee\U0001f600", "a\nb", 0, -7, 10**30]
    assert [reply["id"] for reply in run(case(id=each) for each in ids)] == ids


def test_options_add_their_keys_and_nothing_else():
    odd = group(members=[MEMBER | {"id": name} for name in "AB"])
    bad = case(assignor="nobody")
    plain = run([odd, bad])
    assert [reply.keys() for reply in plain] == [{"id", "answer"}, {"id", "invalid"}]
    with_both = run([odd, bad], "--quirks", "--order-sensitive")
    assert with_both == [plain[0] | {"quirks": [], "order_sensitive": False}, plain[1]]
    assert run([odd], "--quirks") == [plain[0] | {"quirks": []}]


def test_every_answer_is_there_before_the_next_question():
    with start() as process:
        for _ in range(3):
            process.stdin.write(json.dumps(ASKED).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == ANSWERED
        process.stdin.close()
        assert process.wait() == 0


def test_a_reader_that_goes_away_is_no_error():
    with start() as process:
        process.stdin.write(json.dumps(ASKED).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(json.dumps(ASKED).encode() + b"\n")
        process.stdin.close()
        assert process.wait() == 0
        assert process.stderr.read() == b""


def test_ctrl_c_ends_it_quietly():
    with start() as process:
        process.stdin.write(json.dumps(ASKED).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_is_one_sentence():
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(COMMAND, input=b"{}\n", cwd=ROOT, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"python -m monitor.assignors: No space left on device\n")


def test_help_says_what_comes_in_and_what_goes_out():
    done = subprocess.run([*COMMAND, "--help"], cwd=ROOT, capture_output=True, check=True, text=True)
    for word in (
        '"id"',
        '"answer"',
        '"error"',
        '"invalid"',
        "--quirks",
        "--order-sensitive",
        "kafka.cooperative-sticky",
    ):
        assert word in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 120


def test_an_unknown_option_is_refused():
    done = subprocess.run([*COMMAND, "--quirk-list"], cwd=ROOT, capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert "unrecognized arguments: --quirk-list" in done.stderr
