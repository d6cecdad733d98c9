"""What of a configuration will not work, or not as its author may think: problems and warnings, one look each.

A problem keeps the command from starting, on this machine and as this user. A warning does not. ``groupwatch run`` and
``collect`` look for the same problems before they start: there is one table, at the end.
"""

from __future__ import annotations

import contextlib
import os
import ssl
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from monitor.checks.checkpoint_place import (
    checkpoint_without_jars,
    folder_here,
    no_checkpoint,
    unusable_checkpoint,
    unusable_recording,
)
from monitor.checks.intervals import seldom_judged, seldom_read
from monitor.checks.machine import absent_programs, java, no_spark, no_temporary_folder, rather_few_files, too_few_files
from monitor.checks.spark_properties import (
    is_master,
    not_of_spark,
    unguarded_cluster,
    wrong_master,
    wrong_properties,
)
from monitor.collectors.kafka_client.client_properties import (
    cluster_login,
    idle_properties,
    kafka_python_arguments,
    spark_options,
    token_login,
)
from monitor.collectors.kafka_client.iam import IamLogin
from monitor.collectors.kafka_client.jaas import PROPERTY as JAAS
from monitor.collectors.kafka_client.kerberos import KerberosLogin
from monitor.collectors.kafka_client.oauth import ENDPOINT, OAuthLogin
from monitor.collectors.kafka_client.tls import tls_context
from monitor.collectors.kafka_client.tokens import TokenError, read_token
from monitor.config import NAMED_TABLES, ClusterSettings, ConfigError, HttpSettings, Settings, load
from monitor.config.client import is_secret
from monitor.config.client_words import IDENTIFICATION
from monitor.config.expectations import load_expectations
from monitor.model.installing import how_to_install, is_installed
from monitor.web.http.access_errors import AccessError
from monitor.web.http.access_files import AccessFiles, read_access
from monitor.web.server import ListenError, require_own

Look = Callable[[Settings], Iterator[str]]


NOTHING_TO_WATCH: Final = "No cluster is configured: add a table [clusters.NAME] with bootstrap_servers."


def problems(settings: Settings, *, for_job: bool) -> tuple[str, ...]:
    """What keeps the command from starting: ``groupwatch run``, or (not ``for_job``) ``groupwatch collect``."""
    looks = (*PROBLEMS, *(PROBLEMS_OF_JOBS if for_job else ()))
    return tuple(text for look in looks for text in look(settings))


def load_settings(file: Path | None, *, for_job: bool) -> Settings:
    """Read the settings as :func:`monitor.config.load` does. A key that is not known hides no other mistake.

    Raises:
        ConfigError: a sentence for each mistake, also for those that :func:`require_startable` finds.
    """
    try:
        return load(file)
    except ConfigError as error:
        raise ConfigError(*mistakes(error, for_job=for_job)) from None


def mistakes(error: ConfigError, *, for_job: bool) -> tuple[str, ...]:
    """What is wrong with settings that could not be read, with what keeps the command from starting beside that."""
    return (*error.problems, *(() if error.known is None else problems(error.known, for_job=for_job)))


def require_startable(settings: Settings, *, for_job: bool) -> None:
    """Return if nothing is known that keeps the command from starting.

    Raises:
        ConfigError: a sentence for each problem.
    """
    if found := problems(settings, for_job=for_job):
        raise ConfigError(*found)


def require_spark(settings: Settings) -> None:
    """Return if nothing is known that keeps Spark from starting with this ``spark.conf``.

    Raises:
        ConfigError: a sentence for each problem.
    """
    if found := tuple(text for look in PROBLEMS_OF_SPARK for text in look(settings)):
        raise ConfigError(*found)


def warnings(settings: Settings, file: Path | None, *, for_job: bool) -> tuple[str, ...]:
    """What will not work as somebody may think."""
    looks = (*WARNINGS, *(WARNINGS_OF_JOBS if for_job else ()))
    return (*(text for look in looks for text in look(settings)), *_readable_secrets(settings, file))


def _something_to_watch(settings: Settings) -> Iterator[str]:
    if not settings.clusters:
        yield NOTHING_TO_WATCH


def _usable_properties(settings: Settings) -> Iterator[str]:
    """References that lead nowhere, and what one of the two clients (Java, Python) cannot honour."""
    for cluster in settings.clusters.values():
        try:
            kafka_python_arguments(cluster)
            spark_options(cluster)
        except ConfigError as error:  # what the second client would say may only follow from that
            yield from error.problems


def _usable_expectations(settings: Settings) -> Iterator[str]:
    file = settings.expectations.file
    try:
        if file is not None:
            load_expectations(file)
    except ConfigError as error:
        yield from (f"expectations.file: {file}: {each}" for each in error.problems)


def _usable_conf(settings: Settings) -> Iterator[str]:
    try:
        settings.spark.properties()
    except ConfigError as error:
        yield from error.problems


def _signing_keys(settings: Settings) -> Iterator[str]:
    for system in settings.rocketmq.values():
        for key, secret in (("access_key", system.access_key), ("secret_key", system.secret_key)):
            try:
                if secret is not None:
                    secret.resolve(f"{system.place}.{key}")
            except ConfigError as error:
                yield from error.problems


def _trusted_certificates(settings: Settings) -> Iterator[str]:
    for system in settings.rocketmq.values():
        if system.tls_ca_file is not None:
            yield from _unusable_ca(system.tls_ca_file, f"{system.place}.tls_ca_file")


def _unusable_ca(file: Path | str, place: str) -> Iterator[str]:
    try:
        ssl.create_default_context(cafile=file)
    except ssl.SSLError:
        yield f"{place}: {file} has no certificates in PEM."
    except OSError:
        yield f"{place}: {file} cannot be read."


def _usable_push(settings: Settings) -> Iterator[str]:
    """Exporters that are not installed, references that lead nowhere, and a file without certificates."""
    otlp = settings.otlp
    if not otlp.is_on:
        return
    if not is_installed("opentelemetry.exporter.otlp.proto"):
        yield f"otlp.endpoint needs the exporters of OpenTelemetry: {how_to_install('otlp')}."
    try:
        otlp.resolved_headers()
    except ConfigError as error:
        yield from error.problems
    if otlp.ca_file is not None:
        yield from _unusable_ca(otlp.ca_file, "otlp.ca_file")


def _usable_webhook(settings: Settings) -> Iterator[str]:
    """References that lead nowhere, a secret that is too short, and a file without certificates."""
    webhook = settings.webhook
    if not webhook.is_on:
        return
    for resolve in (webhook.resolved_secret, webhook.resolved_headers):
        try:
            resolve()
        except ConfigError as error:
            yield from error.problems
    if webhook.ca_file is not None:
        yield from _unusable_ca(webhook.ca_file, "webhook.ca_file")


def _usable_access(settings: Settings) -> Iterator[str]:
    """Who may read is read as a start reads it: absent files, tokens too short, keys of other certificates."""
    try:
        read_access(_access_files(settings.http))
    except AccessError as error:
        yield str(error)


def _open_page(settings: Settings) -> Iterator[str]:
    """As the start warns; of files that cannot be used a problem is told."""
    with contextlib.suppress(AccessError):
        access = read_access(_access_files(settings.http))
        yield from access.of_files()
        yield from (f"http.bind: {text}" for text in access.of_strangers(settings.http.bind))


def _access_files(http: HttpSettings) -> AccessFiles:
    return AccessFiles(web_config_file=http.web_config_file, token_file=http.token_file)


def _own_address(settings: Settings) -> Iterator[str]:
    try:
        require_own(settings.http.bind)
    except ListenError as error:
        yield f"http.bind: {error}"


def _random_port(settings: Settings) -> Iterator[str]:
    if settings.http.port == 0:
        yield "http.port 0 takes another port at every start: Prometheus cannot find it."


def _unknown_alerts(settings: Settings) -> Iterator[str]:
    """What `groupwatch rules` would refuse. A job does not read it."""
    from monitor.alert_rules.configured import rule_options  # noqa: PLC0415 -- no start of a job needs it

    try:
        rule_options(settings)
    except ConfigError as error:
        yield from error.problems


def _clear_passwords(settings: Settings) -> Iterator[str]:
    for cluster in settings.clusters.values():
        shown = cluster.client.shown()
        protocol = shown.get("security.protocol", "PLAINTEXT").upper()
        idle = idle_properties(shown)
        for family in ("sasl.", "ssl."):
            if any(name.startswith(family) for name in idle):
                yield f"{cluster.client_place}: with security.protocol {protocol}, {family} properties have no effect."
        if protocol == "SASL_PLAINTEXT" and shown.get("sasl.mechanism", "").upper() == "PLAIN":
            yield f"{cluster.client_place}: SASL PLAIN without TLS sends the password in clear text."


def _tokens(settings: Settings) -> Iterator[tuple[str, OAuthLogin]]:
    """The clusters that are logged in to by tokens; of what is wrong there a problem is told."""
    for cluster in settings.clusters.values():
        with contextlib.suppress(ConfigError):
            login = token_login(cluster)
            if login is not None:
                yield f"{cluster.client_place}.{ENDPOINT}", login


def _clear_secrets(settings: Settings) -> Iterator[str]:
    for place, login in _tokens(settings):
        if login.is_clear:
            yield f"{place}: http sends the client secret and the tokens in clear text; use https."


def _unchecked_names(settings: Settings) -> Iterator[str]:
    """Servers whose names no client compares with their certificates: of brokers and of token endpoints."""
    for cluster in settings.clusters.values():
        if cluster.client.shown().get(IDENTIFICATION) == "":
            yield f"{cluster.client_place}.{IDENTIFICATION} is empty: {_ANY_SERVER}"
    for place, login in _tokens(settings):
        if dict(login.tls).get(IDENTIFICATION) == "":
            yield f"{place}: {IDENTIFICATION} in {JAAS} is empty: {_ANY_SERVER}"


_ANY_SERVER: Final = "any server with a trusted certificate gets the passwords and tokens."


def _absent_token_files(settings: Settings) -> Iterator[str]:
    for place, login in _tokens(settings):
        if login.token_file is not None:
            try:
                read_token(login.token_file)
            except TokenError as error:
                yield f"{place}: {error.args[0]}"


def _unusable_trust_in_endpoints(settings: Settings) -> Iterator[str]:
    for _, login in _tokens(settings):
        try:  # without properties it is the certificates of the machine
            tls_context(f"{login.place}.sasl.jaas.config", dict(login.tls))
        except ConfigError as error:
            yield from error.problems


def _unshared_token_files(settings: Settings) -> Iterator[str]:
    """Executors elsewhere would read the file once, and never again (kafka-clients 3.9)."""
    if settings.spark.master.startswith("local"):
        return
    for place, login in _tokens(settings):
        if login.token_file is not None:
            yield (
                f"{place} is a file, and executors of {settings.spark.master} would not see its changes: use the URL of"
                " a token endpoint, or a local spark.master."
            )


def _kerberos(settings: Settings) -> Iterator[KerberosLogin]:
    """Who is logged in by Kerberos; of what is wrong there a problem is told."""
    for cluster in settings.clusters.values():
        with contextlib.suppress(ConfigError):
            login = cluster_login(cluster)
            if isinstance(login, KerberosLogin):
                yield login


def _absent_keytabs(settings: Settings) -> Iterator[str]:
    for login in _kerberos(settings):
        try:
            with Path(login.file).open("rb"):
                pass
        except OSError as error:
            kind = "ticket cache" if login.keytab is None else "keytab"
            yield f"{login.place}.sasl.jaas.config: the {kind} {login.file} cannot be read ({error.strerror})."


def _unshared_keytabs(settings: Settings) -> Iterator[str]:
    """The Kafka clients of Spark's executors log in, too."""
    master = settings.spark.master
    if master.startswith("local") or not is_master(master):
        return
    for login in _kerberos(settings):
        yield (
            f"{login.place}.sasl.jaas.config: {login.file} is a path of one machine, and spark.master {master} a"
            " cluster: all executors have to see the same file there."
        )


def _same_brokers(settings: Settings) -> Iterator[str]:
    first: dict[frozenset[str], str] = {}
    for name, cluster in settings.clusters.items():
        other = first.setdefault(frozenset(cluster.addresses), name)
        if other != name:
            yield f"clusters.{name} has the brokers of clusters.{other}: the same groups would be watched twice."


def _elsewhere(settings: Settings) -> Iterator[str]:
    named = [
        f"{table}.{name}"
        for table in NAMED_TABLES
        for name, watched in getattr(settings, table).items()
        if not watched.collect
    ]
    if named:
        yield f"The job depends on a groupwatch collect that runs elsewhere: {', '.join(named)} has collect = false."


def _fleeting_checkpoint(settings: Settings) -> Iterator[str]:
    yield from _fleeting("spark.checkpoint", settings.spark.checkpoint, "the job then reads the log from the beginning")


def _fleeting_recording(settings: Settings) -> Iterator[str]:
    yield from _fleeting("history.folder", settings.history.folder, "the recording then starts anew")


def _fleeting(name: str, place: str | None, loss: str) -> Iterator[str]:
    path = folder_here(place or "/")
    if path is None:
        return
    if not path.is_absolute():
        yield f"{name} {path} is relative: another working directory has another, empty one."
    if path.is_relative_to("/tmp") or path.is_relative_to("/var/tmp"):
        yield f"{name} {path} is in a folder that is cleared: {loss}."


def _cluster_of_spark(settings: Settings) -> Iterator[str]:
    spark = settings.spark
    if spark.master.startswith("local") or not is_master(spark.master):
        return
    if spark.checkpoint is not None and folder_here(spark.checkpoint) is not None:
        yield (
            f"spark.checkpoint {spark.checkpoint} is a path of one machine, and spark.master {spark.master} a cluster:"
            " the driver and all executors have to see the same folder there."
        )
    if spark.shuffle_partitions == 0:
        yield (
            "spark.shuffle_partitions is not set and will be 8 on any cluster: about its number of cores"
            " is right, and it is fixed once there is a checkpoint."
        )


def _libraries_of_java(settings: Settings) -> Iterator[str]:
    """zstd, lz4 and RocksDB unpack theirs there; a job whose JVM cannot load them never reads its first batch."""
    chosen = " ".join([os.environ.get("JAVA_TOOL_OPTIONS", ""), *settings.spark.conf.values()])
    temporary = Path(tempfile.gettempdir())
    if "java.io.tmpdir" not in chosen and loads_no_code(temporary):
        yield (
            f"{temporary} is mounted with noexec, and Java unpacks libraries there: set TMPDIR=/ANOTHER/FOLDER, or the"
            " job reads nothing."
        )


def loads_no_code(folder: Path) -> bool:
    """Whether programs and libraries in this folder cannot be run (noexec)."""
    return bool(os.statvfs(folder).f_flag & getattr(os, "ST_NOEXEC", 0))  # Linux only


def _folders_of_queries(settings: Settings) -> Iterator[str]:
    for queries in settings.spark_queries.values():
        for name, folder in queries.checkpoints.items():
            if queries.collect and "://" not in folder and not Path(folder).is_dir():
                yield f'spark_queries.{queries.name}.checkpoints."{name}": there is no folder {folder} here.'


def _readable_secrets(settings: Settings, file: Path | None) -> Iterator[str]:
    """Secrets in a file that others may read."""
    if file is None or not _others_read(file):
        return
    written = [
        f"{cluster.client_place}.{key}"
        for cluster in settings.clusters.values()
        for key in cluster.client
        if is_secret(key) and "location" not in key and cluster.client.is_written_out(key)
        if not (key == JAAS and _has_no_secret(cluster))
    ]
    receivers = (("otlp.headers", settings.otlp.headers), ("webhook.headers", settings.webhook.headers))
    written += [f"{place}.{key}" for place, headers in receivers for key in headers if headers.is_written_out(key)]
    if written:
        yield (
            f"{file} holds {', '.join(written)} and may be read by others on this machine: write ${{file:/PATH}} there,"
            " or take the right to read it away (chmod 600)."
        )


def _has_no_secret(cluster: ClusterSettings) -> bool:
    """Whether the line of JAAS is that of a log-in which has no secret there: a keytab, a cache, or AWS's own keys."""
    try:
        return isinstance(cluster_login(cluster), KerberosLogin | IamLogin)
    except ConfigError:
        return False


def _others_read(file: Path) -> bool:
    try:
        return bool(file.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH))
    except OSError:
        return False


def _sharded_recording(settings: Settings) -> Iterator[str]:
    """Portions of several jobs have no common order, and a changed number of shards would read the logs again."""
    if settings.history.is_on and not settings.shard.is_all:
        yield "A job with a shard cannot record: remove [history] folder, or watch all groups in one job."


PROBLEMS: Final[tuple[Look, ...]] = (
    _something_to_watch,
    _usable_properties,
    _signing_keys,
    _trusted_certificates,
    _usable_push,
    _usable_access,
    _own_address,
    _absent_token_files,
    _unusable_trust_in_endpoints,
    _absent_keytabs,
)
PROBLEMS_OF_SPARK: Final[tuple[Look, ...]] = (
    _usable_conf,
    wrong_properties,
    no_spark,
    java,
    absent_programs,
    no_temporary_folder,
    too_few_files,
)
PROBLEMS_OF_JOBS: Final[tuple[Look, ...]] = (
    no_checkpoint,
    _sharded_recording,
    unusable_checkpoint,
    _usable_webhook,
    _usable_expectations,
    wrong_master,
    unguarded_cluster,
    _unshared_token_files,
    *PROBLEMS_OF_SPARK,
)
WARNINGS: Final[tuple[Look, ...]] = (
    _open_page,
    _random_port,
    _clear_passwords,
    _clear_secrets,
    _unchecked_names,
    _same_brokers,
    _folders_of_queries,
    _unknown_alerts,
    seldom_read,
)
WARNINGS_OF_JOBS: Final[tuple[Look, ...]] = (
    _elsewhere,
    _fleeting_checkpoint,
    unusable_recording,
    _fleeting_recording,
    _cluster_of_spark,
    _unshared_keytabs,
    _libraries_of_java,
    checkpoint_without_jars,
    not_of_spark,
    rather_few_files,
    seldom_judged,
)
