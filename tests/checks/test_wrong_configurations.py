"""Every wrong configuration is a sentence for each problem and exit code 2: of check-config, and of each command."""

from __future__ import annotations

import json
import logging
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from typer.main import get_command

from monitor.cli.app import app
from tests.checks.wrong_configurations import CLUSTER, WRONG, Wrong

SPARK = '[spark]\ncheckpoint = "{folder}"\n'
COMMANDS = get_command(app)
IDS = [f"{each.table} {each.text}"[:60].strip() for each in WRONG]

Written = Callable[[Wrong | str], Path]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """Writes a configuration, with what every job needs unless it is said; the environment says nothing.

    What the commands log is theirs: they run in this process.
    """
    monkeypatch.setattr(logging.root, "handlers", [*logging.root.handlers])
    for name in [*os.environ]:
        if name.startswith(("GROUPWATCH_", "SPARK_", "PYSPARK_", "HADOOP_", "YARN_")):
            monkeypatch.delenv(name)
    (tmp_path / "file").write_text("x")

    def write(wrong: Wrong | str) -> Path:
        text = filled(wrong if isinstance(wrong, str) else text_of(wrong), tmp_path)
        file = tmp_path / "x.toml"
        file.write_text(text, encoding="utf-8")
        return file

    return write


def filled(text: str, folder: Path) -> str:
    return text.replace("{folder}", str(folder)).replace("{file}", str(folder / "file"))


def text_of(wrong: Wrong) -> str:
    if wrong.whole:
        return wrong.text
    tables = {"clusters.c": CLUSTER.partition("\n")[2], "spark": SPARK.partition("\n")[2]}
    tables[wrong.table] = tables.get(wrong.table, "") + wrong.text + "\n"
    return "".join(f"[{table}]\n{text}" for table, text in tables.items())


def ran(*words: str) -> Result:
    return CliRunner().invoke(COMMANDS, list(words))


def assert_told(sentences: list[str], wrong: Wrong, folder: Path) -> None:
    assert len(sentences) == len(wrong.told), sentences
    for sentence, told in zip(sentences, wrong.told, strict=True):
        assert sentence.startswith(filled(told, folder)), sentence
        assert sentence.endswith(".")
        assert sentence.isprintable()


@pytest.mark.parametrize("wrong", WRONG, ids=IDS)
def test_check_config_tells_a_sentence_for_each_problem_and_ends_with_2(written: Written, tmp_path: Path, wrong: Wrong):
    answer = ran("check-config", str(written(wrong)))
    assert answer.exit_code == 2, answer.output
    lines = [line.partition(" ")[2].strip() for line in answer.stdout.splitlines() if line.startswith("PROBLEM")]
    assert_told(lines, wrong, tmp_path)


@pytest.mark.parametrize("wrong", WRONG[::9], ids=IDS[::9])
def test_check_config_tells_a_program_the_same(written: Written, tmp_path: Path, wrong: Wrong):
    answer = ran("check-config", "--json", str(written(wrong)))
    assert answer.exit_code == 2
    assert_told(json.loads(answer.stdout)["problems"], wrong, tmp_path)


@pytest.mark.parametrize("wrong", WRONG, ids=IDS)
def test_run_refuses_the_same_with_the_same_sentences(written: Written, tmp_path: Path, wrong: Wrong):
    """Before it asks a broker: there is none at the address."""
    answer = ran("run", "--config", str(written(wrong)))
    assert answer.exit_code == 2, answer.output
    assert_told(_told(answer.stderr), wrong, tmp_path)
    assert not isinstance(answer.exception, Exception), "no traceback"


def _told(errors: str) -> list[str]:
    """The sentences; each line has the form of all errors."""
    head = "groupwatch cannot start: "
    assert all(line.startswith(head) for line in errors.splitlines())
    return [line.removeprefix(head) for line in errors.splitlines()]


COLLECTED = [each for each in WRONG if not each.only_jobs]


@pytest.mark.parametrize("wrong", COLLECTED, ids=[f"{each.table} {each.text}"[:60].strip() for each in COLLECTED])
def test_collect_refuses_what_is_not_about_jobs(written: Written, tmp_path: Path, wrong: Wrong):
    answer = ran("collect", "--config", str(written(wrong)))
    assert answer.exit_code == 2, answer.output
    assert_told(_told(answer.stderr), wrong, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        'master = "local[1]"',
        'master = "local"',
        'master = "local[*,4]"',
        'master = "spark://a:7077,b:7077"\nconf."spark.authenticate.secret" = "s"',
        'master = "spark://a:7077"\nconf."spark.authenticate" = false',
        'master = "k8s://https://api.example:6443"',
        "trigger_s = 0",
        "trigger_s = 86400",
        "buckets = 4096\nshuffle_partitions = 4096",
        'conf."spark.driver.memory" = "466m"',
        'conf."spark.driver.memory" = "16t"',
        'conf."spark.executor.memory" = "2gb"',
        'conf."spark.driver.maxResultSize" = "0"',
        'conf."spark.network.timeout" = "120s"',
        'conf."spark.ui.enabled" = true\nconf."spark.ui.port" = 4040',
        'conf."spark.hadoop.fs.x.enabled" = "whatever"',
        'conf."spark.executorEnv.PORT" = "x"',
        f'conf."spark.pyspark.python" = "{sys.executable}"',
    ],
)
def test_what_spark_takes_is_taken(written: Written, text: str):
    answer = ran("check-config", str(written(f"{CLUSTER}{SPARK}{text}\n")))
    assert answer.exit_code == 0, answer.output


@pytest.mark.parametrize(
    ("place", "conf"),
    [
        ("{folder}/new/deep/er", ""),
        ("file://{folder}/new", ""),
        ("hdfs://namenode:8020/x", ""),
        ("hdfs:///x", ""),
        ("s3a://bucket/x", ""),
        ("abfss://data@x.dfs.core.windows.net/y", ""),
        ("foo://b/x", '"spark.hadoop.fs.foo.impl" = "com.example.Foo"'),
        ("foo://b/x", '"spark.jars.packages" = "com.example:foofs:1"'),
    ],
)
def test_a_checkpoint_that_can_be_one_is_taken_and_the_trial_leaves_nothing(
    written: Written, tmp_path: Path, place: str, conf: str
):
    file = written(f'{CLUSTER}[spark]\ncheckpoint = "{place}"\n[spark.conf]\n{conf}\n')
    assert ran("check-config", str(file)).exit_code == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "x.toml"]


def test_what_is_in_a_checkpoint_stays_as_it_is(written: Written, tmp_path: Path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "c").touch()
    assert ran("check-config", str(written(f'{CLUSTER}[spark]\ncheckpoint = "{{folder}}/state"\n'))).exit_code == 0
    assert [each.name for each in (tmp_path / "state").iterdir()] == ["c"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
def test_a_checkpoint_that_this_user_may_not_write_is_a_problem(written: Written, tmp_path: Path):
    """As another user: root may write everywhere."""
    program = """
import os, sys
from pathlib import Path
from monitor.checks.checkpoint_place import unusable_checkpoint
from monitor.config import Settings, SparkSettings
os.setgid(65534); os.setuid(65534)
print(*unusable_checkpoint(Settings(spark=SparkSettings(checkpoint="/root/x"))))
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said == "spark.checkpoint: /root/x cannot be used as a folder (Permission denied).\n"


def test_a_file_system_whose_jars_are_not_there_is_a_warning(written: Written):
    said = ran("check-config", str(written(f'{CLUSTER}[spark]\ncheckpoint = "s3a://bucket/x"\n')))
    warning = "warning     spark.checkpoint is on s3a:, whose jars are not part of Spark: "
    assert [line for line in said.stdout.splitlines() if line.startswith(warning)] != []


def test_a_property_that_is_none_of_sparks_is_a_warning(written: Written):
    said = ran("check-config", str(written(f'{CLUSTER}{SPARK}conf."sprak.x" = 1\n'))).stdout
    assert 'warning     spark.conf."sprak.x" does not start with spark. and has no effect.\n' in said


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        (
            "SPARK_DRIVER_MEMORY",
            "lots",
            "The environment variable SPARK_DRIVER_MEMORY should be a size like 2g, from 466m",
        ),
        (
            "SPARK_EXECUTOR_MEMORY",
            "300m",
            "The environment variable SPARK_EXECUTOR_MEMORY should be a size like 2g, from 466m",
        ),
        ("PYSPARK_PYTHON", "/nowhere/p", "PYSPARK_PYTHON is /nowhere/p, which is not a program on this machine."),
        ("SPARK_HOME", "/nowhere", "SPARK_HOME is /nowhere, which has no Spark (no bin/spark-submit): unset it."),
        ("GROUPWATCH_SPARK__TRIGGER_S", "1e300", "spark.trigger_s should be less than or equal to 86400."),
        ("GROUPWATCH_SPARK__CONF__SPARK__DRIVER__MEMORY", "x", 'spark.conf."spark.driver.memory" should be a size'),
        ("GROUPWATCH_CLUSTERS__..__BOOTSTRAP_SERVERS", "h:1", 'clusters: ".." cannot be a name: '),
        (
            "GROUPWATCH_CLUSTERS__C__EVENTS_TOPIC",
            "__x",
            "clusters.c.events_topic should be a topic of groupwatch's own",
        ),
        ("GROUPWATCH_HTTP__BIND", os.fsdecode(b"\xff"), "The environment variable GROUPWATCH_HTTP__BIND is not UTF-8."),
        (f"GROUPWATCH_SPARK__CONF__{'A__' * 3_000}B", "1", "The configuration is nested too deeply."),
    ],
    ids=lambda each: each[:40],
)
def test_what_the_environment_says_wrong_is_told_as_well(
    written: Written, monkeypatch, name: str, value: str, told: str
):
    file = written(f"{CLUSTER}{SPARK}")
    monkeypatch.setenv(name, value)
    for words in (["check-config", str(file)], ["run", "--config", str(file)]):
        answer = ran(*words)
        assert answer.exit_code == 2
        assert told in answer.output
        assert "Traceback" not in answer.output


@pytest.mark.parametrize("command", ["run --config", "check-config"])
def test_a_machine_that_lets_a_process_open_few_files_is_a_problem(written: Written, command: str):
    file = written(f"{CLUSTER}{SPARK}")
    answer = subprocess.run(
        [sys.executable, "-m", "monitor.cli", *command.split(), str(file)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)),
    )
    assert answer.returncode == 2
    sentence = "A process of this user may open 256 files, and a job needs 1024: raise the limit (ulimit -n;"
    assert sentence in answer.stdout + answer.stderr
    assert "Traceback" not in answer.stderr


SHOWN = """
security.protocol = sasl_SSL / tiger
sasl.mechanism = SCRAM-SHA-256 / tiger
isolation.level = read_committed / tiger
check.crcs = TRUE / tiger
client.dns.lookup = use_all_dns_ips / tiger
request.timeout.ms = 30000 / tiger30000
fetch.max.bytes = 1000 / ti ger
ssl.protocol = TLSv1.3 / tiger
ssl.enabled.protocols = TLSv1.2,TLSv1.3 / tiger
ssl.cipher.suites = TLS_AES_128_GCM_SHA256 / tiger
ssl.truststore.type = PEM / tiger
ssl.truststore.location = /etc/ca.pem / tiger
ssl.endpoint.identification.algorithm = https / tiger
client.id = anything / -
sasl.username = anyone / -
"""
"""Properties, a value that each may have, and one that must have been pasted there by mistake (-: any may be meant)."""


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("line", SHOWN.strip().splitlines())
def test_a_value_that_a_property_cannot_have_is_not_shown_as_it_may_have_been_pasted_there(
    written: Written, line: str, options: list[str]
):
    key, known, pasted = re.split(" = | / ", line)
    fine = ran("check-config", str(written(f'{CLUSTER}[clusters.c.client]\n"{key}" = "{known}"\n{SPARK}')), *options)
    assert known in fine.stdout
    if pasted != "-":
        wrong = ran(
            "check-config", str(written(f'{CLUSTER}[clusters.c.client]\n"{key}" = "{pasted}"\n{SPARK}')), *options
        )
        assert pasted not in wrong.output
        assert "[hidden]" in wrong.output


@pytest.mark.parametrize(
    "text",
    [
        'master = "tiger"',
        'conf."spark.log.level" = "tiger"',
        'conf."spark.submit.deployMode" = "tiger"',
        'conf."spark.scheduler.mode" = "tiger"',
        'conf."spark.driver.memory" = "tiger"',
        'conf."spark.driver.host" = "ti ger"',
    ],
)
def test_a_setting_of_spark_that_it_cannot_have_is_not_shown(written: Written, text: str):
    said = ran("check-config", str(written(f"{CLUSTER}{SPARK}{text}\n"))).output
    assert "tiger" not in said
    assert "ti ger" not in said
