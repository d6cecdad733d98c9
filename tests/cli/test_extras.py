"""Without the packages of the job, the doctor works, and what needs them says so."""

from __future__ import annotations

import subprocess
import sys

import pytest

from monitor.cli.extras import JOB_MODULES, MCP_MODULES
from monitor.demo.servers.ports import free_ports

WITHOUT = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in {set(JOB_MODULES | MCP_MODULES)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
from monitor.cli import main
sys.argv = ["groupwatch", *sys.argv[1:]]
main()
"""
"""The command as in an environment without the extras."""


def groupwatch(*words: str) -> tuple[int, str]:
    command = [sys.executable, "-c", WITHOUT, *words]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return answer.returncode, answer.stderr


@pytest.mark.parametrize("command", ["run", "collect", "prepare", "demo", "check-config"])
def test_a_command_that_needs_the_job_names_the_extra(command: str):
    assert groupwatch(command) == (
        2,
        "groupwatch: This command needs the packages of the job: install 'groupwatch[job]'.\n",
    )


def test_a_server_for_agents_names_its_own_extra():
    assert groupwatch("mcp") == (
        2,
        "groupwatch: This command needs the official SDK of MCP: install 'groupwatch[mcp]'.\n",
    )


def test_the_doctor_and_what_queries_a_job_need_no_extra():
    (port,) = free_ports(1)
    code, said = groupwatch("doctor", "--bootstrap-server", f"127.0.0.1:{port}")
    assert (code, f"no broker answers at 127.0.0.1:{port}" in said) == (2, True)
    url = f"http://127.0.0.1:{port}"
    for words in (("explain", "c", "g"), ("what-if", "c", "g"), ("census",), ("snapshot",), ("report", "c")):
        code, said = groupwatch(*words, "--url", url)
        assert (code, said.startswith(f"groupwatch: No groupwatch answers at {url}")) == (2, True), words
