"""Without the packages of the job, the doctor works, and what needs them says so."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from monitor.cli.extras import COLLECT, EXTRAS, HISTORY, JOB, OTLP, missing_extra
from monitor.demo.servers.ports import free_ports

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


ALL = frozenset[str]().union(*(extra.modules for extra in EXTRAS))


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


def install(extra: str) -> str:
    return f"install groupwatch again with the extra {extra} (in a clone: pip install '.[{extra}]'), or use its image."


def test_a_command_names_the_smallest_extra_that_it_needs(tmp_path: Path):
    job = (2, f"groupwatch: This command needs the packages of the job: {install('job')}\n")
    collect = (2, f"groupwatch: This command needs the packages of the collectors: {install('collect')}\n")
    history = (2, f"groupwatch: A recording is read by packages of its own: {install('history')}\n")
    past = ("--history", str(tmp_path))
    file = tmp_path / "new.toml"
    file.touch()
    needed = {
        ("run",): job,
        ("prepare",): job,
        ("demo",): job,
        ("collect",): collect,
        ("check-config",): collect,
        ("backtest", "--config", str(file), *past): history,
        ("report", "c", "g", *past): history,
        ("history", "c", "g", *past): history,
        ("explain", "c", "g", "--at", "-1m", *past): history,
        ("snapshot", "--at", "-1m", *past): history,
    }
    assert dict(zip(needed, groupwatch_each([*needed]), strict=True)) == needed


def test_without_spark_collectors_start_and_a_recording_is_looked_for(tmp_path: Path):
    """Each with its own extra alone. No broker is here, and no recording."""
    (port,) = free_ports(1)
    file, nothing = tmp_path / "groupwatch.toml", tmp_path / "nothing"
    file.write_text(f'[clusters.c]\nbootstrap_servers = "127.0.0.1:{port}"\n', encoding="utf-8")
    code, said = groupwatch("collect", "--config", str(file), missing=ALL - COLLECT.modules)
    assert (code, f"no broker answers at 127.0.0.1:{port}" in said) == (2, True), said
    report = ("report", "c", "g", "--history", str(nothing))
    code, said = groupwatch(*report, missing=ALL - HISTORY.modules)
    assert (code, f"There is no recording in {nothing}" in said) == (2, True), said


def test_check_config_for_collectors_needs_no_spark_and_for_the_job_says_that_it_is_missing(tmp_path: Path):
    file = tmp_path / "groupwatch.toml"
    tables = '[clusters.c]\nbootstrap_servers = "h:1"\n[spark]\ncheckpoint = "hdfs://n/c"\n'
    file.write_text(tables, encoding="utf-8")
    commands = [("check-config", str(file), "--collect"), ("check-config", str(file))]
    of_collectors, of_job = groupwatch_each(commands, ALL - COLLECT.modules)
    problem = f"groupwatch run needs PySpark, which is not installed here: {install('job')}"
    assert (of_collectors[0], problem in of_collectors[1]) == (0, False), of_collectors
    assert (of_job[0], problem in of_job[1]) == (2, True), of_job
    code, said = groupwatch(*commands[1], missing=ALL - JOB.modules - COLLECT.modules)
    assert (code, "PySpark" in said) == (0, False), said


def test_a_server_for_agents_names_its_own_extra():
    assert groupwatch("mcp") == (
        2,
        "groupwatch: This command needs the official SDK of MCP: install groupwatch again with the extra mcp (in a "
        "clone: pip install '.[mcp]').\n",
    )


def test_a_push_without_its_exporters_is_a_problem_of_the_configuration(tmp_path: Path):
    file = tmp_path / "groupwatch.toml"
    tables = (
        '[clusters.c]\nbootstrap_servers = "h:1"\n[spark]\ncheckpoint = "hdfs://n/c"\n[otlp]\nendpoint = "http://h:1"\n'
    )
    file.write_text(tables, encoding="utf-8")
    problem = f"otlp.endpoint needs the exporters of OpenTelemetry: {install('otlp')}"
    code, said = groupwatch("check-config", str(file), missing=OTLP.modules)
    assert (code, problem in said) == (2, True)
    assert missing_extra("opentelemetry.exporter.otlp") == (
        f"A push needs the exporters of OpenTelemetry: {install('otlp')}"
    )


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
