"""The section [webhook]: which addresses and secrets it takes."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from monitor.config import ConfigError, WebhookSettings
from tests.support.config_files import problems_with, settings_with


def webhook(folder: Path, text: str) -> WebhookSettings:
    return settings_with(folder, "webhook", text).webhook


def test_nothing_is_sent_by_default(tmp_path: Path):
    assert not webhook(tmp_path, "").is_on


@pytest.mark.parametrize(
    "url",
    [
        *("receiver", "ftp://receiver", "https://anna:tiger@receiver/", "https://receiver/?key=tiger"),
        *("https://receiver/a tiger", "https://receiver/t\u00efger"),
    ],
)
def test_what_is_no_address_is_refused_without_showing_it(tmp_path, url):
    assert problems_with(tmp_path, "webhook", f'url = "{url}"') == (
        "webhook.url should be http://HOST:PORT/PATH or https://HOST:PORT/PATH, without a user and a query.",
    )


def test_the_secret_is_looked_up_when_it_is_needed_and_never_shown(tmp_path):
    file = tmp_path / "secret"
    found = webhook(tmp_path, f'secret = "${{file:{file}}}"')
    for secret in ("correct horse battery", "another horse battery"):
        file.write_text(f"{secret}\n", encoding="utf-8")
        assert found.resolved_secret() == secret.encode()
    assert "horse" not in repr(webhook(tmp_path, 'secret = "correct horse battery"'))


def test_a_secret_of_base64_is_decoded(tmp_path):
    secret = f"whsec_{base64.b64encode(b'tiger-0123456789').decode()}"
    assert webhook(tmp_path, f'secret = "{secret}"').resolved_secret() == b"tiger-0123456789"


@pytest.mark.parametrize(
    "secret", ["tiger", "tiger-012345678", f"whsec_{base64.b64encode(b'tiger-012345678').decode()}"]
)
def test_a_short_secret_is_refused_without_showing_it(tmp_path, secret):
    with pytest.raises(ConfigError) as refused:
        webhook(tmp_path, f'secret = "{secret}"').resolved_secret()
    assert refused.value.problems == ("webhook.secret should have at least 16 bytes; those of base64 count decoded.",)


@pytest.mark.parametrize("rest", ["correct horse battery", "dGlnZXItMDEyMzQ1Njc4OQ", "dGlnZXItMDEyMzQ1Njc4O\u00fc=="])
def test_a_secret_that_should_be_base64_and_is_not_is_refused_without_showing_it(tmp_path, rest):
    with pytest.raises(ConfigError) as refused:
        webhook(tmp_path, f'secret = "whsec_{rest}"').resolved_secret()
    assert refused.value.problems == ("webhook.secret begins with whsec_, so the rest should be padded base64.",)
