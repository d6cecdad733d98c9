"""check-config says what would be watched and what will not work, shows no secret, and ends with 0 or 2."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from monitor.alert_rules import RULES
from monitor.checks.config_checks import loads_no_code
from monitor.cli.app import app
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import free_ports
from tests.support.garbage import collect_garbage
from tests.support.kdc import needs_kerberos
from tests.web.http.certificates import Authority

# kafka-python leaves a connection that was refused to the collector of garbage.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")

CLUSTER = '[clusters.prod]\nbootstrap_servers = "broker1:9092"\n'
SPARK = '[spark]\ncheckpoint = "hdfs://namenode/groupwatch"\n'
SASL = '[clusters.prod.client]\n"security.protocol" = "SASL_SSL"\n"sasl.mechanism" = "PLAIN"\n"sasl.username" = "u"\n'
TOKENS = SASL.replace("PLAIN", "OAUTHBEARER").replace('"sasl.username" = "u"\n', "")
KERBEROS = (
    TOKENS.replace("OAUTHBEARER", "GSSAPI")
    + "'sasl.kerberos.service.name' = 'kafka'\n'sasl.jaas.config' = 'com.sun.security.auth.module.Krb5LoginModule"
    + ' required useKeyTab=true keyTab="/nowhere" principal="watcher";\'\n'
)
TOKEN_URL = "sasl.oauthbearer.token.endpoint.url"
CREDENTIALS = "".join(
    f'"sasl.oauthbearer.client.credentials.client.{key}" = "{value}"\n' for key, value in (("id", "u"), ("secret", "s"))
)
IDENTIFICATION = "ssl.endpoint.identification.algorithm"
OAUTH_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
ROCKETMQ = '[rocketmq.orders]\nname_servers = "namesrv:9876"\n'


@pytest.fixture
def check(tmp_path: Path):
    def checked(text: str, *options: str, mode: int = 0o600) -> Result:
        file = tmp_path / "groupwatch.toml"
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)
        return CliRunner().invoke(app, ["check-config", str(file), *options])

    yield checked
    collect_garbage()  # what it leaves behind warns here, and not in another test


def told(result: Result, label: str) -> list[str]:
    return [line.removeprefix(label).strip() for line in result.stdout.splitlines() if line.startswith(label)]


def test_a_file_that_will_do_is_told_as_it_would_be_watched(check, tmp_path: Path):
    answer = check(
        f'{CLUSTER}{ROCKETMQ}[spark]\ncheckpoint = "hdfs://namenode/groupwatch"\n[detection]\ncommit_silence_s = 30\n'
    )
    assert answer.exit_code == 0
    assert answer.stdout.splitlines() == [
        "watches     clusters.prod: Kafka at broker1:9092; groups from the offsets topic, topics collected by the job",
        "watches     rocketmq.orders: RocketMQ at namesrv:9876; groups .*, collected by the job, through prod",
        "setting     http = 127.0.0.1:9464",
        "setting     spark.master = local[*]",
        "setting     spark.checkpoint = hdfs://namenode/groupwatch",
        "setting     spark.trigger_s = 1 (from clusters and cores)",
        "setting     detection.commit_silence_s = 30.0",
        f"result      groupwatch run can start with {tmp_path}/groupwatch.toml."
        " Clusters were not contacted: add --connect.",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(SPARK, "No cluster is configured", id="nothing to watch"),
        pytest.param(CLUSTER, "spark.checkpoint is required", id="no checkpoint"),
        pytest.param(
            f"{CLUSTER}{SPARK}[htpp]\n", "htpp is not a known key (did you mean http?).", id="a section misspelt"
        ),
        pytest.param("= 1", "is not TOML", id="not TOML"),
        pytest.param(
            f'{CLUSTER}{SASL}"sasl.password" = "${{file:/nowhere}}"\n{SPARK}',
            "clusters.prod.client.sasl.password refers to the file /nowhere, which cannot be read",
            id="a secret that is not there",
        ),
        pytest.param(
            f'{CLUSTER}[clusters.prod.client]\n"sasl.login.class" = "x"\n{SPARK}',
            "works only in Java clients",
            id="a property that Python has not",
        ),
        pytest.param(
            f"{CLUSTER}[clusters.prod.client]\n'group.id' = 'x'\n{SPARK}", "is set by groupwatch itself", id="our own"
        ),
        pytest.param(
            f'{CLUSTER}{ROCKETMQ}access_key = "${{env:NO_SUCH_KEY}}"\nsecret_key = "s"\n{SPARK}',
            "rocketmq.orders.access_key refers to the environment variable NO_SUCH_KEY",
            id="a signing key that is not there",
        ),
        pytest.param(
            f'{CLUSTER}{ROCKETMQ}tls = true\ntls_ca_file = "/nowhere.pem"\n{SPARK}',
            "rocketmq.orders.tls_ca_file: /nowhere.pem cannot be read.",
            id="certificates that are not there",
        ),
        pytest.param(
            f'{CLUSTER}{TOKENS}"{TOKEN_URL}" = "file:///nowhere"\n{SPARK}',
            f"client.{TOKEN_URL}: the token file /nowhere cannot be read (No such file or directory).",
            id="a token file that is not there",
        ),
        pytest.param(
            f'{CLUSTER}{TOKENS}"{TOKEN_URL}" = "https://login/token"\n{CREDENTIALS.splitlines()[0]}\n{SPARK}',
            "client.secret is required for SASL OAUTHBEARER.",
            id="a client without a secret",
        ),
        pytest.param(
            f"{CLUSTER}{TOKENS}{SPARK}".replace("OAUTHBEARER", "GSSAPI"),
            "sasl.jaas.config is required for SASL GSSAPI, Java's default sasl.mechanism.",
            id="Kerberos without a login module",
        ),
        pytest.param(
            f"{CLUSTER}{KERBEROS}{SPARK}",
            "client.sasl.jaas.config: the keytab /nowhere cannot be read (No such file or directory).",
            id="a keytab that is not there",
            marks=needs_kerberos,
        ),
    ],
)
def test_what_keeps_a_job_from_starting_is_a_problem_and_ends_with_2(check, text: str, problem: str):
    answer = check(text)
    assert answer.exit_code == 2
    (line,) = told(answer, "PROBLEM")
    assert problem in line
    assert "cannot start" in told(answer, "result")[0]


def test_keys_that_are_not_known_hide_no_other_mistake(check, tmp_path: Path, monkeypatch):
    """All that is wrong is told at once, by a start as well: two keys, and what is missing without them."""
    monkeypatch.setenv("GROUPWATCH_HTPP__PORT", "1")
    answer = check('[cluster.x]\nbootstrap_servers = "h:1"\n[htp]\nport = 1\n[spark]\nchekpoint = "/srv/x"\n')
    assert answer.exit_code == 2
    expected = [
        "The environment variable GROUPWATCH_HTPP__PORT belongs to no section (did you mean http?).",
        "spark.chekpoint is not a known key (did you mean checkpoint?).",
        "cluster is not a known key (did you mean clusters?).",
        "htp is not a known key (did you mean http?).",
        "No cluster is configured: add a table [clusters.NAME] with bootstrap_servers.",
        "spark.checkpoint is required: a folder for the job's state that survives restarts (groupwatch collect needs"
        " none; check its file with --collect).",
    ]
    assert told(answer, "PROBLEM") == expected
    started = CliRunner().invoke(app, ["run", "--config", str(tmp_path / "groupwatch.toml")])
    assert started.exit_code == 2
    assert [line for line in expected if line not in " ".join(started.output.split())] == []


def test_keys_that_are_not_known_in_lists_and_tables_hide_nothing(check):
    answer = check(f'{CLUSTER}colect = true\n[[detection.overrides]]\ngroups = "x"\nlag = 1\n[metrics]\ndeny = []\n')
    assert [line.partition(" is ")[0] for line in told(answer, "PROBLEM")] == [
        "clusters.prod.colect",
        "detection.overrides#1.lag",
        "metrics.deny",
        "spark.checkpoint",
    ]


@pytest.mark.parametrize("word", ["https ", "HTTPS", "none", " "])
def test_the_host_name_of_a_token_endpoint_is_checked_exactly_or_not_at_all(check, word: str):
    line = f"'sasl.jaas.config' = '{OAUTH_MODULE} required {IDENTIFICATION}=\"{word}\";'"
    answer = check(f'{CLUSTER}{TOKENS}"{TOKEN_URL}" = "https://login/token"\n{CREDENTIALS}{line}\n{SPARK}')
    assert answer.exit_code == 2
    (problem,) = told(answer, "PROBLEM")
    assert f'clusters.prod.client.sasl.jaas.config.{IDENTIFICATION} should be https or "".' in problem


def test_a_store_in_a_jaas_line_is_read(check):
    line = f"{OAUTH_MODULE} required ssl.truststore.location='/no.pem'"
    text = f'{CLUSTER}{TOKENS}"{TOKEN_URL}" = "https://login/token"\n{CREDENTIALS}"sasl.jaas.config" = "{line};"\n'
    answer = check(f"{text}{SPARK}")
    assert answer.exit_code == 2
    (problem,) = told(answer, "PROBLEM")
    assert "sasl.jaas.config.ssl.truststore.location cannot be read (No such file or directory)." in problem


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        pytest.param(
            f'{CLUSTER}{SPARK}[http]\nbind = "0.0.0.0"\n', "http.bind: Any client that can reach 0.0.0.0 has", id="open"
        ),
        pytest.param(f"{CLUSTER}{SPARK}[http]\nport = 0\n", "Prometheus cannot find it", id="a port that changes"),
        pytest.param(f'{CLUSTER}[spark]\ncheckpoint = "/tmp/no-such"\n', "is cleared", id="a checkpoint in /tmp"),
        pytest.param(f'{CLUSTER}[spark]\ncheckpoint = "state"\n', "is relative", id="a relative checkpoint"),
        pytest.param(
            f'{CLUSTER}[clusters.prod.client]\n"sasl.username" = "u"\n{SPARK}', "have no effect", id="SASL without SASL"
        ),
        pytest.param(
            f'{CLUSTER}[clusters.prod.client]\n"ssl.truststore.location" = "/ca.pem"\n{SPARK}',
            "with security.protocol PLAINTEXT, ssl. properties have no effect",
            id="TLS without TLS",
        ),
        pytest.param(
            f'{CLUSTER}{SASL}"sasl.password" = "p"\n{SPARK}'.replace("SASL_SSL", "SASL_PLAINTEXT"),
            "in clear text",
            id="a password in clear text",
        ),
        pytest.param(
            f'{CLUSTER}{TOKENS}"{TOKEN_URL}" = "http://login/token"\n{CREDENTIALS}{SPARK}',
            f"{TOKEN_URL}: http sends the client secret and the tokens in clear text",
            id="a client secret in clear text",
        ),
        pytest.param(
            f'{CLUSTER}[clusters.prod.client]\n"security.protocol" = "SSL"\n"{IDENTIFICATION}" = ""\n{SPARK}',
            f"clusters.prod.client.{IDENTIFICATION} is empty: any server with a trusted certificate gets the passwords",
            id="brokers of any name",
        ),
        pytest.param(
            f'{CLUSTER}{TOKENS}"{TOKEN_URL}" = "https://login/token"\n{CREDENTIALS}'
            f"'sasl.jaas.config' = '{OAUTH_MODULE} required {IDENTIFICATION}=\"\";'\n{SPARK}",
            f"{TOKEN_URL}: {IDENTIFICATION} in sasl.jaas.config is empty: any server with a trusted certificate",
            id="a token endpoint of any name",
        ),
        pytest.param(
            f'{CLUSTER}[clusters.again]\nbootstrap_servers = "broker1:9092"\n{SPARK}',
            "clusters.again has the brokers of clusters.prod",
            id="the same cluster twice",
        ),
        pytest.param(f"{CLUSTER}collect = false\n{SPARK}", "clusters.prod has collect = false", id="elsewhere"),
        pytest.param(
            f'{CLUSTER}[spark_queries.etl.checkpoints]\n"q" = "/nowhere"\n{SPARK}',
            "there is no folder /nowhere here",
            id="a query's folder that is not there",
        ),
        pytest.param(
            f'{CLUSTER}{SPARK}[alerts]\ndisabled = ["GroupwatchLagOd"]\n',
            "there is no alert GroupwatchLagOd (did you mean GroupwatchLagOld?)",
            id="an alert that there is not",
        ),
    ],
)
def test_what_will_not_work_as_somebody_may_think_is_a_warning_and_ends_with_0(check, text: str, warning: str):
    answer = check(text)
    assert answer.exit_code == 0
    assert [line for line in told(answer, "warning") if warning in line] != []


OLD = "will fire repeatedly without a fault."
ZOOKEEPER = '[zookeeper.old]\nhosts = "zk:2181"\nsystem = "metaq"\n'
QUERIES = "[spark_queries.etl.checkpoints]\nq = 's3a://bucket/q'\n"


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        pytest.param(f"{CLUSTER}{SPARK}trigger_s = 359.5\n", [], id="a trigger below the age of an evaluation"),
        pytest.param(
            f"{CLUSTER}{SPARK}trigger_s = 360\n",
            [f"spark.trigger_s is 360 s: GroupwatchEvaluationOld (beyond 360 s) {OLD}"],
            id="a trigger as long as that age and the minute that it has to last",
        ),
        pytest.param(f"{CLUSTER}collect_interval_s = 659\n{SPARK}", [], id="topics below their age"),
        pytest.param(
            f"{CLUSTER}collect_interval_s = 660\n{SPARK}",
            [f"clusters.prod.collect_interval_s is 660 s: GroupwatchCatalogOld (beyond 660 s) {OLD}"],
            id="topics as old as that",
        ),
        pytest.param(
            f"{CLUSTER}collect_interval_s = 960\n{SPARK}",
            [
                "clusters.prod.collect_interval_s is 960 s: GroupwatchCatalogOld (beyond 660 s)"
                f" and GroupwatchCollectorOld (beyond 960 s) {OLD}"
            ],
            id="a pass as seldom as a collector may succeed",
        ),
        pytest.param(
            f"{CLUSTER}{ROCKETMQ}interval_s = 700\n{ZOOKEEPER}interval_s = 959\n{SPARK}",
            [
                f"rocketmq.orders.interval_s is 700 s: GroupwatchCatalogOld (beyond 660 s) {OLD}",
                f"zookeeper.old.interval_s is 959 s: GroupwatchCatalogOld (beyond 660 s) {OLD}",
            ],
            id="systems, whose readings list their topics",
        ),
        pytest.param(
            f"{CLUSTER}[spark_queries.etl]\ninterval_s = 959\n{QUERIES}{SPARK}", [], id="queries have no topics"
        ),
        pytest.param(
            f"{CLUSTER}[spark_queries.etl]\ninterval_s = 7200\n{QUERIES}{SPARK}",
            [f"spark_queries.etl.interval_s is 7200 s: GroupwatchCollectorOld (beyond 960 s) {OLD}"],
            id="queries that are read every two hours",
        ),
    ],
)
def test_intervals_as_long_as_an_alert_waits_are_told_and_end_with_0(check, text: str, warnings: list[str]):
    answer = check(text)
    assert (answer.exit_code, told(answer, "warning")) == (0, warnings)


def test_the_trigger_follows_from_clusters_and_cores_unless_it_is_chosen(check):
    clusters = "".join(f'[clusters.c{n}]\nbootstrap_servers = "b{n}:9092"\n' for n in range(6))
    shown = [
        line
        for chosen in ("", "trigger_s = 0.5\n")
        for line in told(check(f'{clusters}{SPARK}master = "local[4]"\n{chosen}'), "setting")
    ]
    assert [line for line in shown if "trigger_s" in line] == [
        "spark.trigger_s = 1.5 (from clusters and cores)",
        "spark.trigger_s = 0.5",
    ]


def test_a_collector_alone_is_told_of_its_intervals_and_not_of_the_trigger(check):
    answer = check(f"{CLUSTER}collect_interval_s = 660\n[spark]\ntrigger_s = 360\n", "--collect")
    (warning,) = told(answer, "warning")
    assert (answer.exit_code, warning.split()[0]) == (0, "clusters.prod.collect_interval_s")


@pytest.mark.parametrize(
    ("name", "age_s"),
    [("GroupwatchEvaluationOld", 300), ("GroupwatchCatalogOld", 600), ("GroupwatchCollectorOld", 900)],
)
def test_the_ages_of_which_a_warning_tells_are_those_of_the_alerts_that_are_shipped(name: str, age_s: int):
    (rule,) = [rule for rule in RULES if rule.name == name]
    assert re.search(rf"_timestamp_seconds > {age_s}(?! *[*+])( and |$)", rule.expr)
    assert rule.hold_s == 60  # the minute by which the ages of the warning are larger


@pytest.fixture
def guarded(tmp_path: Path):
    """The section http of a page that others reach, with these files; each is readable by its owner only."""

    def written(**contents: str) -> str:
        lines = ['[http]\nbind = "0.0.0.0"']
        for key, content in contents.items():
            file = tmp_path / key
            file.write_text(content, encoding="utf-8")
            file.chmod(0o600)
            lines.append(f'{key} = "{file}"')
        return "\n".join(lines) + "\n"

    return written


@pytest.fixture
def tls(tmp_path: Path) -> str:
    """A web configuration with a certificate that can be used; the CA beside it is ca.pem."""
    authority = Authority(tmp_path)
    authority.sign("server")
    return "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n"


@pytest.mark.parametrize("options", [[], ["--collect"]], ids=["run", "collect"])
@pytest.mark.parametrize(
    ("contents", "problem"),
    [
        pytest.param({"token_file": "abc\n"}, "line 1: a token has at least 16 characters.", id="a token too short"),
        pytest.param({"token_file": "# none\n"}, "has no token.", id="no token"),
        pytest.param(
            {"web_config_file": "tls_server_config:\n  cert_file: gone.pem\n  key_file: gone.key\n"},
            "gone.pem cannot be read (No such file or directory).",
            id="an absent certificate",
        ),
    ],
)
def test_what_guards_the_page_is_read_as_a_start_reads_it(check, guarded, contents, problem, options: list[str]):
    answer = check(f"{CLUSTER}{SPARK}{guarded(**contents)}", *options)
    assert answer.exit_code == 2
    (line,) = told(answer, "PROBLEM")
    assert line.endswith(problem)


@pytest.mark.parametrize("key", ["web_config_file", "token_file"])
@pytest.mark.parametrize("options", [[], ["--collect"]], ids=["run", "collect"])
def test_an_absent_file_of_who_may_read_keeps_it_from_starting(check, key: str, options: list[str]):
    answer = check(f'{CLUSTER}{SPARK}[http]\n{key} = "/nowhere/x"\n', *options)
    assert answer.exit_code == 2
    assert told(answer, "PROBLEM") == ["/nowhere/x cannot be read (No such file or directory)."]


CLIENTS = "  client_ca_file: ca.pem\n  client_auth_type: "
EVERYBODY = (
    "http.bind: Any client that can reach 0.0.0.0 has access without a password; see docs/access.md to restrict it."
)


@pytest.mark.parametrize(
    ("more", "warnings"),
    [
        pytest.param("", [EVERYBODY], id="TLS alone keeps nobody out"),
        pytest.param(f"{CLIENTS}VerifyClientCertIfGiven\n", [EVERYBODY], id="a certificate if one likes"),
        pytest.param(f"{CLIENTS}RequireAndVerifyClientCert\n", [], id="a certificate is required"),
        pytest.param(
            "basic_auth_users: {a: $2y$10$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze}\n", [], id="users"
        ),
    ],
)
def test_whether_everybody_may_read_is_told_by_what_has_to_be_shown(check, guarded, tls: str, more: str, warnings):
    answer = check(f"{CLUSTER}{SPARK}{guarded(web_config_file=tls + more)}")
    assert (answer.exit_code, told(answer, "warning")) == (0, warnings)


def test_a_token_without_tls_and_one_that_every_user_may_open_are_told(check, guarded, tmp_path: Path):
    text = f"{CLUSTER}{SPARK}{guarded(token_file='a-token-of-22-letters-')}"
    (tmp_path / "token_file").chmod(0o644)
    answer = check(text)
    assert answer.exit_code == 0
    assert told(answer, "warning") == [
        f"Every user of this machine may open {tmp_path}/token_file, which has secrets; run chmod o= on it.",
        "http.bind: Credentials cross the network to 0.0.0.0 as plain text; http.web_config_file can turn on TLS.",
    ]
    assert "a-token-of" not in answer.output


def test_a_line_of_jaas_without_a_secret_may_be_read_by_others(check):
    line = "com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true ticketCache='/tmp/tickets';"
    login = f'[clusters.prod.client]\n"security.protocol" = "SASL_SSL"\n"sasl.jaas.config" = "{line}"\n'
    answer = check(f'{CLUSTER}{login}"sasl.kerberos.service.name" = "kafka"\n{SPARK}', mode=0o644)
    assert [text for text in told(answer, "warning") if "may be read by others" in text] == []


def test_who_may_read_and_which_series_there_are_is_told_where_it_is_not_the_default(check, guarded, tmp_path: Path):
    metrics = (
        '[metrics]\ndetail = "group"\ndeny_groups = ["console-.*", "test-.*"]\nmax_series = 5000\nowner_info = true\n'
    )
    overrides = (
        '[[metrics.overrides]]\ndetail = "partition"\ngroups = "orders"\ncluster = "prod"\n'
        '[[metrics.overrides]]\ndetail = "topic"\ntopics = "events-.*"\n'
    )
    text = f"{CLUSTER}{SPARK}{guarded(token_file='a-token-of-22-letters-')}{metrics}{overrides}"
    settings = told(check(text), "setting")
    assert settings == [
        "http = 0.0.0.0:9464",
        f"http.token_file = {tmp_path}/token_file",
        "spark.master = local[*]",
        "spark.checkpoint = hdfs://namenode/groupwatch",
        "spark.trigger_s = 1 (from clusters and cores)",
        "metrics.detail = group",
        "metrics.overrides = partition for groups orders, cluster prod",
        "metrics.overrides = topic for topics events-.*",
        "metrics.deny_groups = console-.*, test-.*",
        "metrics.max_series = 5000",
        "metrics.owner_info = True",
    ]


def test_a_cluster_of_spark_wants_a_shared_checkpoint_and_a_number_of_partitions(check):
    answer = check(f'{CLUSTER}[spark]\ncheckpoint = "/shared/groupwatch"\nmaster = "spark://host:7077"\n')
    said = told(answer, "warning")
    assert [line for line in said if "all executors have to see the same folder" in line] != []
    assert [line for line in said if line.startswith("spark.shuffle_partitions is not set and will be 8")] != []
    on_hdfs = check(f'{CLUSTER}{SPARK}master = "spark://host:7077"\nshuffle_partitions = 4\n')
    assert told(on_hdfs, "warning") == []


def test_a_secret_in_a_file_that_others_may_read_is_told_and_not_shown(check):
    text = f'{CLUSTER}{SASL}"sasl.password" = "tiger"\n{SPARK}'
    open_to_all, own = check(text, mode=0o644), check(text, mode=0o600)
    (warning,) = told(open_to_all, "warning")
    assert "holds clusters.prod.client.sasl.password and may be read by others" in warning
    assert told(own, "warning") == []
    referred = check(text.replace("tiger", "${file:/dev/null}x"), mode=0o644)
    assert told(referred, "warning") == []


@pytest.mark.parametrize("options", [["--json"], ["--connect", "--connect-limit=1"]], ids=["json", "connect"])
def test_no_secret_is_ever_shown(check, options: list[str]):
    (port,) = free_ports(1)
    text = f"{CLUSTER}{SASL}'sasl.password' = 'tiger'\n{ROCKETMQ}access_key = 'lion'\nsecret_key = 'puma'\n"
    local = text.replace("broker1:9092", f"127.0.0.1:{port}").replace("namesrv:9876", f"127.0.0.1:{port}")
    queries = '[spark_queries.etl.checkpoints]\n"q" = "s3a://u:lynx@bucket/q"\n'
    spark = (
        '[spark]\ncheckpoint = "s3a://u:civet@bucket/x"\n[spark.conf]\n"spark.hadoop.fs.s3a.secret.key" = "ocelot"\n'
    )
    java = '"spark.driver.extraJavaOptions" = "-Djavax.net.ssl.trustStorePassword=serval"\n'
    more = (
        '"spark.executorEnv.DB_PASS" = "caracal"\n"spark.executorEnv.PIN" = "82468246"\n'
        '"spark.jars" = "https://store/x.jar?sig=kodkod"\n'
        '"spark.jars.repositories" = "https://u:mar/gay@store"\n"spark.sql.catalog.c.uri" = "jdbc:x;pass=oncilla"\n'
    )
    answer = check(f"{local}{queries}{spark}{java}{more}", *options)
    cats = (
        "tiger",
        "lion",
        "puma",
        "lynx",
        "civet",
        "ocelot",
        "serval",
        "caracal",
        "82468246",
        "kodkod",
        "gay",
        "oncilla",
    )
    assert [cat for cat in cats if cat in answer.output] == []
    assert answer.stdout.count("[hidden]") == len(cats)


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_of_a_key_that_is_not_known_to_be_harmless_no_value_is_shown(check, options: list[str]):
    """Written wrong, or a login that only Hadoop knows as one."""
    client = '[clusters.prod.client]\n"sasl.passwrd" = "tiger"\n"sasl.pas" = "lion"\n"client.id" = "shown"\n'
    conf = (
        '[spark.conf]\n"spark.hadoop.fs.azure.sas.fixed" = "puma"\n"spark.hadoop.fs.x.pin" = "lynx"\n'
        '"spark.hadoop.javax.jdo.option.ConnectionPasswd" = "civet"\n"spark.driver.memory" = "4g"\n'
        '"spark.sql.session.timeZone" = "UTC"\n"spark.network.timeout" = "120s"\n'
    )
    answer = check(f"{CLUSTER}{client}{SPARK}{conf}", *options)
    assert [cat for cat in ("tiger", "lion", "puma", "lynx", "civet") if cat in answer.output] == []
    assert all(text in answer.output for text in ("sasl.passwrd", "sasl.pas", "shown", "4g", "UTC", "120s"))


@pytest.mark.parametrize("bind", ["999.1.1.1", "192.0.2.1", "no such host", "a..b", "x" * 70])
def test_an_address_on_which_this_machine_cannot_listen_is_told(check, bind: str):
    answer = check(f'{CLUSTER}{SPARK}[http]\nbind = "{bind}"\n')
    assert answer.exit_code == 2
    assert [each for each in told(answer, "PROBLEM") if each.startswith(f"http.bind: Cannot listen on {bind}: ")] != []


def test_the_recording_is_told_and_its_folder_is_tried_and_left_as_it_was(check, tmp_path: Path):
    """It may be made by the first start; somebody else's folders above it are not touched either."""
    (tmp_path / "history").mkdir()
    for folder in (tmp_path / "history", tmp_path / "new" / "and" / "deep"):
        answer = check(f'{CLUSTER}{SPARK}[history]\nfolder = "{folder}"\nkeep_days = 7\n')
        assert answer.exit_code == 0
        assert [line for line in told(answer, "setting") if line.startswith("history.")] == [
            f"history.folder = {folder}",
            "history.every_s = 60",
            "history.keep_days = 7",
        ]
        assert [line for line in told(answer, "warning") if "cannot" in line] == []
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["history"]
    assert list((tmp_path / "history").iterdir()) == []
    assert "history" not in check(f"{CLUSTER}{SPARK}").stdout
    assert "history" not in check(f'{CLUSTER}[history]\nfolder = "/dev/null/x"\n', "--collect").stdout


@pytest.mark.parametrize(
    ("folder", "warning"),
    [
        ("/dev/null/x", "history.folder: /dev/null/x cannot be used as a folder (Not a directory)."),
        ("s3a:/x", "history.folder should be the path of a folder, or a URI like hdfs://HOST/FOLDER or s3a://BUCKET"),
        ("nfs://h/x", "history.folder is on nfs:, a file system unknown to Spark: it supports hdfs, "),
        ("history", "history.folder history is relative: another working directory has another, empty one."),
        (
            "/tmp/no-such-recording",
            "history.folder /tmp/no-such-recording is in a folder that is cleared: the recording then starts anew.",
        ),
    ],
)
def test_a_folder_that_cannot_hold_the_recording_is_a_warning(check, folder: str, warning: str):
    """Watching goes on without a recording."""
    answer = check(f'{CLUSTER}{SPARK}[history]\nfolder = "{folder}"\n')
    assert answer.exit_code == 0
    assert [line for line in told(answer, "warning") if line.startswith(warning)] != []


def test_a_share_of_the_groups_cannot_be_recorded(check):
    """Portions of several jobs have no common order."""
    recorded = f'{CLUSTER}{SPARK}[history]\nfolder = "/srv/history"\n'
    assert check(recorded).exit_code == 0
    answer = check(f'shard = "1/2"\n{recorded}')
    assert answer.exit_code == 2
    assert told(answer, "PROBLEM") == [
        "A job with a shard cannot record: remove [history] folder, or watch all groups in one job."
    ]


def test_a_push_that_cannot_work_is_told_and_no_header_is_shown(check, tmp_path: Path):
    (tmp_path / "ca.pem").write_text("no certificate", encoding="utf-8")
    push = f'[otlp]\nendpoint = "https://collector:4317"\nca_file = "{tmp_path}/ca.pem"\n'
    answer = check(f'{CLUSTER}{SPARK}{push}[otlp.headers]\nauthorization = "tiger ${{env:NO_SUCH_VARIABLE}}"\n')
    assert answer.exit_code == 2
    assert told(answer, "PROBLEM") == [
        "otlp.headers.authorization refers to the environment variable NO_SUCH_VARIABLE, which is not set.",
        f"otlp.ca_file: {tmp_path}/ca.pem has no certificates in PEM.",
    ]
    assert "tiger" not in answer.stdout


def test_a_webhook_that_cannot_work_is_told(check):
    hook = '[webhook]\nurl = "https://receiver/hook"\nsecret = "tiger"\nca_file = "/none"\n'
    answer = check(f"{CLUSTER}{SPARK}{hook}")
    assert told(answer, "PROBLEM") == [
        "webhook.secret should have at least 16 bytes; those of base64 count decoded.",
        "webhook.ca_file: /none cannot be read.",
    ]
    assert "tiger" not in answer.stdout


def test_a_file_of_expectations_with_a_mistake_is_told(check, tmp_path: Path):
    file = tmp_path / "expectations.toml"
    file.write_text('[[expect]]\ngroups = "orders"\nmember = 3\n', encoding="utf-8")
    answer = check(f'{CLUSTER}{SPARK}[expectations]\nfile = "{file}"\n')
    assert answer.exit_code == 2
    (problem,) = told(answer, "PROBLEM")
    assert problem.startswith(f"expectations.file: {file}: ")
    assert "member" in problem


def test_headers_that_are_written_out_in_a_file_that_others_read_are_told(check):
    push = '[otlp]\nendpoint = "http://collector:4317"\n[otlp.headers]\nauthorization = "tiger"\nx-a = "${env:HOME}"\n'
    (warning,) = told(check(f"{CLUSTER}{SPARK}{push}", mode=0o644), "warning")
    assert "holds otlp.headers.authorization and may be read by others" in warning


def test_a_file_for_collect_needs_no_checkpoint(check):
    assert check(CLUSTER, "--collect").exit_code == 0
    assert "groupwatch collect can start" in check(CLUSTER, "--collect").stdout


def test_json_has_the_same_for_a_program(check, tmp_path: Path):
    answer = check(CLUSTER, "--json")
    report = json.loads(answer.stdout)
    assert answer.exit_code == 2
    assert report["file"] == f"{tmp_path}/groupwatch.toml"
    assert [each["place"] for each in report["watched"]] == ["clusters.prod"]
    assert report["problems"][0].startswith("spark.checkpoint is required")
    assert "connections" not in report


def test_connect_tells_for_every_system_whether_it_answers(check):
    """A port that nobody listens on refuses; one that somebody has answers, whatever he speaks."""
    (free,) = free_ports(1)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        taken = listening.getsockname()[1]
        answer = check(
            f'[clusters.prod]\nbootstrap_servers = "127.0.0.1:{free}"\n'
            f'[rocketmq.half]\nname_servers = "127.0.0.1:{taken};127.0.0.1:{free}"\n'
            f'[zookeeper.away]\nhosts = "127.0.0.1:{free}"\nsystem = "metaq"\n{SPARK}',
            "--connect",
            "--connect-limit=1",
        )
    assert answer.exit_code == 2
    assert told(answer, "reached") == [
        f"rocketmq.half: 1 of 2 name servers answer (127.0.0.1:{free}: Connection refused)."
    ]
    kafka, zookeeper = told(answer, "NOT REACHED")
    assert kafka.startswith(f"clusters.prod: Cluster prod: no broker answers at 127.0.0.1:{free}")
    assert zookeeper == f"zookeeper.away: 0 of 1 servers answer (127.0.0.1:{free}: Connection refused)."
    assert told(answer, "result")[0].endswith("2 not reached.")


@pytest.mark.broker
@pytest.mark.parametrize("command", ["run", "collect"])
def test_connect_says_what_a_real_broker_permits(check, broker: EmbeddedKafka, command: str):
    text = f'[clusters.prod]\nbootstrap_servers = "{broker.bootstrap_servers}"\n{SPARK}'
    answer = check(text, "--connect", *(["--collect"] if command == "collect" else []))
    assert answer.exit_code == 0
    (reached,) = told(answer, "reached")
    if command == "run":
        assert reached.startswith(
            ("clusters.prod: reached, 1 broker; ", "clusters.prod: Cluster prod: there is no topic __c")
        )
    else:
        assert reached == "clusters.prod: reached; groupwatch.events may be written."


@pytest.mark.skipif(not Path("/proc/mounts").exists(), reason="only Linux has a list of mounts there")
def test_a_folder_from_which_java_can_load_no_library_is_known_by_how_it_is_mounted():
    """The kernel's own list says the same; /proc is mounted so nearly everywhere."""
    mounted = [line.split() for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    options = {place: words.split(",") for _, place, _, words, *_ in mounted}  # the last mount of a place counts
    known = {place: "noexec" in options[place] for place in ("/", "/proc", "/dev", "/sys") if place in options}
    assert known != {}
    assert {place: loads_no_code(Path(place)) for place in known} == known


def test_a_token_file_is_for_a_job_on_this_machine_alone(check, tmp_path: Path):
    """Executors elsewhere read it once, and do not reach the driver's loopback."""
    token = tmp_path / "token"
    token.write_text("a.b.c", encoding="utf-8")
    text = f'{CLUSTER}{TOKENS}"{TOKEN_URL}" = "file://{token}"\n{SPARK}'
    assert told(check(text), "PROBLEM") == []
    (problem,) = told(check(f'{text}master = "k8s://host:6443"\n'), "PROBLEM")
    assert f"{TOKEN_URL} is a file, and executors of k8s://host:6443 would not see its changes" in problem
