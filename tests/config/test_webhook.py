"""The section [webhook]: which addresses and secrets it takes."""

from __future__ import annotations

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
        assert found.resolved_secret() == secret
    assert "horse" not in repr(webhook(tmp_path, 'secret = "correct horse battery"'))


def test_a_short_secret_is_refused_without_showing_it(tmp_path):
    with pytest.raises(ConfigError) as refused:
        webhook(tmp_path, 'secret = "tiger"').resolved_secret()
    assert refused.value.problems == ("webhook.secret should have at least 16 characters.",)
