"""Rules as a configuration chooses them, as a program that reads YAML sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from monitor.alert_rules import rules_file
from monitor.alert_rules.configured import rule_options
from monitor.config import load

CLUSTERS = '[clusters.prod]\nbootstrap_servers = "b:1"\n[clusters."eu west"]\nbootstrap_servers = "b:2"\n'


def configured(folder: Path, text: str) -> str:
    """The rule file for a configuration."""
    file = folder / "groupwatch.toml"
    file.write_text(text, encoding="utf-8")
    return rules_file(options=rule_options(load(file)))


def rules_by_name(text: str) -> dict[str, dict[str, Any]]:
    """The rules of a file by their alerts; of several for one alert, the last."""
    return {rule["alert"]: rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]}
