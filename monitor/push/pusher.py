"""The push of metrics, in a thread of its own. Whatever fails in it, watching goes on; it is logged and counted."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from monitor.config import ConfigError, OtlpSettings
from monitor.config.receiver import address_without_path
from monitor.lifecycle import Lifecycle
from monitor.metrics.gzip_join import unpacked
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.model import Snapshot
from monitor.push.attributes import Convention, with_conventions
from monitor.push.families import Family, batches, read_families
from monitor.push.otlp_exporter import OtlpExporter, PushFailed

log = logging.getLogger(__name__)

MAX_PORTION: Final = 1_000_000
"""About so many bytes of points are sent at once: collectors accept 4 MB by default."""

END_LIMIT_S: Final = 2.0
"""So long an end waits for a push under way."""


_PIECE: Final = 65_536


def served_text(snapshot: Snapshot, process: ProcessMetrics) -> str:
    """What a scrape in Prometheus' text format would get now."""
    prepared = b"".join(unpacked(snapshot.metrics_gzip, _PIECE)) if snapshot.metrics_gzip else b""
    return process.text() + prepared.decode()


class Pusher(Lifecycle):
    """Pushes what /metrics serves, from ``start`` until ``stop``.

    ``text`` gives the text that a scrape would get now; ``resource`` describes the process, in OpenTelemetry's names.
    ``convention`` names the attributes; None: they are the labels.
    """

    def __init__(
        self,
        settings: OtlpSettings,
        text: Callable[[], str],
        process: ProcessMetrics,
        resource: Mapping[str, str],
        convention: Convention | None = None,
    ) -> None:
        self._convention = convention
        self._settings = settings
        self._text = text
        self._process = process
        self._resource = resource
        self._stopping = threading.Event()
        self._exporter: OtlpExporter | None = None
        self._headers: Mapping[str, str] = {}
        self._failures = 0
        self._thread = threading.Thread(target=self._run, name="otlp", daemon=True)

    def start(self) -> None:
        """Push from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Give up a push that is under way, and end."""
        self._stopping.set()
        exporter = self._exporter
        if exporter is not None:
            exporter.close()
        self._thread.join(END_LIMIT_S)

    def _run(self) -> None:
        while not self._stopping.is_set():
            began_s = time.perf_counter()
            self.push()
            taken_s = time.perf_counter() - began_s
            self._stopping.wait(max(0.0, self._settings.interval_s - taken_s))

    def push(self) -> None:
        """Push once. What fails is logged when it begins and when it is over, and counted each time."""
        began_s = time.perf_counter()
        problem = self._push_problem()
        if self._stopping.is_set():
            return
        self._process.observe_push(time.perf_counter() - began_s, is_success=problem is None)
        self._report(problem)

    def _push_problem(self) -> str | None:
        try:
            exporter = self._current_exporter()
            now_ns = time.time_ns()
            for portion in batches(self._families(), MAX_PORTION):
                if self._stopping.is_set():  # also if it was set before there was an exporter to close
                    break
                exporter.send(portion, now_ns)
        except (ConfigError, PushFailed) as error:
            return str(error)
        except Exception as error:  # a text of theirs may contain a header
            log.debug("The push failed in\n%s", "".join(traceback.format_tb(error.__traceback__)))
            return f"{type(error).__name__} in the exporter"
        return None

    def _families(self) -> Iterator[Family]:
        families = read_families(self._text())
        return families if self._convention is None else with_conventions(families, self._convention)

    def _current_exporter(self) -> OtlpExporter:
        """The exporter, created again when a header has changed.

        Raises:
            ConfigError: a header cannot be sent.
        """
        headers = self._settings.resolved_headers()
        if self._exporter is None or headers != self._headers:
            if self._exporter is not None:
                self._exporter.close()
            self._exporter, self._headers = OtlpExporter(self._settings, headers, self._resource), headers
        return self._exporter

    def _report(self, problem: str | None) -> None:
        endpoint = address_without_path(self._settings.endpoint or "")
        if problem is None:
            if self._failures:
                log.info("Metrics are pushed to %s again, after %s failed pushes.", endpoint, self._failures)
            self._failures = 0
            return
        if not self._failures:
            log.warning("Metrics cannot be pushed to %s; the next pushes are tried in time: %s", endpoint, problem)
        self._failures += 1
