"""The examples of docs/autoscaling.md are objects that Kubernetes and KEDA take, and name what groupwatch serves."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from monitor.config.scale import ScaleSettings
from monitor.metrics.specs import GROUP_WANTED_REPLICAS, UP
from monitor.web.api.types import GroupScaling
from monitor.web.views.addresses import SCALE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "autoscaling.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(yaml|toml)\n(.*?)```", PAGE, re.DOTALL)
OBJECTS = [yaml.safe_load(text) for language, text in BLOCKS if language == "yaml"]
KEDA = json.loads((ROOT / "tests/fixtures/keda/scaledobject-v1alpha1.json").read_text(encoding="utf-8"))
NEWEST = "1.35"


def only(kind: str) -> dict[str, Any]:
    (found,) = [each for each in OBJECTS if each.get("kind") == kind]
    return found


def closed(schema: Any) -> Any:
    """The same schema, in which an object has no other properties than those that it names: a typo is an error."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(each) for name, each in schema.items()}
    return inner | {"additionalProperties": False} if "properties" in inner and inner.get("type") == "object" else inner


def scaled_objects() -> list[dict[str, Any]]:
    """The whole example, and the same with the trigger that the page has for Prometheus."""
    whole = only("ScaledObject")
    (other,) = [each for each in OBJECTS if set(each) == {"triggers"}]
    return [whole, whole | {"spec": whole["spec"] | other}]


@pytest.mark.parametrize("index", [0, 1], ids=["metrics-api", "prometheus"])
def test_keda_takes_the_scaled_object(index: int):
    found = scaled_objects()[index]
    schema = closed(KEDA)
    schema["properties"]["metadata"] = {"type": "object"}
    jsonschema.validate(found, schema)
    typo = found | {"spec": found["spec"] | {"maxReplicas": 3}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(typo, schema)


def test_kubernetes_takes_the_autoscaler():
    kubernetes_validate.validate(only("HorizontalPodAutoscaler"), NEWEST, strict=True)


def test_the_triggers_ask_for_what_groupwatch_serves():
    api, prometheus = [each["spec"]["triggers"][0]["metadata"] for each in scaled_objects()]
    assert f"{SCALE}prod/orders" in api["url"]
    assert api["valueLocation"] in GroupScaling.__struct_fields__
    assert GROUP_WANTED_REPLICAS.name in prometheus["query"]
    assert f"{UP.name} == 1" in prometheus["query"]
    assert prometheus["ignoreNullValues"] == "false", "with its default, a missing series is 0"
    (metric,) = only("HorizontalPodAutoscaler")["spec"]["metrics"]
    assert metric["external"]["metric"]["name"] == GROUP_WANTED_REPLICAS.name
    (rules,) = [each["externalRules"] for each in OBJECTS if "externalRules" in each]
    assert f"{UP.name} == 1" in rules[0]["metricsQuery"]


def test_the_settings_are_settings():
    (text,) = [text for language, text in BLOCKS if language == "toml"]
    (entry,) = tomllib.loads(text)["scale"]
    assert ScaleSettings(**entry).entry().target.most == 24
