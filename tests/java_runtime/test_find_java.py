"""A Java of version 17 or 21 is found in JAVA_HOME, then in PATH; otherwise the error says what to install."""

import pytest

from monitor.java_runtime.errors import JavaNotFound
from monitor.java_runtime.find_java import find_java


def fake_java(folder, version):
    """An executable that answers ``-version`` as a Java of that version does."""
    folder.mkdir(parents=True)
    executable = folder / "java"
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    executable.chmod(0o755)
    return executable


def test_the_java_of_this_machine_is_found():
    assert find_java().version in (17, 21)


def test_java_home_wins_over_the_path(tmp_path):
    chosen = fake_java(tmp_path / "home" / "bin", "21.0.2")
    fake_java(tmp_path / "path", "17.0.9")
    java = find_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "path")})
    assert (java.executable, java.version, java.home) == (str(chosen), 21, tmp_path / "home")


def test_an_old_java_home_does_not_hide_a_good_java(tmp_path):
    fake_java(tmp_path / "home" / "bin", "1.8.0_392")
    chosen = fake_java(tmp_path / "path", "17.0.9")
    java = find_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": f"/nowhere:{tmp_path / 'path'}"})
    assert java.executable == str(chosen)


def test_the_error_names_what_was_seen_and_what_to_install(tmp_path):
    old = fake_java(tmp_path / "path", "11.0.22")
    with pytest.raises(JavaNotFound, match="needs Java 17 or 21") as caught:
        find_java({"PATH": str(tmp_path / "path")})
    assert f"{old} is Java 11" in str(caught.value)
    assert "apt-get install openjdk-17-jre-headless" in str(caught.value)


def test_no_java_at_all():
    with pytest.raises(JavaNotFound, match="none found in JAVA_HOME or PATH"):
        find_java({})
