"""``python -m deploy.publishing.chart``: check Helm's chart, and package it into build/dist."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from deploy.publishing.errors import PublishingError
from deploy.publishing.helm import NEEDED, find_helm
from deploy.publishing.staging import BUILT, ROOT, require_address, stage, tracked_files, version

CHART: Final = "deploy/helm/groupwatch"
DEFAULT_IMAGE: Final = "  repository: groupwatch # where your registry has it\n"


def main(words: Sequence[str] | None = None) -> None:
    """Package the chart, and push it if asked to.

    Raises:
        SystemExit: With 2, and a sentence: Helm is missing, or something is not as it should be.
    """
    parser = argparse.ArgumentParser(prog="make chart")
    parser.add_argument("--version", default=version(), help="of the chart and of the image that it names")
    parser.add_argument("--image", default="", help="the image that it names, with its registry and without a tag")
    parser.add_argument("--source", default="", help="the address of the repository")
    parser.add_argument("--publish", default="", help="where to push it: oci://HOST/PATH")
    chosen = parser.parse_args(words)
    try:
        require_registry(chosen.publish)
        packaged = package(chosen.version, chosen.image, chosen.source)
        if chosen.publish:
            helm("push", str(packaged), chosen.publish)
    except PublishingError as problem:
        sys.stderr.write(f"make chart: {problem}\n")
        sys.exit(2)
    sys.stdout.write(f"{packaged}\n")


def require_registry(address: str) -> None:
    """Refuse what is no registry of charts.

    Raises:
        PublishingError: It is none.
    """
    if address and not address.startswith("oci://"):
        raise PublishingError(f"PUBLISH must be a registry, as oci://registry.example/charts: {address}")


def package(release: str, image: str = "", source: str = "", into: Path = BUILT) -> Path:
    """The packaged chart of a version.

    Raises:
        PublishingError: Helm refuses it, or it has not what it must.
    """
    with tempfile.TemporaryDirectory(prefix="groupwatch-chart-") as work:
        chart = stage(Path(work), under=f"{CHART}/") / CHART
        for file, change, value in (("Chart.yaml", with_source, source), ("values.yaml", with_image, image)):
            (chart / file).write_text(change((chart / file).read_text(encoding="utf-8"), value), encoding="utf-8")
        helm("lint", "--strict", "--quiet", str(chart))
        into.mkdir(parents=True, exist_ok=True)
        helm("package", str(chart), "--version", release, "--app-version", release, "--destination", str(into))
    packaged = into / f"groupwatch-{release}.tgz"
    check_contents(packaged)
    return packaged


def with_source(chart: str, source: str) -> str:
    """Chart.yaml with the address of the repository, if there is one."""
    if not source:
        return chart
    require_address(source)
    return f"{chart}home: {source}\nsources: [{source}]\n"


def with_image(values: str, image: str) -> str:
    """values.yaml with the name of the image, if there is one.

    Raises:
        PublishingError: The name has a tag: the chart's version is the tag.
    """
    if not image:
        return values
    if values.count(DEFAULT_IMAGE) != 1:
        raise PublishingError("values.yaml has no line for the image's name.")
    if re.fullmatch(r"[\w.-]+(:\d+)?(/[\w.-]+)*", image) is None:
        raise PublishingError(f"IMAGE must be a name without a tag, as registry.example/team/groupwatch: {image}")
    return values.replace(DEFAULT_IMAGE, f"  repository: {image}\n")


def check_contents(packaged: Path) -> None:
    """Each file of the chart is in it, with its content.

    Raises:
        PublishingError: Some are missing, or there are others.
    """
    with tarfile.open(packaged) as archive:
        sizes = {each.name: each.size for each in archive if each.isfile()}
    tracked = (each for each in tracked_files() if each.startswith(f"{CHART}/"))
    wanted = {each.removeprefix("deploy/helm/") for each in tracked}
    if wrong := wanted ^ sizes.keys() | {name for name, size in sizes.items() if not size}:
        raise PublishingError(f"The chart lacks these files, or should not have them: {', '.join(sorted(wrong))}.")


def helm(*words: str) -> None:
    """Run Helm.

    Raises:
        PublishingError: There is none, or it failed and has said why.
    """
    if (program := find_helm()) is None:
        raise PublishingError(f"{NEEDED}.")
    ended = subprocess.run([program, *words], cwd=ROOT, check=False)
    if ended.returncode != 0:
        raise PublishingError(f"helm {words[0]} failed (exit code {ended.returncode}).")


if __name__ == "__main__":
    main()
