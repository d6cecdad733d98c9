"""The properties file of a look: what one of Kafka's clients would read differently is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import ConfigError
from monitor.doctor.target import target_cluster


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("ssl.endpoint.identification.algorithm=https ", 'should be https or "".'),
        ("ssl.endpoint.identification.algorithm=none", 'should be https or "".'),
        ("ssl.truststore.password=tiger ", "should be without whitespace at its start and end."),
    ],
)
def test_a_value_that_java_and_python_read_differently_is_refused(tmp_path: Path, lines: str, sentence: str):
    file = tmp_path / "client.properties"
    file.write_text(f"security.protocol=SSL\n{lines}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        target_cluster("b:9092", file)
    assert caught.value.problems == (f"{file}: {lines.partition('=')[0]} {sentence}",)
