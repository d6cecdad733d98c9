"""A real Prometheus and a real Alertmanager as child processes on 127.0.0.1: the programs of Debian's packages."""

from __future__ import annotations

import contextlib
import json
import shutil
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from monitor.demo.servers.ports import free_ports
from monitor.demo.servers.server import EmbeddedServer
from monitor.java_runtime.errors import ProgramNotFound
from monitor.java_runtime.jars import Progress, quiet

PROMETHEUS: Final = "prometheus"
ALERTMANAGER: Final = ("prometheus-alertmanager", "alertmanager")
"""As Debian calls it, and as its authors do."""

INTERVAL: Final = "1s"
"""Between two scrapes of a target, and between two evaluations of the rules: the demo tells its story in minutes."""


def program(*names: str, package: str) -> str:
    """The path of the first of these programs that is installed.

    Raises:
        ProgramNotFound: None of them is.
    """
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise ProgramNotFound(f"{names[0]} is not installed; Debian's package {package} brings it")
    return found


class EmbeddedPrometheus(EmbeddedServer):
    """A Prometheus that scrapes these targets and evaluates these rules; see :class:`EmbeddedServer` for its life."""

    def __init__(
        self,
        targets: Sequence[str],
        rules: str | None = None,
        alertmanager: EmbeddedAlertmanager | None = None,
        *,
        data_dir: Path | None = None,
        progress: Progress = quiet,
    ) -> None:
        """Prepare a server; nothing starts yet.

        Args:
            targets: Whom to scrape, each as "host:port"; job ``groupwatch``.
            rules: The text of a rule file; None: no rules.
            alertmanager: Who is told of alerts; None: nobody.
            data_dir: As for every server.
            progress: As for every server.
        """
        super().__init__("Prometheus", data_dir, progress)
        self.port = free_ports(1)[0]
        self._targets = tuple(targets)
        self._rules = rules
        self._alertmanager = alertmanager

    @property
    def url(self) -> str:
        """Its page and the beginning of its API's addresses, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def _program(self) -> list[str]:
        return [program(PROMETHEUS, package="prometheus")]

    def _command(self) -> list[str]:
        configuration = self.data_dir / "prometheus.yml"
        configuration.write_text(json.dumps(self._configuration()), encoding="utf-8")  # JSON is YAML, too
        if self._rules is not None:
            (self.data_dir / "rules.yml").write_text(self._rules, encoding="utf-8")
        return [
            f"--config.file={configuration}",
            f"--storage.tsdb.path={self.data_dir / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
            f"--web.external-url={self.url}",
            "--rules.alert.resend-delay=5s",  # Alertmanager ends an alert that is not repeated in four such times
        ]

    def _configuration(self) -> dict[str, object]:
        told = [{"static_configs": _static([self._alertmanager.address])}] if self._alertmanager else []
        return {
            "global": {"scrape_interval": INTERVAL, "scrape_timeout": INTERVAL, "evaluation_interval": INTERVAL},
            "rule_files": [] if self._rules is None else ["rules.yml"],
            "alerting": {"alertmanagers": told},
            "scrape_configs": [{"job_name": "groupwatch", "static_configs": _static(self._targets)}],
        }

    def _is_ready(self) -> bool:
        return answers(f"{self.url}/-/ready")


class EmbeddedAlertmanager(EmbeddedServer):
    """An Alertmanager that groups by alert, cluster and group, alone; see :class:`EmbeddedServer` for its life."""

    def __init__(self, *, webhook: str | None = None, data_dir: Path | None = None, progress: Progress = quiet) -> None:
        """Prepare a server; nothing starts yet.

        Args:
            webhook: The address that gets each alert and its resolution, a second after they came; None: nobody does,
                and its page and API show what is active.
            data_dir: As for every server.
            progress: As for every server.
        """
        super().__init__("Alertmanager", data_dir, progress)
        self.port = free_ports(1)[0]
        self._webhook = webhook

    @property
    def address(self) -> str:
        """Where Prometheus finds it, as "host:port"."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Its page and the beginning of its API's addresses, without a slash at the end."""
        return f"http://{self.address}"

    def _program(self) -> list[str]:
        return [program(*ALERTMANAGER, package="prometheus-alertmanager")]

    def _command(self) -> list[str]:
        configuration = self.data_dir / "alertmanager.yml"
        configuration.write_text(json.dumps(self._configuration()), encoding="utf-8")
        return [
            f"--config.file={configuration}",
            f"--storage.path={self.data_dir / 'data'}",
            f"--web.listen-address={self.address}",
            f"--web.external-url={self.url}",
            "--cluster.listen-address=",  # alone: it would listen on all addresses for others of its kind
        ]

    def _configuration(self) -> dict[str, object]:
        hooks = [{"url": self._webhook, "send_resolved": True}] if self._webhook else []
        return {
            "route": {
                "receiver": "demo",
                "group_by": ["alertname", "cluster", "group"],
                "group_wait": "1s",
                "group_interval": "1s",
                "repeat_interval": "1h",
            },
            "receivers": [{"name": "demo", "webhook_configs": hooks}],
        }

    def _is_ready(self) -> bool:
        return answers(f"{self.url}/-/ready")


def answers(url: str) -> bool:
    """Whether a GET of that address is answered with a status of success."""
    with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2):
        return True
    return False


def _static(addresses: Sequence[str]) -> list[dict[str, list[str]]]:
    return [{"targets": list(addresses)}]
