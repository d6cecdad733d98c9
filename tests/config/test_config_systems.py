"""The tables of the systems beside Kafka's own groups are read whole or refused with sentences to act on."""

from __future__ import annotations

import pytest

from monitor.config import ConfigError, load
from tests.support.config_files import problems

KAFKA = '[clusters.prod]\nbootstrap_servers = "b1:9092"\n'
TWO = f'{KAFKA}[clusters.other]\nbootstrap_servers = "b2:9092"\n'
FULL = f"""{TWO}groups_from = "admin"
collect = false
[rocketmq.orders]
name_servers = "n1:9876; n2:9876"
via = "prod"
interval_s = 5
request_limit_s = 1.5
access_key = "${{env:ROCKETMQ_ACCESS_KEY}}"
secret_key = "tiger"
tls = true
tls_ca_file = "/etc/ca.pem"
groups = "orders-.*"
[zookeeper.old]
hosts = "z1:2181, z2:2181"
system = "kafka"
via = "other"
session_limit_s = 6
bootstrap_servers = "k1:9092, k2:9092"
[zookeeper.old.strategies]
"audit.*" = "roundrobin"
[zookeeper.meta]
hosts = "z1:2181"
system = "metaq"
via = "other"
collect = false
[spark_queries.etl]
cluster = "prod"
interval_s = 30
[spark_queries.etl.checkpoints]
etl.orders = "/chk/orders"
"etl.bills" = "hdfs://n/chk/bills"
"""


def test_a_full_file(file):
    settings = load(file(FULL))
    orders, old, meta = settings.rocketmq["orders"], settings.zookeeper["old"], settings.zookeeper["meta"]
    assert (orders.name, orders.addresses, orders.via) == ("orders", ("n1:9876", "n2:9876"), "prod")
    assert (orders.interval_s, orders.request_limit_s, orders.groups) == (5, 1.5, "orders-.*")
    assert (orders.tls, orders.tls_ca_file, orders.collect) == (True, "/etc/ca.pem", True)
    assert (old.hosts, old.bootstrap_servers, old.root) == ("z1:2181,z2:2181", "k1:9092,k2:9092", "")
    assert (old.session_limit_s, old.strategies) == (6, {"audit.*": "roundrobin"})
    assert (meta.root, meta.collect, meta.bootstrap_servers) == ("/meta", False, None)
    etl = settings.spark_queries["etl"]
    assert etl.checkpoints == {"etl.orders": "/chk/orders", "etl.bills": "hdfs://n/chk/bills"}
    assert [system.name for system in settings.systems] == ["orders", "old", "meta"]
    assert [settings.carrier_of(each).name for each in (orders, old, etl)] == ["prod", "other", "prod"]
    assert (settings.clusters["prod"].groups_from, settings.clusters["prod"].collect) == ("log", True)
    assert (settings.clusters["other"].groups_from, settings.clusters["other"].collect) == ("admin", False)


def test_the_only_cluster_is_the_carrier_of_what_names_none(file):
    text = f'{KAFKA}[rocketmq.r]\nname_servers = "n:1"\n[spark_queries.s.checkpoints]\nq = "/c"\n'
    settings = load(file(text))
    assert settings.carrier_of(settings.rocketmq["r"]).name == "prod"
    assert settings.carrier_of(settings.spark_queries["s"]).name == "prod"


def test_variables_name_systems_and_win(file, monkeypatch):
    monkeypatch.setenv("GROUPWATCH_ROCKETMQ__ORDERS__REQUEST_LIMIT_S", "2")
    monkeypatch.setenv("GROUPWATCH_ROCKETMQ__ORDERS__SECRET_KEY", "1e5")
    monkeypatch.setenv("GROUPWATCH_SPARK_QUERIES__MORE__CLUSTER", "other")
    monkeypatch.setenv("GROUPWATCH_SPARK_QUERIES__MORE__CHECKPOINTS__Q", "/c")
    monkeypatch.setenv("GROUPWATCH_ZOOKEEPER__OLD__COLLECT", "false")
    settings = load(file(FULL))
    orders = settings.rocketmq["orders"]
    assert orders.request_limit_s == 2
    assert orders.secret_key is not None
    assert orders.secret_key.resolve("rocketmq.orders.secret_key") == "1e5"
    assert settings.spark_queries["more"].checkpoints == {"q": "/c"}
    assert settings.zookeeper["old"].collect is False


def test_a_secret_is_looked_up_when_needed_and_never_shown(file, monkeypatch):
    monkeypatch.delenv("ROCKETMQ_ACCESS_KEY", raising=False)
    settings = load(file(FULL))
    orders = settings.rocketmq["orders"]
    assert orders.access_key is not None
    with pytest.raises(ConfigError) as caught:
        orders.access_key.resolve(f"{orders.place}.access_key")
    assert caught.value.problems == (
        "rocketmq.orders.access_key refers to the environment variable ROCKETMQ_ACCESS_KEY, which is not set.",
    )
    monkeypatch.setenv("ROCKETMQ_ACCESS_KEY", "lion")
    assert orders.access_key.resolve("rocketmq.orders.access_key") == "lion"
    assert "tiger" not in repr(settings)
    assert "tiger" not in str(orders)


CARRIED = f'{TWO}via = "prod"\n'


def test_a_carrier_has_the_events_and_findings_of_a_cluster(file):
    text = f'{KAFKA}findings_topic = "found"\n[clusters.other]\nbootstrap_servers = "b2:9092"\nvia = "prod"\n'
    settings = load(file(f'{text}collect_interval_s = 3\n[spark_queries.s]\ncluster = "other"\ncheckpoints.q = "/c"\n'))
    prod, other = settings.clusters["prod"], settings.clusters["other"]
    assert settings.carrier_of(prod) is prod
    for watched in (other, settings.spark_queries["s"]):
        carrier = settings.carrier_of(watched)
        assert (carrier.name, carrier.bootstrap_servers) == ("prod", "b1:9092")
        assert (carrier.events_topic, carrier.findings_topic) == ("groupwatch.events.other", "found")
        assert carrier.collect_interval_s == 3
    assert settings.cluster_of(settings.spark_queries["s"]) is other
    assert settings.own_topics_at(prod) == {"groupwatch.events", "groupwatch.events.other", "found"}
    assert settings.own_topics_at(other) == set()


def test_a_cluster_whose_name_is_none_of_a_topic_can_be_carried_and_carry(file):
    carried = f'{KAFKA}[clusters."prod eu"]\nbootstrap_servers = "b2:9092"\nvia = "prod"\nevents_topic = "eu"\n'
    assert load(file(carried)).clusters["prod eu"].events_topic == "eu"
    carries = '[clusters."prod eu"]\nbootstrap_servers = "b1:1"\n[clusters.c]\nbootstrap_servers = "b2:1"\n'
    assert load(file(f'{carries}via = "prod eu"\n')).clusters["c"].events_topic == "groupwatch.events.c"


ROCKET = f'{KAFKA}[rocketmq.r]\nname_servers = "n:1"\n'
ZOO = f'{KAFKA}[zookeeper.z]\nhosts = "h:1"\nsystem = "kafka"\n'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[rocketmq.r]", "rocketmq.r.name_servers is required."),
        ("[rocketmq]\nr = 1", "rocketmq.r should be a table."),
        (f'{ROCKET}name = "x"', "rocketmq.r.name is not a known key."),
        (f"{ROCKET}intervall_s = 1", "rocketmq.r.intervall_s is not a known key (did you mean interval_s?)."),
        (f"{ROCKET}interval_s = 0", "rocketmq.r.interval_s should be greater than or equal to 0.1."),
        (f"{ROCKET}request_limit_s = inf", "rocketmq.r.request_limit_s should be a finite number."),
        (f"{ROCKET}secret_key = ['tiger']", "rocketmq.r.secret_key cannot be used."),
        (
            f"{ROCKET}secret_key = 'tiger'",
            "rocketmq.r should have both of access_key and secret_key, or neither.",
        ),
        (f"{ROCKET}tls_ca_file = '/a'", "rocketmq.r should have tls = true because it has tls_ca_file."),
        (
            f"{ROCKET}groups = '('",
            "rocketmq.r.groups should be an RE2 regular expression (missing ): ().",
        ),
        (
            '[rocketmq.r]\nname_servers = "a:1,b:2"',
            "rocketmq.r.name_servers should be host:port, or several of them separated by semicolons.",
        ),
        (f'{ROCKET}via = "prd"', "rocketmq.r via should be the name of one of the clusters."),
        (
            '[rocketmq.r]\nname_servers = "n:1"',
            "rocketmq.r needs a Kafka cluster: add a table [clusters.NAME] with bootstrap_servers.",
        ),
        (
            f'{TWO}[rocketmq.r]\nname_servers = "n:1"',
            "rocketmq.r via is required with several clusters: the name of one of them.",
        ),
        (
            f'{TWO}[spark_queries.s.checkpoints]\nq = "/c"',
            "spark_queries.s cluster is required with several clusters: the name of one of them.",
        ),
        (
            f'{KAFKA}[rocketmq.prod]\nname_servers = "n:1"',
            "rocketmq.prod needs another name: there is a clusters.prod.",
        ),
        (
            f'{ROCKET}[zookeeper.r]\nhosts = "h:1"\nsystem = "metaq"',
            "zookeeper.r needs another name: there is a rocketmq.r.",
        ),
        (
            f'{KAFKA}via = "prod"',
            "clusters.prod via should be the name of another of the clusters, one without via.",
        ),
        (
            f'{KAFKA}[clusters."prod eu"]\nbootstrap_servers = "b2:9092"\nvia = "prod"',
            "clusters.prod eu has via: set its events_topic, or give it another name. The default, "
            "groupwatch.events.NAME, may have only letters, digits, dots, _ and -.",
        ),
        (
            f'{CARRIED}[clusters.third]\nbootstrap_servers = "b3:9092"\nvia = "other"',
            "clusters.third via should be the name of another of the clusters, one without via.",
        ),
        (
            f'{CARRIED}findings_topic = "f"',
            "clusters.other findings_topic should stand in clusters.prod: with via, findings go there.",
        ),
        (
            f'{KAFKA}findings_topic = "found"\n{CARRIED.removeprefix(KAFKA)}events_topic = "found"',
            "clusters.other events_topic should be a topic of its own at prod.",
        ),
        (
            f'{CARRIED}groups_from = "admin"\nconnect_configs.c = "configs"',
            'clusters.other connect_configs needs groups_from = "log" or no via.',
        ),
        (
            f'{CARRIED}[rocketmq.r]\nname_servers = "n:1"\nvia = "other"',
            "rocketmq.r via should be the name of a cluster without via.",
        ),
        (f'{KAFKA}[zookeeper.z]\nhosts = "h:1"', "zookeeper.z.system is required."),
        (f'{KAFKA}[zookeeper.z]\nhosts = "h:1"\nsystem = "meta"', "zookeeper.z.system should be 'metaq' or 'kafka'."),
        (f'{ZOO}root = "meta/"', "zookeeper.z.root should be the path of a node, like /meta."),
        (
            f'{KAFKA}[zookeeper.z]\nhosts = "h:1"\nsystem = "metaq"\nbootstrap_servers = "b:1"',
            "zookeeper.z should have no bootstrap_servers: MetaQ's brokers are those in the tree.",
        ),
        (
            f"{ZOO}[zookeeper.z.strategies]\n'(' = 'range'",
            "zookeeper.z.strategies should be an RE2 regular expression (missing ): ().",
        ),
        (f"{KAFKA}[spark_queries.s]", "spark_queries.s.checkpoints is required."),
        (
            f'{KAFKA}[spark_queries.s]\ncheckpoints = {{ q = "/c" }}\n'
            '[spark_queries.t]\ncluster = "prod"\ncheckpoints = { r = "/d" }',
            "spark_queries.t reads the cluster prod, as spark_queries.s does: put all its checkpoints into one table.",
        ),
        (f'{KAFKA}groups_from = "logs"', "clusters.prod.groups_from should be 'log' or 'admin'."),
    ],
)
def test_a_mistake_is_told_by_its_place_and_in_one_sentence(file, text, sentence):
    assert problems(file(text)) == (sentence,)


def test_an_override_may_name_a_system(file):
    settings = load(file(f'{ROCKET}[[detection.overrides]]\ngroups = "a"\ncluster = "r"\nlag_records = 5\n'))
    assert settings.detection.overrides[0].cluster == "r"
