"""The section [otlp]: which addresses and headers it takes, from a file and from variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import OtlpSettings
from tests.support.config_files import problems_with, settings_with


def otlp(folder: Path, text: str) -> OtlpSettings:
    return settings_with(folder, "otlp", text).otlp


def test_nothing_is_pushed_by_default(tmp_path: Path):
    assert not otlp(tmp_path, "").is_on


@pytest.mark.parametrize(
    ("protocol", "endpoint", "url"),
    [
        ("grpc", "http://collector:4317", "http://collector:4317"),
        ("grpc", "https://collector:4317/", "https://collector:4317"),
        ("http/protobuf", "http://collector:4318", "http://collector:4318/v1/metrics"),
        ("http/protobuf", "https://[::1]:4318/", "https://[::1]:4318/v1/metrics"),
        ("http/protobuf", "https://vendor/otlp/metrics", "https://vendor/otlp/metrics"),
    ],
)
def test_the_path_of_http_is_the_usual_one_unless_another_is_given(tmp_path, protocol, endpoint, url):
    assert otlp(tmp_path, f'protocol = "{protocol}"\nendpoint = "{endpoint}"').url == url


@pytest.mark.parametrize(
    "endpoint",
    ["collector:4317", "grpc://collector", "http://anna:tiger@collector", "http://", "http://a:x", "http://a?b"],
)
def test_what_is_no_address_is_refused_without_showing_it(tmp_path, endpoint):
    assert problems_with(tmp_path, "otlp", f'endpoint = "{endpoint}"') == (
        "otlp.endpoint should be http://HOST:PORT or https://HOST:PORT, without a user.",
    )


def test_grpc_has_no_path(tmp_path):
    assert problems_with(tmp_path, "otlp", 'endpoint = "http://collector:4317/v1/metrics"') == (
        "otlp endpoint should have no path with the protocol grpc.",
    )


def test_headers_come_from_the_file_and_from_variables_which_win(tmp_path, monkeypatch):
    monkeypatch.setenv("GROUPWATCH_OTLP__HEADERS__AUTHORIZATION", "Bearer two")
    found = otlp(tmp_path, '[otlp.headers]\nauthorization = "Bearer one"\nx-tenant = "a"\n')
    assert found.resolved_headers() == {"authorization": "Bearer two", "x-tenant": "a"}


def test_a_header_with_an_impossible_name_is_refused(tmp_path):
    assert problems_with(tmp_path, "otlp", '[otlp.headers]\n"a b" = "c"\n') == (
        "otlp.headers should have names of HTTP headers.",
    )


def test_no_value_of_a_header_is_shown(tmp_path):
    assert "tiger" not in repr(otlp(tmp_path, '[otlp.headers]\nx-scope-orgid = "tiger"\n'))
