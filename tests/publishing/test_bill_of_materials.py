"""What a bill of materials says of a jar."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from deploy.publishing.bill_of_materials import jar_component

OF_MAVEN = {
    "META-INF/maven/org.other/shaded/pom.properties": "",
    "META-INF/maven/io.netty/netty-all/pom.properties": "",
}


def jar(folder: Path, name: str, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(folder / name, "w") as written:
        for place, text in files.items():
            written.writestr(place, text)
    return folder / name


@pytest.mark.parametrize(
    ("name", "files", "group", "purl"),
    [
        ("netty-all-4.2.6.Final.jar", OF_MAVEN, "io.netty", "pkg:maven/io.netty/netty-all@4.2.6.Final"),
        (
            "netty-all-4.2.6.Final-linux-x86_64.jar",
            OF_MAVEN,
            "io.netty",
            "pkg:maven/io.netty/netty-all@4.2.6.Final?classifier=linux-x86_64",
        ),
        (
            "spark-sql_2.13-4.2.1.jar",
            {"META-INF/MANIFEST.MF": "Manifest-Version: 1.0\r\nImplementation-Vendor-Id: org.apache.spark\r\n"},
            "org.apache.spark",
            "pkg:maven/org.apache.spark/spark-sql_2.13@4.2.1",
        ),
        ("zstd-jni-1.5.7-6.jar", {"META-INF/MANIFEST.MF": "Implementation-Vendor: somebody\n"}, None, None),
        ("log4j-1.2-api-2.25.4.jar", {}, None, None),
        ("kafka-clients-3.9.2.jar", {}, "org.apache.kafka", "pkg:maven/org.apache.kafka/kafka-clients@3.9.2"),
    ],
)
def test_a_jar_has_its_checksum_and_the_coordinate_that_it_says(
    tmp_path: Path, name: str, files: dict[str, str], group: str | None, purl: str | None
):
    file = jar(tmp_path, name, files)
    component = jar_component(file)
    assert (component.get("group"), component.get("purl")) == (group, purl)
    assert component["bom-ref"] == f"jar:{name}"
    assert component["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}]
    assert (component["name"], component["version"]) in {
        ("netty-all", "4.2.6.Final"),
        ("spark-sql_2.13", "4.2.1"),
        ("zstd-jni", "1.5.7-6"),
        ("log4j-1.2-api", "2.25.4"),
        ("kafka-clients", "3.9.2"),
    }
