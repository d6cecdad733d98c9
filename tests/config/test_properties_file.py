"""A properties file is read as ``java.util.Properties`` reads it; what its documentation has as examples is below."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import ConfigError, read_properties
from monitor.config.properties_file import parse_properties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Truth = Beauty", {"Truth": "Beauty"}, id="equals sign"),
        pytest.param(" Truth:Beauty", {"Truth": "Beauty"}, id="colon"),
        pytest.param("Truth                    :Beauty", {"Truth": "Beauty"}, id="blanks before the colon"),
        pytest.param(
            "fruits    apple, banana, \\\n          cantaloupe\n",
            {"fruits": "apple, banana, cantaloupe"},
            id="two lines",
        ),
        pytest.param("cheeses\n", {"cheeses": ""}, id="no value"),
        pytest.param("! a\n  # b \\\nx=1\r\ny=2\rz=3", {"x": "1", "y": "2", "z": "3"}, id="comments, all line ends"),
        pytest.param("path=c\\:\\\\keys\\u0021\\t|", {"path": "c:\\keys!\t|"}, id="escapes"),
        pytest.param("a=1\na=2", {"a": "2"}, id="the last of equal keys"),
        pytest.param("a= b=c:d ", {"a": "b=c:d "}, id="separators and blanks within the value"),
        pytest.param("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}, id="an escaped backslash continues nothing"),
        pytest.param("a=1\\", {"a": "1"}, id="a file that ends with a backslash"),
        pytest.param("", {}, id="nothing"),
    ],
)
def test_entries_are_those_that_java_reads(text: str, expected: dict[str, str]):
    assert parse_properties(text) == expected


def test_a_login_keeps_its_quotes(tmp_path: Path):
    line = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b=c";'
    (tmp_path / "client.properties").write_text(f"sasl.jaas.config={line}\n", encoding="utf-8")
    assert read_properties(tmp_path / "client.properties") == {"sasl.jaas.config": line}


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "cannot be read (No such file or directory)"), (b"\xff\xfe", "is not text in UTF-8")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, problem: str):
    path = tmp_path / "client.properties"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        read_properties(path)
    assert raised.value.problems == (f"{path} {problem}.",)
