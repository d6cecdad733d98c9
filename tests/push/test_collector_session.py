"""The session of a push: its headers are those of the settings, whatever the machine has for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.push.collector_session import collector_session
from tests.push.webhook_receiver import Receiver, webhook_receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with webhook_receiver() as running:
        yield running


@pytest.fixture
def netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials of this machine for the receiver's host, as curl and others take them."""
    file = tmp_path / ".netrc"
    file.write_text("machine 127.0.0.1 login someone password tiger\ndefault login anyone password lion\n")
    file.chmod(0o600)
    monkeypatch.setenv("NETRC", str(file))
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.usefixtures("netrc")
@pytest.mark.parametrize("headers", [{"authorization": "Bearer configured"}, {}], ids=["a token", "none"])
def test_the_credentials_of_other_programs_are_not_sent(receiver: Receiver, headers: dict[str, str]):
    response = collector_session().post(receiver.url, data=b"x", headers=headers, timeout=10)
    assert response.status_code == 204
    assert receiver.requests[0].headers.get("authorization") == headers.get("authorization")


def test_the_proxy_of_the_environment_is_used(receiver: Receiver, monkeypatch: pytest.MonkeyPatch):
    """There is no such host: whoever gets the request is the proxy."""
    monkeypatch.setenv("http_proxy", receiver.url)
    monkeypatch.setenv("no_proxy", "")
    response = collector_session().post("http://collector.invalid:4318/v1/metrics", data=b"x", timeout=10)
    assert response.status_code == 204
    assert receiver.requests[0].headers["host"] == "collector.invalid:4318"
