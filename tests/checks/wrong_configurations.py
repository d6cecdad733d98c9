"""Configurations that cannot be meant so, each with the beginning of every sentence that is told of it.

``{…}`` in a text: ``{folder}`` is a folder that may be written, ``{file}`` a file in it. A configuration is what stands
here and, unless it says something about it itself, a cluster and a checkpoint.
"""

from __future__ import annotations

from typing import NamedTuple

CLUSTER = '[clusters.c]\nbootstrap_servers = "127.0.0.1:1"\n'


class Wrong(NamedTuple):
    """A configuration: parts of its tables, or (``whole``) all of it; what is told; and whether collectors mind."""

    text: str
    told: tuple[str, ...]
    table: str = ""
    whole: bool = False
    only_jobs: bool = False


def spark(text: str, *told: str) -> Wrong:
    return Wrong(text, told, "spark", only_jobs=True)


def conf(key: str, value: str, told: str) -> Wrong:
    return Wrong(f'"{key}" = "{value}"', (f'spark.conf."{key}" should {told}',), "spark.conf", only_jobs=True)


def master(value: str) -> Wrong:
    return spark(f'master = "{value}"', "spark.master should be local[N] (N from 1 to 1024), local[*], spark://HOST")


def checkpoint(value: str, told: str) -> Wrong:
    return Wrong(
        f'{CLUSTER}[spark]\ncheckpoint = "{value}"\n', (f"spark.checkpoint{told}",), whole=True, only_jobs=True
    )


def of_table(table: str, text: str, *told: str) -> Wrong:
    return Wrong(text, tuple(f"{table}{each}" for each in told), table)


def client(key: str, value: str, told: str) -> Wrong:
    return Wrong(f"'{key}' = '{value}'", (f"clusters.c.client.{key} {told}",), "clusters.c.client")


def system(table: str, text: str, told: str) -> Wrong:
    return Wrong(
        f"{CLUSTER}[{table}.s]\n{text}\n[spark]\ncheckpoint = '{{folder}}'\n", (f"{table}.s{told}",), whole=True
    )


HEAP = "be a size like 2g, from 466m"
COUNT = "be a whole number from 1 to 1000000"
UNSEEN = " should have no invisible character."
NUL = " should have no NUL character."
ROCKET = 'name_servers = "n:9876"'
NOT_HTTPS = ("https ", " https", "HTTPS", "http", "none", " ")
METAQ = 'hosts = "z:2181"\nsystem = "metaq"'

WRONG = (
    # --- the file
    Wrong("= 1", ("The configuration file ",), whole=True),
    Wrong("x = " + "[" * 3_000, ("The configuration is nested too deeply.",), whole=True),
    Wrong(f'{"a." * 2_000}b = 1\n{CLUSTER}[spark]\ncheckpoint = "{{folder}}"', ("a is not a known key.",), whole=True),
    Wrong(f"[spark]\nconf.{'a.' * 2_000}b = 1", ("The configuration is nested too deeply.",), whole=True),
    Wrong(
        f"[http]\nport = {'9' * 5_000}",
        ("The configuration file {folder}/x.toml has a number with too many",),
        whole=True,
    ),
    Wrong("\0", ("The configuration file ",), whole=True),
    Wrong("", ("No cluster is configured: ", "spark.checkpoint is required: "), whole=True, only_jobs=True),
    Wrong("[clusters]\nc = 1", ("clusters.c should be a table.",), whole=True),
    Wrong("clusters = []", ("clusters should be a table.",), whole=True),
    Wrong('shard = "4/3"', ("shard should be like 1/3",), whole=True),
    Wrong("shard = 1e300", ("shard should be like 1/3",), whole=True),
    # --- names
    Wrong('[clusters.".."]\nbootstrap_servers = "h:1"', ('clusters: ".." cannot be a name: ',), whole=True),
    Wrong('[clusters."../x"]\nbootstrap_servers = "h:1"', ('clusters: "../x" cannot be a name: ',), whole=True),
    Wrong('[clusters."a\\nb"]\nbootstrap_servers = "h:1"', ('clusters: "a\\nb" cannot be a name: ',), whole=True),
    Wrong('[clusters."a\\u0000"]\nbootstrap_servers = "h:1"', ('clusters: "a\\x00" cannot be a name: ',), whole=True),
    # --- clusters
    of_table("clusters.c", "nothing = 1", ".nothing is not a known key"),
    Wrong('[clusters.c]\nbootstrap_servers = "h:0"', ("clusters.c.bootstrap_servers should be host:port",), whole=True),
    Wrong(
        '[clusters.c]\nbootstrap_servers = "h:1,"', ("clusters.c.bootstrap_servers should be host:port",), whole=True
    ),
    Wrong('[clusters.c]\nbootstrap_servers = "h\\u202e:1"', (f"clusters.c.bootstrap_servers{UNSEEN}",), whole=True),
    of_table(
        "clusters.c", 'events_topic = "__consumer_offsets"', ".events_topic should be a topic of groupwatch's own"
    ),
    of_table("clusters.c", 'events_topic = ".."', ".events_topic should be a topic of groupwatch's own"),
    of_table("clusters.c", 'events_topic = ""', ".events_topic should match pattern"),
    of_table("clusters.c", 'events_topic = "a b"', ".events_topic should match pattern"),
    of_table("clusters.c", 'findings_topic = "__x"', " findings_topic should be a topic of its own"),
    of_table("clusters.c", 'findings_topic = "groupwatch.events"', " findings_topic should be a topic of its own"),
    of_table("clusters.c", "collect_interval_s = 0", ".collect_interval_s should be greater than or equal to 0.1."),
    of_table("clusters.c", "collect_interval_s = 1e300", ".collect_interval_s should be less than or equal to 86400."),
    of_table("clusters.c", "collect_interval_s = nan", ".collect_interval_s should be a finite number."),
    of_table("clusters.c", "collect = 2", ".collect should be a valid boolean"),
    of_table("clusters.c", 'groups_from = "there"', ".groups_from should be 'log' or 'admin'."),
    of_table("clusters.c", 'offsets_isolation = "none"', ".offsets_isolation should be 'read_uncommitted' or"),
    of_table("clusters.c", "client = 1", ".client "),
    # --- client properties
    client("security.protocol", "tiger", "should be PLAINTEXT or SSL or SASL_PLAINTEXT or SASL_SSL."),
    client("group.id", "g", "is set by groupwatch itself; remove it."),
    client("sasl.login.class", "x", "works only in Java clients"),
    client("sasl.pasword", "x", "is not a property of Kafka clients that groupwatch knows"),
    client("fetch.max.bytes", "lots", "should be a whole number from 0 to 2147483647."),
    client("fetch.max.bytes", "2147483648", "should be a whole number from 0 to 2147483647."),
    client("request.timeout.ms", "-1", "should be a whole number from 0 to 2147483647."),
    client("request.timeout.ms", "100", "should be more than 100."),
    client("connections.max.idle.ms", "10000", "should be more than request.timeout.ms (10000)."),
    client("heartbeat.interval.ms", "45000", "should be less than session.timeout.ms (45000)."),
    client("metadata.max.age.ms", "soon", "should be a whole number from 0 to 9223372036854775807."),
    client("isolation.level", "some", "should be read_uncommitted or read_committed."),
    client("check.crcs", "perhaps", "should be true or false."),
    client("enable.idempotence", "perhaps", "should be true or false."),
    client("client.dns.lookup", "some", "should be use_all_dns_ips or resolve_canonical_bootstrap_servers_only."),
    *(client("ssl.endpoint.identification.algorithm", each, 'should be https or "".') for each in NOT_HTTPS),
    client("security.protocol", "SSL ", "should be PLAINTEXT or SSL or SASL_PLAINTEXT or SASL_SSL."),
    client("enable.idempotence", " true", "should be true or false."),
    client("request.timeout.ms", "30000 ", "should be a whole number from 0 to 2147483647."),
    client("sasl.mechanism", "PLAIN ", "should be without whitespace at its start and end."),
    client("ssl.truststore.password", "x\u00a0", "should be without whitespace at its start and end."),
    client("client.id", "\tx", "should be without whitespace at its start and end."),
    client("sasl.oauthbearer.header.urlencode", "yes", "should be true or false."),
    client("sasl.login.read.timeout.ms", "soon", "should be a whole number from 1 to 600000."),
    client("sasl.password", "${file:/dev/zero}", "refers to the file /dev/zero, which cannot be read (it is larger"),
    client("sasl.password", "${env:NO_SUCH_VARIABLE}", "refers to the environment variable NO_SUCH_VARIABLE"),
    of_table("clusters.c.client", '"sasl.password" = "a\\u0000b"', f" sasl.password{NUL}".replace(" ", " ", 1)),
    # --- http
    of_table("http", "port = 65536", ".port should be less than or equal to 65535."),
    of_table("http", "port = 1e300", ".port should be a smaller number."),
    of_table("http", 'bind = ""', ".bind should have at least 1 character."),
    of_table("http", 'bind = "a\\u0000"', f".bind{NUL}"),
    of_table("http", 'bind = "203.0.113.9"', ".bind: Cannot listen on 203.0.113.9"),
    of_table("http", "web_config_file = 1", ".web_config_file should be"),
    Wrong('web_config_file = "/nowhere"', ("/nowhere cannot be read",), "http"),
    Wrong('token_file = "/nowhere"', ("/nowhere cannot be read",), "http"),
    Wrong('token_file = "/etc"', ("/etc cannot be read",), "http"),
    # --- spark
    *map(master, ("nonsense", "local[x]", "local[0]", "local[1025]", "local[99999999999]", "local[-1]", "local[ 2]")),
    *map(master, ("local[2", "local[2,0]", "Local", "local-cluster[2,1,1024]", "spark://h", "spark://", "spark://h:x")),
    *map(master, ("mesos://h:5050", "k8s://", "k8s://u:p@h:1", "yarn-client", "http://h:7077", "local[*]; rm")),
    spark('master = ""', "spark.master should have at least 1 character."),
    spark('master = "yarn"', "spark.master is yarn: Spark needs the variable HADOOP_CONF_DIR or YARN_CONF_DIR"),
    spark('master = "local[2]\\n"', f"spark.master{UNSEEN}"),
    spark("trigger_s = 1e300", "spark.trigger_s should be less than or equal to 86400."),
    spark("trigger_s = inf", "spark.trigger_s should be a finite number."),
    spark("trigger_s = -0.1", "spark.trigger_s should be greater than or equal to 0."),
    spark('trigger_s = "1 second"', "spark.trigger_s should be a valid number"),
    spark("buckets = 4097", "spark.buckets should be less than or equal to 4096."),
    spark("shuffle_partitions = 1000000000", "spark.shuffle_partitions should be less than or equal to 4096."),
    spark("max_records_per_batch = 0", "spark.max_records_per_batch should be greater than or equal to 1."),
    spark(
        "max_records_per_batch = 1_000_000_001",
        "spark.max_records_per_batch should be less than or equal to 1000000000.",
    ),
    checkpoint("a\\u0000b", NUL),
    checkpoint("a\\nb", UNSEEN),
    checkpoint("", " should have at least 1 character."),
    checkpoint("/etc/passwd", ": /etc/passwd cannot be used as a folder (Not a directory)."),
    checkpoint("/etc/passwd/x", ": /etc/passwd/x cannot be used as a folder (Not a directory)."),
    checkpoint("/proc/x", ": /proc/x cannot be used as a folder (No such file or directory)."),
    checkpoint("{file}", ": {file} cannot be used as a folder (Not a directory)."),
    checkpoint("file://{file}", ": {file} cannot be used as a folder (Not a directory)."),
    checkpoint("/" + "x" * 300, f": /{'x' * 300} cannot be used as a folder (File name too long)."),
    checkpoint("foo://b/x", " is on foo:, a file system unknown to Spark: it supports hdfs, "),
    checkpoint("s3://b/x", " is on s3:, a file system unknown to Spark: it supports hdfs, "),
    checkpoint("http://h/x", " is on http:, a file system unknown to Spark: it supports hdfs, "),
    checkpoint("foo:b", " should be the path of a folder, or a URI like hdfs://HOST/FOLDER or s3a://BUCKET/FOLDER."),
    checkpoint("s3a:///x", " should be the path of a folder, or a URI like"),
    checkpoint("hdfs://[::1", " should be the path of a folder, or a URI like"),
    checkpoint("file://host/x", " should be the path of a folder, or a URI like"),
    *(
        conf("spark.driver.memory", size, HEAP)
        for size in ("lots", "10m", "300m", "465m", "1gb", "1.5g", "512", "-1g", "")
    ),
    conf("spark.driver.memory", "99999999999t", HEAP),
    *(conf("spark.executor.memory", size, HEAP) for size in ("lots", "300m", "450", "1.5gb")),
    conf("spark.driver.maxResultSize", "much", "be a size like 512m."),
    *(
        conf("spark.sql.shuffle.partitions", number, COUNT)
        for number in ("many", "0", "-1", "1e3", "99999999999999999999")
    ),
    conf("spark.executor.cores", "all", COUNT),
    conf("spark.task.cpus", "0", COUNT),
    conf("spark.executor.instances", "-1", "be a whole number from 0 to 1000000."),
    conf("spark.executor.heartbeatInterval", "120s", "be less than spark.network.timeout."),
    conf("spark.driver.extraJavaOptions", "-Dx='y", "be options of Java as a shell reads them: a quote in it is not"),
    Wrong(
        'master = "spark://h:7077"',
        ("spark.master spark://h:7077 is a cluster, and its ports need a secret: ",),
        "spark",
        only_jobs=True,
    ),
    Wrong(
        '"spark.x" = "${env:NO_SUCH_VARIABLE}"',
        ("spark.conf.spark.x refers to the environment variable NO_SUCH_VARIABLE, which is not set.",),
        "spark.conf",
        only_jobs=True,
    ),
    Wrong(
        '"spark.driver.memory" = "${file:{file}}"',
        ('spark.conf."spark.driver.memory" should be a size like 2g, from 466m',),
        "spark.conf",
        only_jobs=True,
    ),
    conf("spark.ui.port", "80", "be 0 (any), or a port from 1024 to 65535."),
    conf("spark.driver.port", "99999", "be 0 (any), or a port from 1024 to 65535."),
    conf("spark.network.timeout", "long", "be a time like 30s."),
    conf("spark.executor.heartbeatInterval", "10 s", "be a time like 30s."),
    conf("spark.ui.enabled", "maybe", "be true or false."),
    conf("spark.authenticate", "true ", "be true or false."),
    conf("spark.authenticate", "yes", "be true or false."),
    conf("spark.log.level", "LOUD", "be a level of log4j: "),
    conf("spark.submit.deployMode", "cluster", "be client: the driver is this process."),
    conf("spark.master", "local[1]", "not be set here: use master in [spark]."),
    conf("spark.driver.extraJavaOptions", "-Xmx1g", "not set the heap (-Xmx): "),
    Wrong(
        '"spark.pyspark.python" = "/nowhere/python"',
        ('spark.conf."spark.pyspark.python" is /nowhere/python, which is no',),
        "spark.conf",
        only_jobs=True,
    ),
    Wrong('"spark.x" = "a\\u0000b"', (f"spark.conf spark.x{NUL}",), "spark.conf"),
    Wrong('"spark.x" = [1]', ("spark.conf spark.x should be a text, a number, or true or false.",), "spark.conf"),
    # --- detection
    of_table(
        "detection", "lag_records = 99999999999999999999999999", ".lag_records should be less than or equal to 9223"
    ),
    of_table("detection", "lag_records = -1", ".lag_records should be greater than or equal to 0."),
    of_table(
        "detection", "burrow_allowed_lag = 9223372036854775808", ".burrow_allowed_lag should be less than or equal"
    ),
    of_table(
        "detection", "skew_records = 9223372036854776", ".skew_records should be less than or equal to 92233720368"
    ),
    of_table("detection", "imbalance_ratio = 1e300", ".imbalance_ratio should be less than or equal to 1000000."),
    of_table("detection", "retention_share = 1.1", ".retention_share should be less than or equal to 1."),
    of_table("detection", "storm_rebalances = 21", ".storm_rebalances should be less than or equal to 20."),
    *(
        of_table("detection", f"{key} = 1e300", f".{key} should be less than or equal to 31536000.")
        for key in ("commit_silence_s", "handover_s", "rebalance_long_s", "storm_window_s", "skew_s")
    ),
    of_table("detection", "commit_silence_s = 0", ".commit_silence_s should be greater than 0."),
    Wrong(
        'groups = "("', ("detection.overrides#1.groups should be an RE2 regular expression",), "[detection.overrides]"
    ),
    Wrong(
        'groups = "a"\nskew_s = 1e300', ("detection.overrides#1.skew_s should be less than",), "[detection.overrides]"
    ),
    Wrong(
        'groups = "a"\ncluster = "d"', ("detection.overrides#1.cluster should be the name of",), "[detection.overrides]"
    ),
    # --- metrics
    of_table("metrics", "max_series = 1_000_000_001", ".max_series should be less than or equal to 1000000000."),
    of_table("metrics", 'compat = ["burrow"]', ".compat#1 should be 'kafka_exporter'."),
    of_table("metrics", 'deny_groups = ["("]', ".deny_groups should be an RE2 regular expression"),
    of_table("metrics", 'detail = "all"', ".detail should be 'cluster'"),
    # --- other systems
    system("rocketmq", 'name_servers = "n"', ".name_servers should be host:port"),
    system("rocketmq", f"{ROCKET}\ninterval_s = 1e300", ".interval_s should be less than or equal to 86400."),
    system("rocketmq", f"{ROCKET}\nrequest_limit_s = 3601", ".request_limit_s should be less than or equal to 3600."),
    system("rocketmq", f'{ROCKET}\naccess_key = "a"', " should have both of access_key and secret_key"),
    system("rocketmq", f'{ROCKET}\naccess_key = "a\\u0000"\nsecret_key = "b"', ".access_key cannot be used."),
    system("rocketmq", f'{ROCKET}\ngroups = "("', ".groups should be an RE2 regular expression"),
    system(
        "rocketmq",
        f'{ROCKET}\ntls = true\ntls_ca_file = "{{file}}"',
        ".tls_ca_file: {file} has no certificates in PEM.",
    ),
    system("rocketmq", f'{ROCKET}\ntls = true\ntls_ca_file = "/nowhere"', ".tls_ca_file: /nowhere cannot be read."),
    system("rocketmq", f'{ROCKET}\nvia = "d"', " via should be the name of one of the clusters."),
    system("zookeeper", f"{METAQ}\nsession_limit_s = 1e300", ".session_limit_s should be less than or equal to 3600."),
    system("zookeeper", f"{METAQ}\ninterval_s = 0.01", ".interval_s should be greater than or equal to 0.1."),
    system("zookeeper", f'{METAQ}\nroot = "meta"', ".root should be the path of a node"),
    system("zookeeper", f'{METAQ}\nroot = "/a\\u202e"', f".root{UNSEEN}"),
    system("zookeeper", 'hosts = "z:2181"\nsystem = "druid"', ".system should be 'metaq' or 'kafka'."),
    system("zookeeper", f"{METAQ}\nstrategies = {{'(' = 'x'}}", ".strategies should be an RE2 regular expression"),
    system("spark_queries", "checkpoints = {}", ".checkpoints should have at least 1 item"),
    system(
        "spark_queries", "checkpoints = {q = 1}\ninterval_s = 1e9", ".interval_s should be less than or equal to 86400."
    ),
)
