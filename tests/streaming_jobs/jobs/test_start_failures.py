"""What only Spark can know of its settings ends a start in one sentence, with exit code 2, and shows no secret."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from monitor.demo.servers.broker import EmbeddedKafka
from streaming_jobs.runtime.driver_jvm import JvmOutput
from tests.support.job_process import eventually

START = """
import sys, typer
from monitor.cli.app import _exit_with
from streaming_jobs.runtime.session import create_session
try:
    _exit_with(lambda: create_session("local[1]", 1, [], dict(each.split("=", 1) for each in sys.argv[1:])))
except typer.Exit as end:
    sys.exit(end.exit_code)
"""


@pytest.mark.spark
@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        pytest.param(
            ["spark.driver.memory=lots"],
            "Spark's JVM ended while it started: Invalid maximum heap size: -Xmx[hidden].",
            id="Java refuses to start",
        ),
        pytest.param(
            ["spark.submit.deployMode=cluster"],
            'Spark\'s JVM ended while it started: Cluster deploy mode is not compatible with master "local".',
            id="spark-submit refuses",
        ),
        pytest.param(
            ["spark.executor.memory=300m"],
            "Spark did not start: [INVALID_EXECUTOR_MEMORY] Executor memory 314572800 must be at least 471859200.",
            id="Spark's context refuses",
            marks=pytest.mark.long,
        ),
        pytest.param(
            ["spark.task.resource.gpu.amount=tiger4711"],
            'Spark did not start: For input string: "[hidden]".',
            id="it repeats what may be a secret",
        ),
    ],
)
def test_spark_that_does_not_start_is_one_sentence_and_nothing_else(properties: list[str], sentence: str):
    """All of these but the last are refused before, by the table of check-config; here they reach Spark."""
    ended = subprocess.run(
        [sys.executable, "-c", START, *properties], capture_output=True, text=True, check=False, env=_own_environment()
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", f"groupwatch cannot start: {sentence}\n")


def test_what_a_jvm_says_while_it_starts_is_told_once_it_has_started(capfd: pytest.CaptureFixture[str]):
    output = JvmOutput(None, lambda: False)
    os.write(output.descriptor, b"WARNING: Using incubator modules: x\nfirst\nsecond\n")
    eventually(lambda: output.last_lines().endswith("second\n"), "its lines")
    assert capfd.readouterr().err == ""
    output.release()
    assert capfd.readouterr().err == "first\nsecond\n"
    os.write(output.descriptor, b"third\nDeleted 0 files and directories in a total of 1 directories.\n")
    output.close_writing_end()
    assert output.last_lines().endswith("third\n"), "what Delta Lake prints after a vacuum is no news"
    assert capfd.readouterr().err == "third\n"


def test_why_spark_has_ended_itself_is_found_before_the_traces_that_come_of_it():
    output = JvmOutput(None, lambda: False)
    assert output.given_up() is None
    told = b"ERROR   StandaloneSchedulerBackend: Application has been killed. Reason: All masters are unresponsive!\n"
    os.write(output.descriptor, told + b"java.lang.IllegalStateException: stopped\n\tat x\n" * 100)
    output.close_writing_end()
    output.last_lines()
    assert output.given_up() == "All masters are unresponsive!"


def test_a_log_has_what_a_jvm_says_at_once(tmp_path: Path):
    output = JvmOutput(tmp_path / "log", lambda: False)
    os.write(output.descriptor, b"first\n")
    output.close_writing_end()
    assert output.last_lines() == (tmp_path / "log").read_text() == "first\n"


@pytest.mark.spark
@pytest.mark.broker
def test_a_job_whose_spark_does_not_start_ends_with_2(broker: EmbeddedKafka, tmp_path: Path):
    """check-config cannot know whether Java has the class."""
    file = tmp_path / "x.toml"
    file.write_text(
        f'[clusters.c]\nbootstrap_servers = "{broker.bootstrap_servers}"\n[http]\nport = 0\n'
        f'[spark]\nmaster = "local[1]"\ncheckpoint = "{tmp_path}/state"\n'
        '[spark.conf]\n"spark.serializer" = "no.such.Class"\n"spark.hadoop.fs.s3a.secret.key" = "tiger4711"\n'
    )
    command = [sys.executable, "-m", "monitor.cli"]
    checked = subprocess.run([*command, "check-config", str(file)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    ended = subprocess.run(
        [*command, "run", "--config", str(file)], capture_output=True, text=True, check=False, env=_own_environment()
    )
    assert ended.returncode == 2
    last = ended.stderr.splitlines()[-1]
    assert last == "groupwatch cannot start: Spark did not start: ClassNotFoundException: no.such.Class."
    assert "\tat " not in ended.stderr
    assert "tiger4711" not in ended.stderr


def _own_environment() -> dict[str, str]:
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_", "GROUPWATCH_"))
    }
