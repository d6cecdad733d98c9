"""The settings say who may read, from the file or from the environment, and a mistake there ends a command."""

from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from monitor.config import ConfigError, load
from monitor.web.server import AccessUnusable
from streaming_jobs.jobs.collect import CANNOT_COLLECT
from streaming_jobs.jobs.main import CANNOT_START
from streaming_jobs.jobs.serving import http_server

TOKEN = "token-0123456789"


async def _metrics(_: object) -> PlainTextResponse:
    return PlainTextResponse("up 1\n")


APP = Starlette(routes=[Route("/metrics", _metrics)])


def test_the_files_of_the_configuration_guard_what_is_served(tmp_path: Path):
    (tmp_path / "tokens").write_text(TOKEN)
    (tmp_path / "web.yml").write_text("basic_auth_users: {}\n")
    config = tmp_path / "groupwatch.toml"
    config.write_text(
        f'[http]\nport = 1\ntoken_file = "{tmp_path}/tokens"\nweb_config_file = "{tmp_path}/web.yml"\n',
        encoding="utf-8",
    )
    with http_server(APP, load(config).http, port=0) as server:
        assert httpx.get(f"{server.url}/metrics").status_code == 401
        shown = {"Authorization": f"Bearer {TOKEN}"}
        assert httpx.get(f"{server.url}/metrics", headers=shown).text == "up 1\n"


def test_a_file_that_cannot_be_used_ends_a_command_with_its_sentence(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("GROUPWATCH_HTTP__TOKEN_FILE", str(tmp_path / "absent"))
    with pytest.raises(AccessUnusable, match=r"absent cannot be read \(No such file or directory\)\.$") as caught:
        http_server(APP, load(None).http, port=0).start()
    assert isinstance(caught.value, CANNOT_START)
    assert isinstance(caught.value, CANNOT_COLLECT)


@pytest.mark.parametrize("key", ["web_config_file", "token_file"])
@pytest.mark.parametrize("value", ["5", '""', "[]", "true"])
def test_what_is_no_path_is_a_mistake_that_names_its_key(tmp_path: Path, key: str, value: str):
    config = tmp_path / "groupwatch.toml"
    config.write_text(f"[http]\n{key} = {value}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"^http\.{key} "):
        load(config)
