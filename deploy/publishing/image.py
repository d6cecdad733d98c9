"""``python -m deploy.publishing.image``: build the image with Docker or Podman, and push it if asked to.

It needs nothing but Python, and no network beyond that of the Dockerfile.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from deploy.publishing.errors import PublishingError
from deploy.publishing.staging import BUILT, ROOT, require_address, revision, version

Engine = Literal["docker", "podman"]
Command = list[str]

MISSING: Final = "Docker or Podman is needed, and neither is in PATH."
NO_DAEMON: Final = "Docker is in PATH, but its daemon does not answer, and there is no Podman."
ATTESTED: Final = ("--sbom=true", "--provenance=mode=max")
"""BuildKit lists what is in the image, Debian's packages too, and keeps that beside the image in the registry.

Its builders for several platforms do so; the one inside of Docker does not."""


class Image(NamedTuple):
    """What is built: its name with the registry, its version, the commit, and where the source is."""

    name: str
    version: str
    revision: str = "unknown"
    source: str = ""
    platforms: str = ""
    """Separated by commas, as in ``linux/amd64,linux/arm64``; empty: that of this machine."""
    publishes: bool = False


def main(words: Sequence[str] | None = None) -> None:
    """Build the image, and push it if asked to.

    Raises:
        SystemExit: With 2, and a sentence: there is no engine, it failed, or the name will not do.
    """
    parser = argparse.ArgumentParser(prog="make image")
    parser.add_argument("--image", default="groupwatch", help="its name, with its registry and without a tag")
    parser.add_argument("--version", default=version(), help="its tag")
    parser.add_argument("--platforms", default="", help="as in linux/amd64,linux/arm64")
    parser.add_argument("--source", default="", help="the address of the repository")
    parser.add_argument("--publish", action="store_true", help="push it to its registry")
    given = parser.parse_args(words)
    image = Image(given.image, given.version, revision(), given.source, given.platforms, given.publish)
    try:
        require_sound(image)
        BUILT.mkdir(parents=True, exist_ok=True)
        for command in commands(engine(), image):
            run(command)
    except PublishingError as problem:
        sys.stderr.write(f"make image: {problem}\n")
        sys.exit(2)


def engine() -> Engine:
    """Docker if its daemon answers, else Podman.

    Raises:
        PublishingError: There is none.
    """
    if shutil.which("docker"):
        asked = ["docker", "version", "--format", "{{.Server.Version}}"]
        if subprocess.run(asked, capture_output=True, check=False).returncode == 0:
            return "docker"
    if shutil.which("podman"):
        return "podman"
    raise PublishingError(NO_DAEMON if shutil.which("docker") else MISSING)


def run(command: Command) -> None:
    """Print a command, and run it.

    Raises:
        PublishingError: It failed, and has said why.
    """
    sys.stdout.write(f"{' '.join(command)}\n")
    sys.stdout.flush()
    if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
        raise PublishingError(f"{command[0]} failed.")


def require_sound(image: Image) -> None:
    """Refuse a name that an engine would take for another one.

    Raises:
        PublishingError: It has a tag, or is to be pushed and names no registry.
    """
    if re.fullmatch(r"[\w.-]+(:\d+)?(/[\w.-]+)*", image.name) is None:
        raise PublishingError(f"IMAGE must be a name without a tag, as registry.example/team/groupwatch: {image.name}")
    host, slash, _ = image.name.partition("/")
    if image.publishes and not (slash and re.search(r"[.:]|^localhost$", host)):
        raise PublishingError("PUBLISH needs the host of your registry in IMAGE, as registry.example/team/groupwatch.")
    if image.source:
        require_address(image.source)


def commands(engine: Engine, image: Image) -> list[Command]:
    """What is run, in this order.

    >>> for command in commands("podman", Image("localhost:5000/groupwatch", "0.1.0", publishes=True)):
    ...     print(*command)
    podman build --format docker --build-arg VERSION=0.1.0 --build-arg REVISION=unknown \
--tag localhost:5000/groupwatch:0.1.0 .
    podman push localhost:5000/groupwatch:0.1.0
    """
    tagged = f"{image.name}:{image.version}"
    options = ["--build-arg", f"VERSION={image.version}", "--build-arg", f"REVISION={image.revision}"]
    if image.source:
        options += ["--label", f"org.opencontainers.image.source={image.source}"]
    if image.platforms:
        options += ["--platform", image.platforms]
    if engine == "podman":
        return _with_podman(tagged, options, image)
    if image.platforms:
        return [_with_buildx(tagged, options, image)]
    pushes = [["docker", "push", tagged]] if image.publishes else []
    return [["docker", "build", *options, "--tag", tagged, "."], *pushes]


def _with_podman(tagged: str, options: Command, image: Image) -> list[Command]:
    """The format of Docker, because that of the OCI has no health check."""
    named = "--manifest" if image.platforms else "--tag"
    push = ["podman", "manifest", "push", "--all", tagged, f"docker://{tagged}"]
    pushes = [push if image.platforms else ["podman", "push", tagged]] if image.publishes else []
    return [["podman", "build", "--format", "docker", *options, named, tagged, "."], *pushes]


def _with_buildx(tagged: str, options: Command, image: Image) -> Command:
    """Docker keeps no image of several platforms itself: one that is not pushed becomes a file."""
    file = BUILT / f"groupwatch-{image.version}-image.tar"
    into = ["--push", *ATTESTED] if image.publishes else ["--output", f"type=oci,dest={file.relative_to(ROOT)}"]
    return ["docker", "buildx", "build", *options, "--tag", tagged, *into, "."]


if __name__ == "__main__":
    main()
