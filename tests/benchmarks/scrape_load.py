"""50 scrapes a second of 50,000 series, beside micro-batches: errors, times, and how much longer batches take.

``python -m tests.benchmarks.scrape_load [tls] [SECONDS [ROUNDS]]``. Periods with and without scrapes alternate, so that
what else runs on the machine is in both; each period of scrapes is as long as the goal says. The value is the median
micro-batch beside scrapes over that without. The client is a process of its own, takes gzip, and unpacks nothing.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.measured import cpu_s, process_cpu_s, quantile, report
from tests.benchmarks.offsets_log import Crowd, broker_with_topics, fill, filling
from tests.support.job_process import JobProcess
from tests.web.http.certificates import Authority

CROWD = Crowd(groups=325, partitions=50)
COMMITS_S = 1_000
SCRAPES_S = 50
CONNECTIONS = 10
SETTLE_S = 60.0
DEFAULTS = ("60", "2")
GOAL = 1.1


def main(*, with_tls: bool, period_s: float, rounds: int) -> None:
    """Measure and report."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        kafka = stack.enter_context(broker_with_topics(CROWD))
        fill(kafka, CROWD, 1)
        job = _job(folder, kafka.bootstrap_servers, with_tls=with_tls)
        stack.enter_context(job)
        job.await_ready(600)
        stack.enter_context(filling(kafka, CROWD, 100_000, COMMITS_S, before=1))
        time.sleep(SETTLE_S)  # the JVM compiles what it runs often
        body = Scraper(job.url).scrape()
        periods = [Period.of(job, period_s, loaded=number % 2 == 1) for number in range(2 * rounds + 1)]
    text = gzip.decompress(body)
    series = sum(not line.startswith(b"#") for line in text.splitlines())
    _report("scrape-load-tls" if with_tls else "scrape-load", periods, series=series, gzip_bytes=len(body))


class LoopbackTls:
    """How a job with TLS is asked by the rest of the benchmark."""

    def __init__(self, folder: Path) -> None:
        authority = Authority(folder)
        self.certificate, self.key = authority.sign("server")
        self.ca = authority.file
        self.web_config = folder / "web.yml"
        files = {"cert_file": str(self.certificate), "key_file": str(self.key)}
        self.web_config.write_text(json.dumps({"tls_server_config": files}), encoding="utf-8")


def _job(folder: Path, bootstrap_servers: str, *, with_tls: bool) -> JobProcess:
    clusters = {"bench": {"bootstrap_servers": bootstrap_servers}}
    job = JobProcess(folder, clusters, jvm=None, spark={"trigger_s": 1.0, "buckets": 8})
    if with_tls:
        tls = LoopbackTls(folder)
        text = job.config.read_text(encoding="utf-8")
        job.config.write_text(text.replace('["http"]\n', f'["http"]\nweb_config_file = "{tls.web_config}"\n'), "utf-8")
        os.environ["SSL_CERT_FILE"] = str(tls.ca)  # urllib's default contexts read it, and the client's
        job.url = job.url.replace("http:", "https:")
    return job


class Scraper:
    """One connection that is kept, over which scrapes are asked for one after the other."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._socket: socket.socket | None = None
        self._buffer = bytearray(1 << 20)

    def scrape(self) -> bytes:
        """The body, as it is sent.

        Raises:
            OSError: the connection ended, or the answer is no scrape.
        """
        self._socket = self._socket or _connected(self._url)
        self._socket.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
        head, length = b"", None
        while length is None:
            head += self._received(65_536)
            found, end, rest = head.partition(b"\r\n\r\n")
            if end:
                if not found.startswith(b"HTTP/1.1 200 "):
                    raise OSError(found[:60])
                length = int(found.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        pieces = [rest]
        missing = length - len(rest)
        while missing > 0:
            pieces.append(self._received(missing))
            missing -= len(pieces[-1])
        return b"".join(pieces)

    def _received(self, most: int) -> bytes:
        assert self._socket is not None
        count = self._socket.recv_into(self._buffer, min(most, len(self._buffer)))
        if count == 0:
            raise OSError("ended in the middle")
        return bytes(memoryview(self._buffer)[:count])


def _connected(url: str) -> socket.socket:
    scheme, _, address = url.partition("://")
    host, _, port = address.rpartition(":")
    plain = socket.create_connection((host, int(port)), 30)
    return ssl.create_default_context().wrap_socket(plain, server_hostname=host) if scheme == "https" else plain


@dataclass
class Period:
    """What was seen in one period: seconds."""

    loaded: bool
    batches: list[float] = field(default_factory=list)
    scrapes: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    job_cpu_s: float = 0.0
    client_cpu_s: float = 0.0
    load_1min: float = 0.0

    @classmethod
    def of(cls, job: JobProcess, seconds: float, *, loaded: bool) -> Period:
        """Watch the job for so long, under the load or without it."""
        found = cls(loaded=loaded)
        time.sleep(3)  # the batch that the change fell into
        client = _client(job, seconds) if loaded else None
        before, deadline = cpu_s(job.session), time.monotonic() + seconds
        watcher = Scraper(job.url)
        while time.monotonic() < deadline:
            found.batches.append(_batch_s(watcher.scrape()))
            time.sleep(1)
        found.job_cpu_s = cpu_s(job.session) - before
        found.load_1min = os.getloadavg()[0]
        if client is not None:
            told: dict[str, Any] = json.loads(client.communicate(timeout=60)[0])
            found.scrapes, found.errors, found.client_cpu_s = told["scrapes"], told["errors"], told["cpu_s"]
        return found


def _batch_s(body: bytes) -> float:
    name = b'\ngroupwatch_batch_duration_seconds{cluster="bench"} '
    return float(gzip.decompress(body).partition(name)[2].split(b"\n", 1)[0])


def _client(job: JobProcess, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.benchmarks.scrape_load", "client", job.url, str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


class Client:
    """Asks for scrapes at a pace: each connection for its share, at moments of its own, however long they take."""

    def __init__(self, url: str, seconds: float) -> None:
        self.scrapes: list[float] = []
        self.errors: list[str] = []
        self._url = url
        self._began = time.monotonic() + 0.5
        self._seconds = seconds

    def run(self) -> None:
        """Ask until the time is up."""
        threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _ask(self, number: int) -> None:
        scraper = Scraper(self._url)
        for turn in range(number, int(self._seconds * SCRAPES_S), CONNECTIONS):
            due = self._began + turn / SCRAPES_S
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                scraper.scrape()
            except OSError as error:
                self.errors.append(str(error))
                scraper = Scraper(self._url)
            self.scrapes.append(time.monotonic() - due)  # from when it was due: what waits is not forgotten


def _report(name: str, periods: list[Period], **details: object) -> None:
    loaded = [period for period in periods if period.loaded]
    alone = [period for period in periods if not period.loaded]
    scrapes = [each for period in loaded for each in period.scrapes]
    beside_s = statistics.median(each for period in loaded for each in period.batches)
    alone_s = statistics.median(each for period in alone for each in period.batches)
    errors = [each for period in loaded for each in period.errors]
    report(
        name,
        beside_s / alone_s,
        "batch beside scrapes / batch without",
        GOAL,
        sum(period.job_cpu_s for period in loaded) / len(loaded),
        cpu_alone_s=round(sum(period.job_cpu_s for period in alone) / len(alone), 1),
        client_cpu_s=round(sum(period.client_cpu_s for period in loaded) / len(loaded), 1),
        batch_s={"beside": round(beside_s, 3), "alone": round(alone_s, 3)},
        batch_p95_s={
            "beside": round(quantile([each for period in loaded for each in period.batches], 0.95), 3),
            "alone": round(quantile([each for period in alone for each in period.batches], 0.95), 3),
        },
        batch_medians_s=[round(statistics.median(period.batches), 3) for period in periods],
        loads_1min=[round(period.load_1min, 1) for period in periods],
        scrapes=len(scrapes),
        errors=len(errors),
        first_errors=errors[:3],
        scrape_s={
            "p50": round(statistics.median(scrapes), 4),
            "p95": round(quantile(scrapes, 0.95), 4),
            "max": round(max(scrapes), 4),
        },
        **details,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["client"]:
        asking = Client(sys.argv[2], float(sys.argv[3]))
        asking.run()
        told = {"scrapes": asking.scrapes, "errors": asking.errors, "cpu_s": process_cpu_s(os.getpid())}
        sys.stdout.write(json.dumps(told))
    else:
        given = [word for word in sys.argv[1:] if word != "tls"]
        seconds, rounds = [float(word) for word in (*given, *DEFAULTS[len(given) :])]
        main(with_tls="tls" in sys.argv[1:], period_s=seconds, rounds=int(rounds))
