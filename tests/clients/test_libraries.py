"""The table of versions is what the programs are built from."""

from __future__ import annotations

import json
import re

import pytest

from monitor.model import Library
from tests.clients.libraries import CLIENTS, Language
from tests.clients.toolchain import PROGRAMS

ALIASES = {"platformatic-1": "platformatic-kafka-1"}
"""Node can have two releases of a package only under two names."""


def versions(language: Language) -> dict[str, str]:
    """Those of the table, by the packages' names; the older of two releases has a name of its own."""
    clients = [client for client in CLIENTS if client.language == language]
    return {ALIASES.get(client.name, client.package): client.version for client in clients}


def test_every_library_is_in_the_table():
    assert {client.library for client in CLIENTS} == set(Library)


def test_go_builds_the_versions_of_the_table():
    required = re.search(r"require \((.*?)\)", (PROGRAMS / "go" / "go.mod").read_text(encoding="utf-8"), re.DOTALL)
    assert required is not None
    assert dict(line.split() for line in required[1].strip().splitlines()) == versions("go")


def test_node_installs_the_versions_of_the_table():
    package = json.loads((PROGRAMS / "node" / "package.json").read_text(encoding="utf-8"))
    assert {name: wanted.rpartition("@")[2] for name, wanted in package["dependencies"].items()} == versions("node")


def test_the_lock_of_node_names_no_address():
    lock = json.loads((PROGRAMS / "node" / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, package in lock["packages"].items() if "resolved" in package] == []
    assert all("integrity" in package for name, package in lock["packages"].items() if name)


def test_python_installs_the_versions_of_the_table_and_nothing_that_is_not_pinned():
    lines = (PROGRAMS / "python" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines)
    assert {name: pinned[name] for name in versions("python")} == versions("python")


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_library_without_a_client_id_of_its_own_is_told_apart(client):
    assert (client.client_id is None) == (client.library is Library.PLATFORMATIC)
