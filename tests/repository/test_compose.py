"""docker-compose.yml fits what it mounts: every path is there, every address is somebody's, nothing is open to others.

No container is started here: that needs Docker, which the suite does not ask for. What asks whether a service is well
is run against real servers, and the whole file is held against the schema of the Compose specification.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest
import yaml

from monitor.checks.spark_properties import AUTHENTICATE, SECRET
from monitor.config import HttpSettings, Settings, load
from monitor.demo.servers import guard
from monitor.demo.servers.ports import free_ports
from monitor.web.http.access_files import AccessFiles
from monitor.web.server import HttpServer
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.jobs import cluster_watch
from streaming_jobs.runtime import session
from tests.support.health_checks import COMPOSE, SERVICES, asked_of, is_well
from tests.support.job_process import eventually
from tests.support.programs import required
from tests.web.http.certificates import Authority

ROOT = Path(__file__).parents[2]
PROVISIONING = "/etc/grafana/provisioning"
OURS = ("groupwatch", "spark-master", "spark-worker")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


def mounts(service: str) -> dict[str, str]:
    """What is mounted into a service: the place in the container and the host's path or the volume's name."""
    return {entry.split(":")[1]: entry.split(":")[0] for entry in SERVICES[service].get("volumes", [])}


def mounted_file(service: str, path: str) -> Path:
    """The file of this repository that a service sees at a path."""
    for inside, source in mounts(service).items():
        if source.startswith("./") and PurePosixPath(path).is_relative_to(inside):
            return ROOT / source / PurePosixPath(path).relative_to(inside)
    raise AssertionError(f"{service} has nothing of ours at {path}")


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.fixture
def settings() -> Settings:
    command = re.search(r'^CMD \["run", "--config", "(.+)"\]$', (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert command is not None
    return load(mounted_file("groupwatch", command[1]))


@pytest.mark.parametrize("service", SERVICES)
def test_every_mounted_path_is_there(service: str):
    for source in mounts(service).values():
        assert (ROOT / source).exists() if source.startswith("./") else source in COMPOSE["volumes"]


def test_every_declared_volume_is_used():
    assert set(COMPOSE["volumes"]) <= {source for service in SERVICES for source in mounts(service).values()}


@pytest.mark.parametrize("service", SERVICES)
def test_ports_are_open_to_this_machine_only(service: str):
    assert [port for port in SERVICES[service].get("ports", []) if not port.startswith("127.0.0.1:")] == []


@pytest.mark.parametrize("service", SERVICES)
def test_every_image_has_a_version(service: str):
    image = SERVICES[service]["image"]
    assert re.search(r":v?\d+\.\d+\.\d+$", image)
    assert ("build" in SERVICES[service]) is (image == f"groupwatch:{VERSION}") is (service in OURS)


def test_the_file_is_as_the_compose_specification_wants_it():
    schema = json.loads(
        files("check_jsonschema").joinpath("builtin_schemas/vendor/compose-spec.json").read_text("utf-8")
    )
    assert [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(COMPOSE)] == []


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_is_hardened_limited_and_asked_how_it_is(service: str):
    """Kafka's image writes its settings below /opt/kafka when it starts; everything else has a root to read only."""
    said = SERVICES[service]
    assert said["cap_drop"] == ["ALL"]
    assert said["security_opt"] == ["no-new-privileges:true"]
    assert said["restart"] == "unless-stopped", "a reboot of the host ends a job with 0, and it comes back"
    assert (service in OURS) or said["user"] in {"appuser", "nobody", "472"}
    assert said.get("read_only", False) is (service != "kafka")
    assert re.fullmatch(r"\d+[mg]", said["mem_limit"])
    assert {"test", "interval", "timeout", "start_period", "retries"} <= said["healthcheck"].keys()


def test_who_waits_for_a_service_waits_for_its_health():
    waited_for = {
        (name, condition["condition"])
        for service in SERVICES.values()
        for name, condition in service.get("depends_on", {}).items()
    }
    assert {condition for _, condition in waited_for} == {"service_healthy"}
    assert {name for name, _ in waited_for} <= SERVICES.keys()


@pytest.mark.parametrize("service", OURS)
def test_java_may_load_the_libraries_that_it_unpacks(service: str):
    """RocksDB, zstd and lz4 unpack theirs into /tmp, and Docker mounts a tmpfs with noexec unless told otherwise."""
    (entry,) = SERVICES[service]["tmpfs"]
    place, _, options = entry.partition(":")
    assert place == "/tmp"
    assert "exec" in options.split(",")


def guide() -> str:
    return (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")


def test_without_the_kafka_and_the_line_that_the_guide_names_nobody_waits_for_it():
    """Compose refuses a file in which somebody depends on a service that there is not."""
    named = "remove the service `kafka` and the line `kafka: {condition: service_healthy}` under `depends_on`"
    assert named in " ".join(guide().split())
    text = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    line = "      kafka: {condition: service_healthy}\n"
    assert text.count(line) == 1
    services = yaml.safe_load(text.replace(line, ""))["services"]
    del services["kafka"]
    assert {name for each in services.values() for name in each.get("depends_on", {})} <= services.keys()


def test_the_health_check_that_the_guide_gives_for_tls_fits_a_server_with_tls_and_the_shipped_one_does_not(tmp_path):
    shown = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```", guide(), re.MULTILINE | re.DOTALL)]
    (services,) = [each["services"] for each in shown if "services" in each]
    kind, python, *arguments = services["groupwatch"]["healthcheck"]["test"]
    assert (kind, python) == ("CMD", "python")
    Authority(tmp_path).sign("server")
    config = tmp_path / "web.yml"
    config.write_text("tls_server_config: {cert_file: server.pem, key_file: server.key}\n", encoding="utf-8")
    with HttpServer(SnapshotStore(("c",)), port=0, access=AccessFiles(web_config_file=config)) as server:
        port = int(server.url.rpartition(":")[2])
        command = [sys.executable, *(word.replace("127.0.0.1:9464/", f"127.0.0.1:{port}/") for word in arguments)]
        assert is_well(command)
        assert not is_well(asked_of("groupwatch", port, 9464))
    assert not is_well(command)


def test_groupwatch_reads_the_kafka_beside_it(settings: Settings):
    (cluster,) = settings.clusters.values()
    (address,) = cluster.addresses
    assert f"INSIDE://{address}" in SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"].split(",")
    assert address.partition(":")[0] in SERVICES


def test_kafka_tells_a_client_on_the_host_the_address_that_is_published():
    told = SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"].split(",")
    (address,) = [listener.removeprefix("HOST://") for listener in told if listener.startswith("HOST://")]
    port = address.rpartition(":")[2]
    assert SERVICES["kafka"]["ports"] == [f"{address}:{port}"]
    assert f"HOST://:{port}" in SERVICES["kafka"]["environment"]["KAFKA_LISTENERS"].split(",")


def test_every_listener_of_kafka_has_a_protocol_and_a_port_of_its_own():
    environment = SERVICES["kafka"]["environment"]
    listeners = dict(entry.split("://:") for entry in environment["KAFKA_LISTENERS"].split(","))
    protocols = dict(entry.split(":") for entry in environment["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"].split(","))
    assert listeners.keys() == protocols.keys()
    assert len(set(listeners.values())) == len(listeners)
    assert environment["KAFKA_INTER_BROKER_LISTENER_NAME"] in listeners


def test_groupwatch_is_reached_through_the_published_port(settings: Settings):
    port = settings.http.port
    assert settings.http.bind == "0.0.0.0"
    assert f"127.0.0.1:{port}:{port}" in SERVICES["groupwatch"]["ports"]
    assert f"127.0.0.1:{port}/healthz" in SERVICES["groupwatch"]["healthcheck"]["test"][-1]


def test_the_checkpoint_outlives_the_container_and_has_the_same_name_where_the_executors_are(settings: Settings):
    assert settings.spark.checkpoint is not None

    def kept(service: str) -> dict[str, str]:
        checkpoint = PurePosixPath(settings.spark.checkpoint or "")
        return {
            inside: source
            for inside, source in mounts(service).items()
            if checkpoint.is_relative_to(inside) and source in COMPOSE["volumes"]
        }

    assert kept("groupwatch") == kept("spark-worker") != {}


def test_the_job_the_master_and_the_worker_find_each_other(settings: Settings):
    told = option_of("spark-master", "--host"), option_of("spark-master", "--port")
    assert settings.spark.master == f"spark://{told[0]}:{told[1]}" == SERVICES["spark-worker"]["command"][-1]
    assert SERVICES["spark-master"]["hostname"] == told[0]
    assert settings.spark.conf["spark.driver.host"] == SERVICES["groupwatch"]["hostname"]


def test_an_executor_fits_into_the_worker(settings: Settings):
    assert settings.spark.conf["spark.executor.memory"] == option_of("spark-worker", "--memory")
    assert str(settings.spark.shuffle_partitions) == option_of("spark-worker", "--cores")


@pytest.mark.parametrize("service", ["groupwatch", "spark-worker"])
def test_what_spark_puts_aside_lies_on_a_disk_and_not_in_memory(service: str):
    place = PurePosixPath(SERVICES[service]["environment"]["SPARK_LOCAL_DIRS"])
    assert any(
        place.is_relative_to(inside) for inside, source in mounts(service).items() if source in COMPOSE["volumes"]
    )


def test_the_job_has_the_time_that_it_takes_to_end():
    """The answers under way, one query that hangs, and the JVM."""
    longest_s = 2 + cluster_watch.END_LIMIT_S + session.JVM_END_LIMIT_S
    assert int(SERVICES["groupwatch"]["stop_grace_period"].removesuffix("s")) > longest_s


def option_of(service: str, name: str) -> str:
    command: list[str] = SERVICES[service]["command"]
    return command[command.index(name) + 1]


def test_prometheus_scrapes_groupwatch_and_finds_its_rules(settings: Settings):
    config = loaded(mounted_file("prometheus", "/etc/prometheus/prometheus.yml"))
    (scrape,) = config["scrape_configs"]
    assert scrape["static_configs"] == [{"targets": [f"groupwatch:{settings.http.port}"]}]
    assert [mounted_file("prometheus", path).is_file() for path in config["rule_files"]] == [True]
    (manager,) = config["alerting"]["alertmanagers"]
    (target,) = manager["static_configs"][0]["targets"]
    name, _, port = target.partition(":")
    assert f"127.0.0.1:{port}:{port}" in SERVICES[name]["ports"]


def test_grafana_finds_its_data_source():
    (source,) = loaded(mounted_file("grafana", f"{PROVISIONING}/datasources/prometheus.yml"))["datasources"]
    address = urlsplit(source["url"])
    assert (source["type"], source["isDefault"]) == ("prometheus", True)  # the dashboards select it at first
    assert f"127.0.0.1:9090:{address.port}" in SERVICES[address.hostname]["ports"]


def test_grafana_finds_its_dashboard():
    (provider,) = loaded(mounted_file("grafana", f"{PROVISIONING}/dashboards/groupwatch.yml"))["providers"]
    home = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert PurePosixPath(home).parent == PurePosixPath(provider["options"]["path"])
    assert mounted_file("grafana", home).is_file()


DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_image_is_built_from_what_is_there_and_sent():
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    sent = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"]
    sources = [source for line in copied for source in line.split()]
    assert sources
    for source in sources:
        assert (ROOT / source).exists()
        assert any(fnmatch.fnmatch(source, pattern) for pattern in sent)


def test_the_image_runs_as_a_user_of_its_own_with_jars_and_archive_already_there():
    (user,) = re.findall(r"^USER (\d+):\1$", DOCKERFILE, re.MULTILINE)
    assert user != "0"
    assert f"--uid {user} --gid {user} " in DOCKERFILE
    places = [DOCKERFILE.index(said) for said in ("GROUPWATCH_CACHE=", "RUN groupwatch prepare --all-jars", "\nUSER ")]
    assert places == sorted(places)


def test_the_image_can_log_in_wherever_groupwatch_can():
    """Its extras, and the Debian packages that Kerberos needs to be built and to be used."""
    (extras,) = re.findall(r'"\.\[(.+)\]"', DOCKERFILE)
    assert {"job", "kerberos", "iam"} <= set(extras.split(","))
    build, image = DOCKERFILE.split("\nFROM ${BASE}\n")
    assert "libkrb5-dev" in build
    assert "libgssapi-krb5-2" in image


def test_the_image_keeps_what_was_installed_and_not_what_installed_it():
    """Two stages from one base; what the folders of packages are called follows from the base's Python."""
    assert re.findall(r"^FROM (.+)$", DOCKERFILE, re.MULTILINE) == ["${BASE} AS build", "${BASE}"]
    (python,) = re.findall(r"^ARG BASE=python:(\d\.\d+)-", DOCKERFILE, re.MULTILINE)
    assert set(re.findall(r"/lib/python(\d\.\d+)/", DOCKERFILE)) == {python}
    assert re.findall(r"^ARG VERSION=(.+)$", DOCKERFILE, re.MULTILINE) == [VERSION]
    assert f":{HttpSettings().port}/healthz" in DOCKERFILE.split("HEALTHCHECK")[1]


def test_alertmanager_itself_accepts_its_configuration():
    file = mounted_file("alertmanager", "/etc/alertmanager/alertmanager.yml")
    asked = [required("amtool", "prometheus-alertmanager"), "check-config", str(file)]
    checked = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_groupwatch_is_well_while_it_serves():
    with HttpServer(SnapshotStore(("c",)), port=0) as server:
        command = asked_of("groupwatch", int(server.url.rpartition(":")[2]), 9464)
        assert is_well(command)
    assert not is_well(command)


@contextlib.contextmanager
def running(*command: str) -> Iterator[None]:
    """A server behind a guard, which ends it also when the tests are killed."""
    guarded = [sys.executable, "-I", "-S", guard.__file__, *command]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(guarded, stdin=subprocess.PIPE, start_new_session=True, **quiet):  # its end closes the pipe
        yield


def test_prometheus_is_well_while_it_serves(tmp_path: Path):
    (port,) = free_ports(1)
    command = asked_of("prometheus", port, 9090)
    (tmp_path / "prometheus.yml").write_text("{}", encoding="utf-8")
    options = (f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data")
    with running(required("prometheus", "prometheus"), *options, f"--web.listen-address=127.0.0.1:{port}"):
        eventually(lambda: is_well(command), "a Prometheus that is ready", 60)
    assert not is_well(command)


def test_alertmanager_is_well_while_it_serves_and_takes_the_options_that_it_is_given(tmp_path: Path):
    (port,) = free_ports(1)
    command = asked_of("alertmanager", port, 9093)
    here = {"/etc/alertmanager/": f"{ROOT}/dashboards/compose/", "=/alertmanager": f"={tmp_path}"}
    options = SERVICES["alertmanager"]["command"]
    for inside, outside in here.items():
        options = [option.replace(inside, outside) for option in options]
    program = required("prometheus-alertmanager", "prometheus-alertmanager")
    with running(program, *options, f"--web.listen-address=127.0.0.1:{port}"):
        eventually(lambda: is_well(command), "an Alertmanager that is ready", 60)
    assert not is_well(command)


def test_prometheus_itself_accepts_its_configuration(tmp_path: Path):
    text = (ROOT / "dashboards" / "compose" / "prometheus.yml").read_text(encoding="utf-8")
    config = tmp_path / "prometheus.yml"
    config.write_text(text.replace("/etc/prometheus/", f"{ROOT}/dashboards/generated/"), encoding="utf-8")
    asked = [required("promtool", "prometheus"), "check", "config", str(config)]
    checked = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_processes_of_spark_share_a_secret_that_is_made_up_once(settings: Settings, tmp_path: Path):
    script = mounted_file("spark-master", SERVICES["spark-master"]["entrypoint"][-1])
    tools = tmp_path / "bin"
    tools.mkdir()
    spark_class = tools / "spark-class"
    spark_class.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    spark_class.chmod(0o700)
    place = tmp_path / "spark"
    place.mkdir()
    environment = os.environ | {"SPARK_SECRET_FOLDER": str(place), "PATH": f"{tools}:{os.environ['PATH']}"}
    command = ["sh", str(script), *SERVICES["spark-master"]["command"]]
    shown = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)]
    secret = (place / "secret").read_text(encoding="utf-8").strip()
    assert re.fullmatch("[0-9a-f]{64}", secret)
    properties = dict(line.split(" ") for line in (place / "spark.conf").read_text(encoding="utf-8").splitlines())
    assert properties == {AUTHENTICATE: "true", "spark.network.crypto.enabled": "true", SECRET: secret}
    assert {file.stat().st_mode & 0o777 for file in place.iterdir()} == {0o600}
    started = ["org.apache.spark.deploy.master.Master", *command[2:], "--properties-file", str(place / "spark.conf")]
    assert [each.stdout.splitlines() for each in shown] == [started, started]

    assert settings.spark.conf[SECRET] == "${file:/run/spark/secret}"
    assert {mounts(service)["/run/spark"] for service in OURS} == {"spark-secret"}
    worker = SERVICES["spark-worker"]["command"]
    assert worker[worker.index("--properties-file") + 1] == "/run/spark/spark.conf"
