"""A bill of materials (SBOM) in CycloneDX's JSON: what an environment has of Python's packages, and of Java's jars.

The packages are listed by CycloneDX's own tool, in reproducible form. It does not know of jars, so these are added.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from deploy.publishing.errors import PublishingError
from deploy.publishing.staging import ROOT

FORM: Final = ("--output-reproducible", "--output-format", "JSON", "--spec-version", "1.6")
JARS_OF_THE_JOB: Final = """
from monitor.java_runtime.jars import job_jars, pyspark_jars_dir
print(*pyspark_jars_dir().glob("*.jar"), *job_jars(is_recorded=True, uses_iam=True), sep="\\n")
"""
_JAR: Final = re.compile(
    r"(?P<name>.+?)-(?P<version>\d+\.\d[\w.]*(?:-(?:\d[\w.]*|[mM]\d+|RC\d+|GA|incubating|jre))?)(?:-(?P<classifier>[a-z][\w-]*))?"
)
GROUPS: Final = {
    **dict.fromkeys(("derby", "derbyshared", "derbytools"), "org.apache.derby"),
    **dict.fromkeys(("libfb303", "libthrift"), "org.apache.thrift"),
    **dict.fromkeys(("RoaringBitmap", "shims"), "org.roaringbitmap"),
    **dict.fromkeys(("scala-compiler", "scala-library", "scala-reflect"), "org.scala-lang"),
    "aws-msk-iam-auth": "software.amazon.msk",
    "jsr305": "com.google.code.findbugs",
    "kafka-clients": "org.apache.kafka",
    "objenesis": "org.objenesis",
    "reactive-streams": "org.reactivestreams",
    "rocksdbjni": "org.rocksdb",
    "tink": "com.google.crypto.tink",
    "xz": "org.tukaani",
}
"""By artifact, those of the larger jars that do not say theirs, as Maven's repository has them."""

Component = dict[str, Any]


def write_bill(environment: Path, into: Path, *, has_jars: bool = False) -> None:
    """List what is installed in an environment; with jars, also those of PySpark and those that a job fetches.

    Raises:
        PublishingError: A tool failed, or what was written is not as CycloneDX wants it.
    """
    python = str(environment / "bin/python")
    tool = [sys.executable, "-m", "cyclonedx_py", "environment", *FORM, "--pyproject", str(ROOT / "pyproject.toml")]
    bill = json.loads(_output_of(*tool, python))
    _forget_places(bill)
    if has_jars:
        jars = [Path(line) for line in _output_of(python, "-c", JARS_OF_THE_JOB).splitlines()]
        bill["components"] += [jar_component(jar) for jar in sorted(jars, key=lambda jar: jar.name)]
    text = json.dumps(bill, indent=1) + "\n"
    _require_valid(text)
    into.write_text(text, encoding="utf-8")


def jar_component(jar: Path) -> Component:
    """A jar with its coordinate in Maven's repository, as far as it says it, and its checksum."""
    found = _JAR.fullmatch(jar.stem)
    name, version, classifier = found.group("name", "version", "classifier") if found else (jar.stem, None, None)
    group = _group_of(jar, name)
    component = {"type": "library", "bom-ref": f"jar:{jar.name}", "group": group, "name": name, "version": version}
    if group and version:
        variant = f"?classifier={quote(classifier)}" if classifier else ""
        component["purl"] = f"pkg:maven/{group}/{quote(name)}@{quote(version)}{variant}"
    checksum = hashlib.sha256(jar.read_bytes()).hexdigest()
    known = {key: value for key, value in component.items() if value}
    return known | {"hashes": [{"alg": "SHA-256", "content": checksum}]}


def _group_of(jar: Path, artifact: str) -> str | None:
    """What the jar itself says: Maven leaves its coordinate there, and sbt and Gradle name it in the manifest."""
    with zipfile.ZipFile(jar) as opened:
        places = (re.fullmatch(r"META-INF/maven/([\w.-]+)/([^/]+)/pom.properties", each) for each in opened.namelist())
        for place in places:
            if place and place[2] == artifact:
                return place[1]
        has_manifest = "META-INF/MANIFEST.MF" in opened.namelist()
        manifest = opened.read("META-INF/MANIFEST.MF").decode("utf-8", "replace") if has_manifest else ""
    named = re.search(r"^Implementation-Vendor-Id: ([\w-]+(?:\.[\w-]+)+)\s*$", manifest, re.MULTILINE)
    return named[1] if named else GROUPS.get(artifact)


def _forget_places(bill: dict[str, Any]) -> None:
    """Leave out where a package was installed from on this machine."""
    for each in (bill["metadata"]["component"], *bill["components"]):
        links = [link for link in each.get("externalReferences", ()) if not link["url"].startswith("file:")]
        each.pop("externalReferences", None)
        if links:
            each["externalReferences"] = links


def _require_valid(text: str) -> None:
    from cyclonedx.schema import SchemaVersion  # noqa: PLC0415 # only the tools' environment has it
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    if (fault := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)) is not None:
        raise PublishingError(f"The bill of materials is not as CycloneDX wants it: {fault}.")


def _output_of(*command: str) -> str:
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode != 0:
        raise PublishingError(f"{command[0]} failed (exit code {ended.returncode}).")
    return ended.stdout
