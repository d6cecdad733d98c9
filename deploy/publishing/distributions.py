"""``python -m deploy.publishing.distributions``: build the wheel and the source distribution, and check both.

Into build/dist go the two files, and two bills of materials (CycloneDX): of what is installed with the wheel alone, and
of what the image has of Python and Java. It needs the tools in publishing/tools.txt.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from deploy.publishing.bill_of_materials import write_bill
from deploy.publishing.contents import DATA, faults_of_sdist, faults_of_wheel
from deploy.publishing.errors import PublishingError
from deploy.publishing.staging import ADDRESS, BUILT, ROOT, last_commit_s, stage, tracked_files, version, with_source

CONSTRAINTS: Final = ROOT / "constraints.txt"
SEEN_BY_THE_INSTALLED: Final = """
import importlib.resources as r
pages = r.files("monitor.web.page.help")
assert all("# " in (pages / f"{n}.md").read_text("utf-8") for n in ("findings", "runbooks", "concepts"))
"""


def main(words: Sequence[str] | None = None) -> None:
    """Build and check all, and upload it if asked to.

    Raises:
        SystemExit: With 2, and a sentence: something is not as it should be.
    """
    parser = argparse.ArgumentParser(prog="make dist")
    parser.add_argument("--source", default="", help="the address of the repository, for the metadata")
    parser.add_argument("--publish", default="", help="the address to which twine uploads the two files")
    chosen = parser.parse_args(words)
    try:
        require_index(chosen.publish)
        files = build(chosen.source)
        install_and_list(files[0])
        if chosen.publish:
            tool("twine", "upload", "--non-interactive", "--repository-url", chosen.publish, *map(str, files))
    except PublishingError as problem:
        sys.stderr.write(f"make dist: {problem}\n")
        sys.exit(2)
    sys.stdout.write("".join(f"{each.relative_to(ROOT)}\n" for each in sorted(BUILT.glob("groupwatch-*"))))


def require_index(address: str) -> None:
    """Refuse what is no address of an index.

    Raises:
        PublishingError: It is none.
    """
    if address and ADDRESS.fullmatch(address) is None:
        raise PublishingError(f"PUBLISH must be an address, as https://packages.example/upload/: {address}")


def build(source: str = "") -> tuple[Path, Path]:
    """The wheel and the source distribution, checked. The wheel is built from the other one.

    Raises:
        PublishingError: A tool failed, or they have not what they must.
    """
    BUILT.mkdir(parents=True, exist_ok=True)
    for old in BUILT.glob("groupwatch-*[wz]"):  # .whl and .tar.gz
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="groupwatch-dist-") as work:
        staged = stage(Path(work))
        if source:
            project = staged / "pyproject.toml"
            project.write_text(with_source(project.read_text(encoding="utf-8"), source), encoding="utf-8")
        tool("build", "--no-isolation", "--outdir", str(BUILT), str(staged))
    wheel, sdist = BUILT / f"groupwatch-{version()}-py3-none-any.whl", BUILT / f"groupwatch-{version()}.tar.gz"
    tool("twine", "check", "--strict", str(wheel), str(sdist))
    check_contents(wheel, sdist)
    return wheel, sdist


def check_contents(wheel: Path, sdist: Path) -> None:
    """Compare what the two files have with what is tracked.

    Raises:
        PublishingError: Something is missing, or too much.
    """
    release, tracked = f"groupwatch-{version()}", tracked_files()
    with zipfile.ZipFile(wheel) as opened:
        faults = [*faults_of_wheel(set(opened.namelist()), tracked, release)]
    with tarfile.open(sdist) as archive:
        members = [each for each in archive if not each.isdir()]
    faults += faults_of_sdist({each.name for each in members}, tracked, release)
    faults += [f"the sdist has the link {each.name}" for each in members if not each.isfile()]
    if faults:
        raise PublishingError("; ".join(faults) + ".")


def install_and_list(wheel: Path) -> None:
    """Install the wheel into an environment of its own, run it, and write the two bills of materials.

    Raises:
        PublishingError: It cannot be installed, or does not run.
    """
    with tempfile.TemporaryDirectory(prefix="groupwatch-dist-") as work:
        environment = Path(work) / "installed"
        run(sys.executable, "-m", "venv", "--without-pip", str(environment))
        pip(environment, "--no-index", "--no-deps", str(wheel))
        missing = [place for place in DATA.values() if not (environment / place).is_file()]
        if missing:
            raise PublishingError(f"The installed wheel lacks {', '.join(missing)}.")
        pip(environment, str(wheel))
        run(str(environment / "bin/groupwatch"), "doctor", "--help")
        run(str(environment / "bin/python"), "-c", SEEN_BY_THE_INSTALLED)
        write_bill(environment, BUILT / f"groupwatch-{version()}.cdx.json")
        pip(environment, f"groupwatch[{extras_of_the_image()}] @ {wheel.as_uri()}")
        write_bill(environment, BUILT / f"groupwatch-{version()}-image.cdx.json", has_jars=True)


def extras_of_the_image() -> str:
    """What the Dockerfile installs, as in ``job,otlp``."""
    (found,) = re.findall(r'"\.\[(.+)\]"', (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    return str(found)


def pip(environment: Path, *what: str) -> None:
    """Install into an environment that has no pip itself, in the versions of constraints.txt."""
    options = ("--quiet", "--no-compile", "--constraint", str(CONSTRAINTS))
    run(sys.executable, "-m", "pip", "--python", str(environment / "bin/python"), "install", *options, *what)


def tool(module: str, *words: str) -> None:
    """Run a tool of publishing/tools.txt.

    Raises:
        PublishingError: It failed, and has said why.
    """
    run(sys.executable, "-m", module, *words)


def run(*command: str) -> None:
    """Run a command, whose files get the time of the last commit. What it says is shown if it fails.

    Raises:
        PublishingError: It failed.
    """
    ended = subprocess.run(
        command,
        cwd=tempfile.gettempdir(),  # where no folder hides an installed package
        env=os.environ | {"SOURCE_DATE_EPOCH": last_commit_s(), "PYTHONPATH": ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if ended.returncode != 0:
        sys.stderr.write(ended.stdout)
        raise PublishingError(f"{' '.join(command[:4])} failed (exit code {ended.returncode}).")


if __name__ == "__main__":
    main()
