"""Without the packages of the job, the doctor works, and what needs them says so."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from monitor.cli.extras import JOB_MODULES, MCP_MODULES, OTLP_MODULES, missing_extra
from monitor.demo.servers.ports import free_ports

OTLP = "run pip install '.[otlp]' in a clone of groupwatch, or use its image."
WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from monitor.cli import main
for words in COMMANDS:
    sys.argv = ["groupwatch", *words]
    code = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    print(f"ENDED {code}", flush=True)
"""
"""Commands as in an environment without the extras."""


ALL = JOB_MODULES | MCP_MODULES | OTLP_MODULES


def groupwatch(*words: str, missing: frozenset[str] = ALL) -> tuple[int, str]:
    (answer,) = groupwatch_each([words], missing)
    return answer


def groupwatch_each(commands: Sequence[tuple[str, ...]], missing: frozenset[str] = ALL) -> list[tuple[int, str]]:
    """The exit code and the output of each command. They share a process, whose start takes longer than a command."""
    program = WITHOUT.replace("MODULES", repr(set(missing))).replace("COMMANDS", repr(commands))
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    answers = re.findall(r"(.*?)^ENDED (\d+)\n", run.stdout, re.MULTILINE | re.DOTALL)
    assert len(answers) == len(commands), run.stdout
    return [(int(code), said) for said, code in answers]


def test_a_command_that_needs_the_job_names_the_extra():
    commands = ("run", "collect", "prepare", "demo", "check-config")
    needs = (
        2,
        "groupwatch: This command needs the packages of the job: run pip install '.[job]' in a clone of groupwatch, or"
        " use its image.\n",
    )
    assert dict(zip(commands, groupwatch_each([(name,) for name in commands]), strict=True)) == dict.fromkeys(
        commands, needs
    )


def test_a_server_for_agents_names_its_own_extra():
    assert groupwatch("mcp") == (
        2,
        "groupwatch: This command needs the official SDK of MCP: run pip install '.[mcp]' in a clone of groupwatch.\n",
    )


def test_a_push_without_its_exporters_is_a_problem_of_the_configuration(tmp_path: Path):
    file = tmp_path / "groupwatch.toml"
    tables = (
        '[clusters.c]\nbootstrap_servers = "h:1"\n[spark]\ncheckpoint = "hdfs://n/c"\n[otlp]\nendpoint = "http://h:1"\n'
    )
    file.write_text(tables, encoding="utf-8")
    problem = f"otlp.endpoint needs the exporters of OpenTelemetry: {OTLP}"
    code, said = groupwatch("check-config", str(file), missing=OTLP_MODULES)
    assert (code, problem in said) == (2, True)
    assert missing_extra("opentelemetry.exporter.otlp") == (f"A push needs the exporters of OpenTelemetry: {OTLP}")


def test_the_doctor_and_what_queries_a_job_need_no_extra():
    (port,) = free_ports(1)
    code, said = groupwatch("doctor", "--bootstrap-server", f"127.0.0.1:{port}")
    assert (code, f"no broker answers at 127.0.0.1:{port}" in said) == (2, True)
    url = f"http://127.0.0.1:{port}"
    queries = (("explain", "c", "g"), ("what-if", "c", "g"), ("census",), ("snapshot",), ("report", "c"), ("status",))
    answers = groupwatch_each([(*words, "--url", url) for words in queries])
    for words, (code, said) in zip(queries, answers, strict=True):
        assert (code, said.startswith(f"groupwatch: Could not connect to {url}: ")) == (2, True), words


def test_no_text_sends_anybody_to_an_index_of_packages():
    """groupwatch is not published there: the name may be another's."""
    root = Path(__file__).parents[2]
    files = [
        root / "README.md",
        *(root / "docs").rglob("*.md"),
        *(file for folder in ("monitor", "streaming_jobs", "dashboards") for file in (root / folder).rglob("*.py")),
    ]
    assert [file for file in files if re.search(r"install '?groupwatch\[", file.read_text(encoding="utf-8"))] == []
