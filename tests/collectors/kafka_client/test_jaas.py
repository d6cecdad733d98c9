"""The line of JAAS as Java's client reads it.

The expected options are those of ``JaasContext.loadClientContext`` in kafka-clients 4.3.1 on Java 17; None is an
exception there.
"""

from __future__ import annotations

import pytest

from monitor.collectors.kafka_client.jaas import jaas_entry, parse_jaas

M = "m.L required "


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (r'password="a\tb\n\r\f\b\a\v";', {"password": "a\tb\n\r\f\b\a\v"}),
        (r'password="a\101b";', {"password": "aAb"}),
        (r'password="\477\8\0\18";', {"password": "'78\0\x018"}),
        (r'password="dom\user";', {"password": "domuser"}),
        (r"""password='a\'b"c';""", {"password": "a'b\"c"}),
        ("username=eve password=a-b_c$d.e;", {"username": "eve", "password": "a-b_c$d.e"}),
        ("username=\u00e9\u20ac\U0001f600;", {"username": "\u00e9\u20ac\U0001f600"}),
        ('"my key"="x";', {"my key": "x"}),
        ("/* one */ a=b // two\n;", {"a": "b"}),
        ("; // the end", {}),
        ("a=1;", None),
        ("a=-x;", None),
        ("keyTab=/etc/x;", None),
        ("a=b@c;", None),
        ("a=x/y;", None),
        ('a="x\ny";', None),
        ('a="x"', None),
        ("a=b; n.M required;", None),
        ("a=b;;", None),
    ],
)
def test_a_line_has_the_options_that_java_has(options: str, expected: dict[str, str] | None):
    entry = parse_jaas(M + options)
    assert (None if entry is None else entry.options) == expected


@pytest.mark.parametrize(
    "line", ["", "m.L", "m.L;", "m.L nobody;", "12 required;", "m.L required required", 'm.L "required" x;']
)
def test_what_java_refuses_is_no_entry(line: str):
    assert parse_jaas(line) is None


def test_the_flag_has_any_case_and_the_module_may_be_quoted():
    entry = parse_jaas('"m L" Sufficient;')
    assert entry is not None
    assert (entry.module, entry.options) == ("m L", {})


def test_a_line_break_in_a_password_is_written_as_an_escape():
    """Java would end the quoted text there, and log in with its beginning."""
    assert jaas_entry("m.L", {"password": 'a\nb\r"\\'}) == r'm.L required password="a\nb\r\"\\";'


@pytest.mark.parametrize(
    "options",
    ["a=" + "=".join(["b" * 12] * 5_000) + '"', 'a="' + "\\" * 100_001, "/*" * 100_000, "a=b " * 50_000 + "="],
    ids=["equals", "backslashes", "comments", "options"],
)
def test_a_long_line_that_is_no_entry_is_refused_without_searching(options: str):
    """A search that tries each division of the line would not come to an end."""
    assert parse_jaas(M + options) is None
