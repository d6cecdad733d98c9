"""A configuration is read whole or refused with sentences that a person can act on."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import (
    ClientProperties,
    ConfigError,
    DetectionOptions,
    HttpSettings,
    SparkSettings,
    Thresholds,
    load,
    with_compat,
    with_shard,
)
from monitor.metrics.series_filter import Detail, DetailOverride, SeriesRules
from monitor.model import Shard
from streaming_jobs.jobs.job import series_rules
from tests.support.config_files import problems

FULL = """
[clusters.prod]
bootstrap_servers = "b1:9092, b2:9092"
collect_interval_s = 2.5
[clusters.prod.client]
"security.protocol" = "SASL_SSL"
sasl.mechanism = "SCRAM-SHA-512"
"sasl.username" = "watcher"
"sasl.password" = "${env:WATCHER_PASSWORD}"
[clusters.other-site]
bootstrap_servers = "[::1]:9092"
events_topic = "watch"
[http]
port = 9000
[spark]
master = "local[2]"
checkpoint = "/var/lib/groupwatch"
[spark.conf]
spark.executor.memory = "2g"
"spark.ui.enabled" = false
[detection]
lag_records = 10
"""

NO_EXTERNAL_URLS = (
    "ops.example.com/groupwatch",
    "ftp://ops.example.com",
    "https://anna:tiger@ops.example.com",
    "https://ops.example.com/?a=tiger",
    "https://ops.example.com/#tiger",
    "https://ops.example.com/a b",
    "https://ops.example.com/a/../b",
    "https://ops.example.com/%2e",
    "https://ops.example.com//a",
    "https://ops.example.com/a<b",
    "https:///groupwatch",
)
NO_EXTERNAL_URL = (
    "http.external_url should be like https://ops.example.com/groupwatch: a scheme (http or https), a host, and "
    "perhaps a port and a plain path, without a user, a query and a fragment."
)


def test_a_full_file(file):
    settings = load(file(FULL))
    prod, other = settings.clusters["prod"], settings.clusters["other-site"]
    assert (prod.name, prod.bootstrap_servers, prod.collect_interval_s) == ("prod", "b1:9092,b2:9092", 2.5)
    assert (prod.addresses, prod.events_topic) == (("b1:9092", "b2:9092"), "groupwatch.events")
    assert (other.name, other.bootstrap_servers, other.events_topic) == ("other-site", "[::1]:9092", "watch")
    assert list(prod.client) == ["security.protocol", "sasl.mechanism", "sasl.username", "sasl.password"]
    assert settings.http == HttpSettings(bind="127.0.0.1", port=9000)
    assert settings.spark.conf == {"spark.executor.memory": "2g", "spark.ui.enabled": "false"}
    assert settings.detection.lag_records == 10


def test_nothing_given_means_the_documented_defaults(file):
    settings = load(file(""))
    assert settings.clusters == {}
    assert settings.http == HttpSettings(bind="127.0.0.1", port=9464)
    assert settings.spark == SparkSettings(
        master="local[*]",
        checkpoint=None,
        buckets=0,
        shuffle_partitions=0,
        trigger_s=None,
        max_records_per_batch=4_000_000,
        conf={},
    )
    assert settings.detection == DetectionOptions()
    assert load(None) == settings


def test_an_override_has_what_it_names_and_the_rest_as_the_section(file):
    text = f'{FULL}commit_silence_s = 90\n[[detection.overrides]]\ngroups = "a.*"\ncluster = "prod"\nlag_records = 0\n'
    detection = load(file(text)).detection
    (override,) = detection.overrides
    assert (override.groups, override.cluster) == ("a.*", "prod")
    assert detection.with_override(override) == Thresholds(lag_records=0, commit_silence_s=90)


@pytest.mark.parametrize(
    ("given", "url", "path"),
    [
        ("https://ops.example.com/groupwatch/", "https://ops.example.com/groupwatch", "/groupwatch"),
        ("http://[::1]:9464", "http://[::1]:9464", ""),
        ("https://ops.example.com/", "https://ops.example.com", ""),
        ("https://ops.example.com/a-b/c.d_e~f", "https://ops.example.com/a-b/c.d_e~f", "/a-b/c.d_e~f"),
    ],
)
def test_the_external_address_has_no_slash_at_its_end(file, given, url, path):
    http = load(file(f'[http]\nexternal_url = "{given}"')).http
    assert (http.external_url, http.external_path) == (url, path)


def test_the_environment_wins(file, monkeypatch):
    monkeypatch.setenv("GROUPWATCH_HTTP__PORT", "7")
    monkeypatch.setenv("GROUPWATCH_CLUSTERS__PROD__COLLECT_INTERVAL_S", "60")
    monkeypatch.setenv("GROUPWATCH_CLUSTERS__PROD__CLIENT__SASL__PASSWORD", "1e5")
    monkeypatch.setenv("GROUPWATCH_CLUSTERS__THIRD__BOOTSTRAP_SERVERS", "h:1")
    settings = load(file(FULL))
    assert settings.http.port == 7
    assert settings.clusters["prod"].collect_interval_s == 60
    assert settings.clusters["prod"].bootstrap_servers == "b1:9092,b2:9092"
    assert settings.clusters["prod"].client_properties()["sasl.password"] == "1e5"
    assert settings.clusters["third"].bootstrap_servers == "h:1"


@pytest.mark.parametrize("servers", ["a..b:9", f"{'x' * 64}:9", "[::1:9", "::1]:9", "[a]:9", ":9", "[]:9"])
def test_an_address_that_no_name_server_could_know_is_refused(file, servers):
    with pytest.raises(ConfigError, match="bootstrap_servers should be host:port"):
        load(file(f'[clusters.a]\nbootstrap_servers = "{servers}"'))


@pytest.mark.parametrize(
    "servers", ["a.b.:9", "[::1]:9", "[fe80::1]:9", "10.0.0.1:9", "bücher.example:9", "under_score:9"]
)
def test_an_address_may_be_a_name_or_one_of_ip(file, servers):
    settings = load(file(f'[clusters.a]\nbootstrap_servers = "{servers}"'))
    assert settings.clusters["a"].bootstrap_servers == servers


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[http]\nprot = 1", "http.prot is not a known key (did you mean port?)."),
        ('shrad = "1/3"', "shrad is not a known key (did you mean shard?)."),
        ("[htp]\nport = 1", "htp is not a known key (did you mean http?)."),
        ("[clusters.a]", "clusters.a.bootstrap_servers is required."),
        ("[clusters]\na = 1", "clusters.a should be a table."),
        ('clusters = "a"', "clusters should be a table."),
        ('[clusters.a]\nname = "b"\nbootstrap_servers = "h:1"', "clusters.a.name is not a known key."),
        (
            '[clusters.a]\nbootstrap_servers = "h"',
            "clusters.a.bootstrap_servers should be host:port, or several of them separated by commas.",
        ),
        (
            '[clusters.a]\nbootstrap_servers = "admin:tiger@h:1"',
            "clusters.a.bootstrap_servers should be host:port, or several of them separated by commas.",
        ),
        (
            '[clusters.a]\nbootstrap_servers = "h:1"\nfindings_topic = "groupwatch.events"',
            "clusters.a findings_topic should be a topic of its own, not one that groupwatch reads.",
        ),
        ("[clusters.a]\nbootstrap_servers = 3", "clusters.a.bootstrap_servers should be a text."),
        ("[http]\nport = 70000", "http.port should be less than or equal to 65535."),
        *[(f'[http]\nexternal_url = "{url}"', NO_EXTERNAL_URL) for url in NO_EXTERNAL_URLS],
        (
            '[http]\nexternal_url = "https://ops.example.com/groups/x"',
            "http.external_url should have another path: groupwatch itself serves /groups.",
        ),
        ("[spark]\ntrigger_s = -1", "spark.trigger_s should be greater than or equal to 0."),
        (
            "[spark]\nbuckets = 'many'",
            "spark.buckets should be a valid integer, unable to parse string as an integer.",
        ),
        (
            '[clusters.a]\nbootstrap_servers = "h:1"\n[clusters.a.client]\n"sasl.password" = ["tiger"]',
            "clusters.a.client sasl.password should be a text, a number, or true or false.",
        ),
        (
            '[[detection.overrides]]\ngroups = "a"\n[[detection.overrides]]\ngroups = "("',
            "detection.overrides#2.groups should be an RE2 regular expression (missing ): ().",
        ),
        ("[[detection.overrides]]\nlag_records = 1", "detection.overrides#1.groups is required."),
        (
            '[[detection.overrides]]\ngroups = "a"\nimbalance_ration = 2',
            "detection.overrides#1.imbalance_ration is not a known key (did you mean imbalance_ratio?).",
        ),
        (
            '[[detection.overrides]]\ngroups = "a"\nimbalance_ratio = 0.5',
            "detection.overrides#1.imbalance_ratio should be greater than or equal to 1.",
        ),
        (
            '[[detection.overrides]]\ngroups = "a"\ncluster = "prod"',
            "detection.overrides#1.cluster should be the name of one of the clusters.",
        ),
        ("[spark.conf]\na = [1]", "spark.conf a should be a text, a number, or true or false."),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_key(file, text, sentence):
    assert problems(file(text)) == (sentence,)


TABLES = {
    "clusters": 'bootstrap_servers = "h:1"',
    "rocketmq": 'name_servers = "h:1"',
    "zookeeper": 'hosts = "h:1"\nsystem = "metaq"',
    "spark_queries": 'checkpoints = {q = "/q"}',
}


NO_NAMES = {
    "it is empty": [""],
    "it means another folder": [".", ".."],
    "it has a slash or a backslash": ["../x", "/", "a\\\\b"],
    "it has an invisible character": ["a\\nb", "a\\u0000", "\\u202Ea", "\\u001b[2J"],
    "it begins or ends with a space": [" a", "a "],
    "percent-encoded it has more than 200 characters": ["x" * 201, "\u6ce8" * 23],
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("why", "name"), [(why, name) for why, names in NO_NAMES.items() for name in names])
def test_a_name_that_can_be_no_label_or_folder_is_refused_and_shown_harmlessly(file, table, name, why):
    carrier = '[clusters.k]\nbootstrap_servers = "k:1"\n'
    (sentence,) = problems(file(f'{carrier}[{table}."{name}"]\n{TABLES[table]}\n'))
    shown = sentence.removeprefix(f'{table}: "').removesuffix(f'" cannot be a name: {why}.')
    assert shown.isprintable()
    assert len(shown) <= 80
    assert sentence == f'{table}: "{shown}" cannot be a name: {why}.'


@pytest.mark.parametrize("name", ["prod eu", "prod.eu-1_x", "..x", "\u05d4\u05d6", "\u6ce8" * 22, "a'b", "x" * 200])
def test_other_names_are_taken_as_they_are(file, name):
    assert list(load(file(f'[clusters."{name}"]\nbootstrap_servers = "h:1"\n')).clusters) == [name]


def test_every_mistake_is_named(file, monkeypatch):
    monkeypatch.setenv("GROUPWATCH_HTPP__PORT", "1")
    text = "[http]\nport = -1\n[detection]\nimbalance_ratio = 0.5\nlag = 3"
    assert problems(file(text)) == (
        "The environment variable GROUPWATCH_HTPP__PORT belongs to no section (did you mean http?).",
        "http.port should be greater than or equal to 0.",
        "detection.imbalance_ratio should be greater than or equal to 1.",
        "detection.lag is not a known key.",
    )


def test_a_file_that_cannot_be_read(tmp_path, file):
    missing = tmp_path / "no.toml"
    assert problems(missing) == (f"The configuration file {missing} cannot be read (No such file or directory).",)
    (broken,) = problems(file("[http"))
    assert "is not TOML" in broken
    (broken,) = problems(file("[http]\nport = = 1"))
    assert "line 2" in broken


def test_what_never_ends_is_no_configuration_and_no_secret(file):
    told = "cannot be read (it is larger than 4 MiB)."
    assert problems(Path("/dev/zero")) == (f"The configuration file /dev/zero {told}",)
    with pytest.raises(ConfigError) as caught:
        ClientProperties({"sasl.password": "${file:/dev/zero}"}).resolve("clusters.a.client")
    assert caught.value.problems == (f"clusters.a.client.sasl.password refers to the file /dev/zero, which {told}",)


def test_a_secret_is_looked_up_late_and_never_shown(file, monkeypatch):
    settings = load(file(FULL))
    monkeypatch.setenv("WATCHER_PASSWORD", "tiger")
    assert settings.clusters["prod"].client_properties()["sasl.password"] == "tiger"
    literal = load(file(FULL.replace("${env:WATCHER_PASSWORD}", "tiger")))
    for shown in (repr(literal), str(literal), repr(literal.clusters["prod"]), str(literal.clusters["prod"].client)):
        assert "tiger" not in shown


def test_a_secret_in_the_wrong_place_is_not_repeated(file):
    for text in (
        '[clusters.a]\nbootstrap_servers = "h:1"\n"sasl.password" = "tiger"',
        '[http]\nport = "tiger"',
        '[clusters.a]\nbootstrap_servers = "tiger"',
        '[clusters.a]\nbootstrap_servers = "h:1"\nclient = "tiger"',
    ):
        with pytest.raises(ConfigError) as caught:
            load(file(text))
        assert "tiger" not in f"{caught.value!r} {caught.value} {caught.value.__cause__}"
        assert caught.value.__suppress_context__


def test_references_to_files_and_variables(tmp_path, monkeypatch):
    (tmp_path / "password").write_text("ti ger\n")
    monkeypatch.setenv("WATCHER", "eve")
    properties = ClientProperties(
        {"sasl.jaas.config": f'Module required username="${{env:WATCHER}}" password="${{file:{tmp_path}/password}}";'}
    )
    assert properties.resolve() == {"sasl.jaas.config": 'Module required username="eve" password="ti ger";'}


def test_a_missing_reference_names_the_key(tmp_path, monkeypatch):
    monkeypatch.delenv("WATCHER_PASSWORD", raising=False)
    properties = ClientProperties(
        {"sasl.password": "tiger${env:WATCHER_PASSWORD}", "ssl.key.password": f"${{file:{tmp_path}/none}}"}
    )
    with pytest.raises(ConfigError) as caught:
        properties.resolve("clusters.prod.client")
    assert caught.value.problems == (
        "clusters.prod.client.sasl.password refers to the environment variable WATCHER_PASSWORD, which is not set.",
        f"clusters.prod.client.ssl.key.password refers to the file {tmp_path}/none, which cannot be read"
        " (No such file or directory).",
    )
    assert "tiger" not in str(caught.value)


NO_SHARD = ["0/3", "4/3", "x", "", "1", "1/", "-1/3", "1/0", "01/3", "1/3 ", "1/10000", "\u0661/\u0663"]


def test_a_shard_is_taken_from_the_file_the_environment_and_the_command_line_the_last_first(file, monkeypatch):
    assert load(file("")).shard == Shard()
    path = file('shard = "1/3"')
    assert load(path).shard == Shard(number=1, of=3)
    monkeypatch.setenv("GROUPWATCH_SHARD", "2/3")
    assert load(path).shard == Shard(number=2, of=3)
    assert with_shard(load(path), None).shard == Shard(number=2, of=3)
    assert with_shard(load(path), "3/3").shard == Shard(number=3, of=3)


@pytest.mark.parametrize("text", NO_SHARD)
def test_what_is_no_shard_is_refused_wherever_it_stands(file, monkeypatch, text):
    sentence = "should be like 1/3, the first of three shards."
    with pytest.raises(ConfigError) as caught:
        with_shard(load(file("")), text)
    assert caught.value.problems == (f"--shard {sentence}",)
    assert problems(file(f'shard = "{text}"')) == (f"shard {sentence}",)
    if text:  # an empty variable is none for pydantic-settings
        monkeypatch.setenv("GROUPWATCH_SHARD", text)
        assert problems(file("")) == (f"shard {sentence}",)


def test_a_shard_that_is_no_text_is_refused(file):
    assert problems(file("shard = 1")) == ("shard should be like 1/3, the first of three shards.",)
    assert problems(file("[shard]\nof = 1")) == ("shard should be like 1/3, the first of three shards.",)


METRICS = """
[clusters.prod]
bootstrap_servers = "b1:9092"
[metrics]
detail = "topic"
allow_groups = ["a.*", "b"]
deny_topics = ["__.*"]
max_series = 1000
compat = ["kafka_exporter"]
owner_info = true
commit_times = true
cluster_label = "kafka_cluster"
[[metrics.overrides]]
groups = "batch-.*"
cluster = "prod"
detail = "cluster"
[[metrics.overrides]]
topics = "t{1,2}"
detail = "partition"
"""


def test_the_series_are_chosen_as_the_file_says(file):
    rules = series_rules(load(file(METRICS)))
    assert rules == SeriesRules(
        detail=Detail.TOPIC,
        overrides=(
            DetailOverride(Detail.CLUSTER, cluster="prod", groups="batch-.*"),
            DetailOverride(Detail.PARTITION, topics="t{1,2}"),
        ),
        allow_groups=("a.*", "b"),
        deny_topics=("__.*",),
        kafka_exporter=True,
        owner_info=True,
        commit_times=True,
        max_series=1000,
        cluster_label="kafka_cluster",
    )
    assert series_rules(load(file(""))) == SeriesRules()


def test_the_names_of_kafka_exporter_have_a_cluster_where_several_give_them(file):
    zookeeper = '\n[zookeeper.{0}]\nhosts = "z:2181"\nsystem = "{0}"\nvia = "prod"\n'
    for more, has_label in [
        ("", False),
        ('\n[clusters.b]\nbootstrap_servers = "b:1"\n', True),
        (zookeeper.format("metaq"), False),
        (zookeeper.format("kafka"), True),
    ]:
        assert series_rules(load(file(METRICS + more))).kafka_exporter_cluster is has_label


def test_the_command_line_goes_before_the_file_in_naming_other_exporters(file):
    settings = load(file(METRICS))
    assert with_compat(settings, None) is settings
    assert with_compat(settings, "").metrics.compat == ()
    assert with_compat(load(file("")), "kafka_exporter").metrics.compat == ("kafka_exporter",)
    with pytest.raises(ConfigError) as caught:
        with_compat(settings, "burrow")
    assert caught.value.problems == ("--compat should be kafka_exporter.",)


def test_lists_of_patterns_and_names_can_be_variables(file, monkeypatch):
    monkeypatch.setenv("GROUPWATCH_METRICS__DENY_GROUPS", "a{1,2}")
    monkeypatch.setenv("GROUPWATCH_METRICS__COMPAT", "kafka_exporter")
    monkeypatch.setenv("GROUPWATCH_METRICS__MAX_SERIES", "5000")
    metrics = load(file("")).metrics
    assert (metrics.deny_groups, metrics.compat, metrics.max_series) == (("a{1,2}",), ("kafka_exporter",), 5000)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('detail = "fine"', "metrics.detail should be 'cluster', 'group', 'topic' or 'partition'."),
        ('deny_groups = ["("]', "metrics.deny_groups should be an RE2 regular expression (missing ): ()."),
        ("max_series = 0", "metrics.max_series should be greater than or equal to 1."),
        ('compat = ["burrow"]', "metrics.compat#1 should be 'kafka_exporter'."),
        *(
            (
                f'cluster_label = "{name}"',
                "metrics.cluster_label should be a label of Prometheus: letters, digits and _, without a digit or __ "
                "in front.",
            )
            for name in ("__cluster", "1st", "kafka-cluster", "kafka cluster", "cl\u00fcster", "")
        ),
        (
            'cluster_label = "group"',
            "metrics.cluster_label should be another name, because metrics or alerts already have the label group.",
        ),
        ("denied_groups = []", "metrics.denied_groups is not a known key (did you mean deny_groups?)."),
        (
            '[[metrics.overrides]]\ngroup = "g"\ndetail = "group"',
            "metrics.overrides#1.group is not a known key (did you mean groups?).",
        ),
        ('[[metrics.overrides]]\ngroups = "g"', "metrics.overrides#1.detail is required."),
        ('[[metrics.overrides]]\ndetail = "group"', "metrics.overrides#1 should name groups, topics or a cluster."),
        (
            '[[metrics.overrides]]\ntopics = "t"\ndetail = "cluster"',
            'metrics.overrides#1 detail should be "group", "topic" or "partition" where topics are named.',
        ),
        (
            '[[metrics.overrides]]\ncluster = "elsewhere"\ndetail = "group"',
            "metrics.overrides#1.cluster should be the name of one of the clusters.",
        ),
    ],
)
def test_a_mistake_about_series_is_one_sentence(file, text, sentence):
    assert problems(file(f"[metrics]\n{text}")) == (sentence,)
