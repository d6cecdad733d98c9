"""What docker-compose.yml asks of a service to see whether it is well, to be asked of a real server here."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.support.programs import required

COMPOSE = yaml.safe_load((Path(__file__).parents[2] / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def asked_of(service: str, port: int, instead_of: int) -> list[str]:
    """The command that tells whether a service is well, for one that listens on another port here."""
    kind, *command = SERVICES[service]["healthcheck"]["test"]
    assert kind == "CMD"
    program = sys.executable if command[0] == "python" else required(command[0], command[0])
    assert any(f"127.0.0.1:{instead_of}/" in word for word in command)
    return [program, *(word.replace(f"127.0.0.1:{instead_of}/", f"127.0.0.1:{port}/") for word in command[1:])]


def is_well(command: Sequence[str]) -> bool:
    """Whether the command says so."""
    return subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0
