"""The demo's Prometheus and Alertmanager: groupwatch is scraped, and its alerts arrive at a receiver."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Final

from monitor.demo.servers.prometheus import EmbeddedAlertmanager, EmbeddedPrometheus
from monitor.java_runtime.errors import ProgramNotFound
from monitor.java_runtime.jars import Progress
from monitor.lifecycle import Lifecycle

PROMETHEUS: Final = "prometheus"
"""What ``--with`` calls them."""


class DemoAlerting(Lifecycle):
    """Both for the time of a ``with`` block, if the options name them and they are installed; if not, it is reported.

    ``addresses`` are names and addresses for a person, of what runs.
    """

    def __init__(self, target: str, rules: str | None, progress: Progress) -> None:
        """Prepare them; nothing starts yet.

        Args:
            target: groupwatch, as "host:port".
            rules: The text of the rule file; None: neither is started.
            progress: Is called with what happens.
        """
        self._progress = progress
        self._running = ExitStack()
        self._alertmanager = EmbeddedAlertmanager(progress=progress)
        self._prometheus = EmbeddedPrometheus([target], rules, self._alertmanager, progress=progress)
        self._wanted = rules is not None
        self.addresses: tuple[tuple[str, str], ...] = ()

    def start(self) -> None:
        """Start.

        Raises:
            ServerFailed: One of them did not start.
        """
        if self._wanted:
            try:
                self._start_both()
            except ProgramNotFound as error:
                self._progress(f"{error}. The demo continues without Prometheus and Alertmanager.")

    def stop(self) -> None:
        """End both."""
        self._running.close()

    def _start_both(self) -> None:
        with ExitStack() as starting:
            starting.enter_context(self._alertmanager)
            starting.enter_context(self._prometheus)
            self._running = starting.pop_all()
        self.addresses = (("Prometheus", self._prometheus.url), ("Alerts", f"{self._alertmanager.url}/#/alerts"))
