"""A job that logs in by Kerberos, by the log and by the admin API, while its tickets expire; and the doctor."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from kafka.admin import KafkaAdminClient, NewTopic

from monitor.demo.servers.broker import EmbeddedKafka
from tests.streaming_jobs.runtime.test_log_ins import (
    PLACE,
    await_groups,
    clusters,
    commit,
    in_seconds,
    job_with_its_page,
    leaks,
    ups_until,
    written_by,
)
from tests.support.job_process import running
from tests.support.kdc import TICKETS, Kdc, cache_login, kerberized_kafka, keytab_login, needs_kerberos
from tests.support.renewed_file import RenewedFile

pytestmark = [pytest.mark.broker, pytest.mark.spark, needs_kerberos]

LIFE_S: Final = 12
SESSION_MS: Final = 4_000
"""The broker wants another log-in three times in the life of a ticket."""

RENEWED_EARLY: Final = {"sasl.kerberos.min.time.before.relogin": "1000"}
"""By default, Java waits at least a minute between two log-ins."""


@pytest.fixture(scope="module")
def kdc(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    with Kdc(tmp_path_factory.mktemp("kdc")) as running_kdc:
        yield running_kdc


@pytest.fixture(scope="module")
def kafka(kdc: Kdc) -> Iterator[EmbeddedKafka]:
    with kerberized_kafka(kdc, SESSION_MS) as broker:
        with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            admin.create_topics([NewTopic(PLACE.topic, 1, 1)])
            admin.wait_for_topics([PLACE.topic])
        commit(broker, 0)
        yield broker


@pytest.fixture
def environment(kdc: Kdc) -> dict[str, str]:
    return {**os.environ, "KRB5_CONFIG": str(kdc.configuration)}


@pytest.mark.parametrize("ways", [["log"], pytest.param(["admin", "cache"], marks=pytest.mark.long)], ids=",".join)
def test_expired_tickets_are_renewed_without_a_gap(
    kafka: EmbeddedKafka, kdc: Kdc, environment: dict[str, str], tmp_path: Path, ways: list[str]
):
    """Three lifetimes of tickets, of a keytab and of a cache that is replaced."""
    commit(kafka, 0)
    keytab = kdc.add("watcher", f"{LIFE_S} seconds")
    file = tmp_path.parent / f"{tmp_path.name}-cache"
    with RenewedFile(file, LIFE_S, partial(kdc.cache, "watcher", keytab)) as cache:
        by_keytab = keytab_login(keytab, "watcher") | RENEWED_EARLY
        by_cache = cache_login(cache.file) | RENEWED_EARLY
        known = {"log": ("log", by_keytab), "admin": ("admin", by_keytab), "cache": ("log", by_cache)}
        watched = clusters(kafka.address(TICKETS), {way: known[way] for way in ways})
        job, spark = job_with_its_page(tmp_path, watched)
        job.environment = {**environment, **job.environment, "KRB5_CONFIG": str(kdc.configuration)}
        with running(job):
            await_groups(job, watched, 0)
            assert ups_until(job, watched, in_seconds(3 * LIFE_S)) == {name: {1.0} for name in watched}
            commit(kafka, 7)
            await_groups(job, watched, 7)
            assert leaks(written_by(job, spark, ways[0]), ["useKeyTab=true", "useTicketCache=true"]) == []
    assert [line for line in job.log().splitlines() if " ERROR " in line or "Traceback" in line] == []


def groupwatch(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "monitor.cli", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_doctor_and_check_config_log_in_too(
    kafka: EmbeddedKafka, kdc: Kdc, environment: dict[str, str], tmp_path: Path
):
    commit(kafka, 0)
    file = tmp_path / "client.properties"
    properties = keytab_login(kdc.add("doctor"), "doctor")
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()), encoding="utf-8")
    words = ("--bootstrap-server", kafka.address(TICKETS), "--client", str(file))
    examined = groupwatch(environment, "doctor", *words)
    assert (examined.returncode, examined.stderr) == (0, "")
    assert "1 group" in examined.stdout
    watched = clusters(kafka.address(TICKETS), {"log": ("log", properties)})
    job, _ = job_with_its_page(tmp_path, watched)
    checked = groupwatch(environment, "check-config", str(job.config))
    assert (checked.returncode, "problem" in checked.stdout.lower()) == (0, False), checked.stdout
    kdc.admin("delprinc", "-force", "doctor")
    refused = groupwatch(environment, "doctor", *words)
    assert refused.returncode == 2
    assert "Kerberos gives no ticket (Client 'doctor@" in refused.stderr
