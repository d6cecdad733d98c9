"""The chart of deploy/helm as Helm renders it. No cluster is asked."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import yaml

from tests.support.helm import helm_program

CHART: Final = Path(__file__).parents[2] / "deploy" / "helm" / "groupwatch"

OLDEST, NEWER = "1.31", "1.37"
"""1.31 is the first with ``ordinals`` of a StatefulSet for good; ReadWriteOncePod is older."""

OF_THE_OPERATOR: Final = "monitoring.coreos.com/v1"
OF_OTHERS: Final = {OF_THE_OPERATOR, "gateway.networking.k8s.io/v1"}
"""Kinds that are no part of Kubernetes: their schemas are objects of the cluster."""

Values = dict[str, Any]
Rendered = list[dict[str, Any]]


def helm(
    command: str, folder: Path, values: Values, *options: str, chart: Path = CHART
) -> subprocess.CompletedProcess[str]:
    """What Helm does with the chart and these values, in a release named groupwatch."""
    file = folder / "values.yaml"
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    of = ["groupwatch", chart] if command == "template" else [chart]
    asked = [helm_program(), command, *of, f"--kube-version={OLDEST}", "--namespace=groupwatch", "--values", file]
    return subprocess.run([*asked, *options], capture_output=True, text=True, check=False)


def only(found: Rendered, kind: str, name: str = "groupwatch") -> dict[str, Any]:
    """The one object of this kind and name."""
    (one,) = [each for each in found if each["kind"] == kind and each["metadata"]["name"] == name]
    return one


def pod_of(found: Rendered) -> dict[str, Any]:
    """The pod of the job."""
    pod: dict[str, Any] = only(found, "StatefulSet")["spec"]["template"]["spec"]
    return pod


def assert_valid(found: Rendered) -> None:
    """Each object is there once, in the namespace of the release, and as the schemas of both versions want it."""
    names = [(each["kind"], each["metadata"]["name"]) for each in found]
    assert len(names) == len(set(names))
    assert {each["metadata"]["namespace"] for each in found} == {"groupwatch"}
    for each in found:
        if each["apiVersion"] not in OF_OTHERS:
            for version in (OLDEST, NEWER):
                kubernetes_validate.validate(each, version, strict=True)
