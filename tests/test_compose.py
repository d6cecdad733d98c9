"""docker-compose.yml fits what it mounts: every path is there, every address is somebody's, nothing is open to others.

No container is started here: that needs Docker, which the suite does not ask for.
"""

from __future__ import annotations

import fnmatch
import re
import subprocess
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from dashboards.grafana import DATASOURCE_UID
from monitor.config import Settings, load
from tests.programs import required

ROOT = Path(__file__).parents[1]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
PROVISIONING = "/etc/grafana/provisioning"


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
def test_what_is_not_built_here_has_a_version(service: str):
    image = SERVICES[service].get("image")
    assert (ROOT / "Dockerfile").is_file() if image is None else re.search(r":v?\d+\.\d+\.\d+$", image)


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


def test_the_checkpoint_outlives_the_container(settings: Settings):
    assert settings.spark.checkpoint is not None
    volumes = [inside for inside, source in mounts("groupwatch").items() if not source.startswith("./")]
    assert any(PurePosixPath(settings.spark.checkpoint).is_relative_to(inside) for inside in volumes)


def test_prometheus_scrapes_groupwatch_and_finds_its_rules(settings: Settings):
    config = loaded(mounted_file("prometheus", "/etc/prometheus/prometheus.yml"))
    (scrape,) = config["scrape_configs"]
    assert scrape["static_configs"] == [{"targets": [f"groupwatch:{settings.http.port}"]}]
    assert [mounted_file("prometheus", path).is_file() for path in config["rule_files"]] == [True]


def test_grafana_finds_its_data_source():
    (source,) = loaded(mounted_file("grafana", f"{PROVISIONING}/datasources/prometheus.yml"))["datasources"]
    address = urlsplit(source["url"])
    assert source["uid"] == DATASOURCE_UID
    assert f"127.0.0.1:9090:{address.port}" in SERVICES[address.hostname]["ports"]


def test_grafana_finds_its_dashboard():
    (provider,) = loaded(mounted_file("grafana", f"{PROVISIONING}/dashboards/groupwatch.yml"))["providers"]
    home = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert PurePosixPath(home).parent == PurePosixPath(provider["options"]["path"])
    assert mounted_file("grafana", home).is_file()


def test_the_image_is_built_from_what_is_there_and_sent():
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    sent = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"]
    sources = [source for line in copied for source in line.split()]
    assert sources
    for source in sources:
        assert (ROOT / source).exists()
        assert any(fnmatch.fnmatch(source, pattern) for pattern in sent)


def test_the_image_runs_as_a_user_of_its_own_with_jars_and_archive_already_there():
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    user = next(place for place, line in enumerate(lines) if line.startswith("USER "))
    cache = next(place for place, line in enumerate(lines) if line.startswith("ENV GROUPWATCH_CACHE="))
    fetch = next(place for place, line in enumerate(lines) if "groupwatch prepare" in line)
    assert cache < fetch < user
    assert lines[user] != "USER root"


def test_prometheus_itself_accepts_its_configuration(tmp_path: Path):
    text = (ROOT / "dashboards" / "compose" / "prometheus.yml").read_text(encoding="utf-8")
    config = tmp_path / "prometheus.yml"
    config.write_text(text.replace("/etc/prometheus/", f"{ROOT}/dashboards/generated/"), encoding="utf-8")
    asked = [required("promtool", "prometheus"), "check", "config", str(config)]
    checked = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
