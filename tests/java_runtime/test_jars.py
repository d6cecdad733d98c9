"""Jars are fetched once, completely or not at all. A script stands in for Java, so that no network is needed."""

import multiprocessing
import os
from xml.etree import ElementTree

import pytest

from monitor.java_runtime import jars
from monitor.java_runtime.errors import JarsNotResolved
from monitor.java_runtime.jars import Coordinate, ivy_file, kafka_jars, resolve
from monitor.java_runtime.kafka_versions import kafka_version

COORDINATE = Coordinate(organisation="org.example", artifact="thing", version="1.2.3")

# Finds the folder in front of "/[artifact]" in its arguments, as Ivy is told by -retrieve, and puts two jars there. In
# Ivy's own cache beside it, half a jar of 2.5 MB lies until the named pipe IVY_AWAITS is written to.
IVY = r"""#!/bin/sh
if [ "$1" = "-version" ]; then echo 'version "17.0.1"' >&2; exit 0; fi
echo run >> "$RUNS"
for argument in "$@"; do case "$argument" in */\[artifact\]*) folder="${argument%%/\[artifact\]*}";; esac; done
mkdir -p "$folder" "$folder/../ivy"
if [ -n "$IVY_AWAITS" ]; then
    head -c 2500000 /dev/zero > "$folder/../ivy/thing.jar.part"
    printf '\tfound org.example#thing;1.2.3 in somewhere\n'
    read -r line < "$IVY_AWAITS"
    exit 1
fi
echo jar > "$folder/thing-1.2.3.jar"
sleep "${IVY_TAKES:-0}"
echo jar > "$folder/other-thing-4.5.jar"
printf '\tfound org.example#thing;1.2.3 in somewhere\n\t[SUCCESSFUL ] org.example#thing;1.2.3\n'
exit "${IVY_EXITS:-0}"
"""


@pytest.fixture
def ivy_runs(tmp_path, monkeypatch):
    """Ivy is the script above; the file has a line for each of its runs."""
    home = tmp_path / "java"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text(IVY)
    (home / "bin" / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


def names(files):
    return [file.name for file in files]


def test_the_second_time_nothing_is_fetched(tmp_path, ivy_runs):
    first = resolve(COORDINATE, tmp_path / "cache" / "thing")
    second = resolve(COORDINATE, tmp_path / "cache" / "thing")
    assert names(first) == names(second) == ["other-thing-4.5.jar", "thing-1.2.3.jar"]
    assert ivy_runs.read_text() == "run\n"


def test_what_is_there_already_is_left_out(tmp_path, ivy_runs):
    kept = resolve(COORDINATE, tmp_path / "cache" / "thing", leave_out=frozenset({"thing"}))
    assert names(kept) == ["other-thing-4.5.jar"]


def test_a_person_is_told_how_far_it_is(tmp_path, ivy_runs):
    lines = []
    resolve(COORDINATE, tmp_path / "cache" / "thing", lines.append)
    assert lines[0].startswith("fetching thing 1.2.3 (once; log in ")
    assert lines[-1] == "fetching thing 1.2.3: 1 of 1 jars, 0.0 MB"


def test_a_person_is_told_what_has_arrived_of_a_jar_that_takes_long(tmp_path, ivy_runs, monkeypatch):
    """Ivy ends when that has been told; without it, this waits until the test's time is over."""
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setenv("IVY_AWAITS", str(tmp_path / "pipe"))
    monkeypatch.setattr(jars, "TELL_EVERY_S", 0.01)
    told = []

    def tell(line):
        if line == "fetching thing 1.2.3: 0 of 1 jars, 2.5 MB" and line not in told:
            (tmp_path / "pipe").write_text("go on\n")
        told.append(line)

    with pytest.raises(JarsNotResolved):
        resolve(COORDINATE, tmp_path / "cache" / "thing", tell)


def test_a_failure_names_the_log_and_leaves_no_half_folder(tmp_path, ivy_runs, monkeypatch):
    monkeypatch.setenv("IVY_EXITS", "1")
    cache = tmp_path / "cache"
    with pytest.raises(JarsNotResolved) as caught:
        resolve(COORDINATE, cache / "thing")
    assert str(cache / "thing.log") in str(caught.value)
    assert "SUCCESSFUL" in caught.value.log_file.read_text()
    assert sorted(path.name for path in cache.iterdir()) == ["thing.lock", "thing.log"]


def test_two_processes_fetch_once(tmp_path, ivy_runs, monkeypatch):
    monkeypatch.setenv("IVY_TAKES", "1")
    context = multiprocessing.get_context("spawn")
    into = tmp_path / "cache" / "thing"
    processes = [context.Process(target=resolve, args=(COORDINATE, into)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0, 0]
    assert ivy_runs.read_text() == "run\n"
    assert len(list(into.iterdir())) == 2


def test_what_is_fetched_together_is_asked_of_ivy_at_once(tmp_path, ivy_runs):
    other = Coordinate(organisation="com.example", artifact="other-thing", version="4.5")
    text = ivy_file((COORDINATE, other))
    dependencies = [each.attrib for each in ElementTree.fromstring(text).iter("dependency")]
    assert [(each["org"], each["name"], each["rev"]) for each in dependencies] == [
        ("org.example", "thing", "1.2.3"),
        ("com.example", "other-thing", "4.5"),
    ]
    assert {each["conf"] for each in dependencies} == {"default->default,master,runtime"}
    resolve(COORDINATE, tmp_path / "cache" / "thing", beside=(other,))
    assert ivy_runs.read_text() == "run\n"


@pytest.mark.broker
def test_the_brokers_jars_are_not_fetched_again(broker, ivy_runs):
    """The running broker has them in the user's cache; the script would leave a trace if it were run."""
    assert f"kafka_2.13-{kafka_version().version}.jar" in names(kafka_jars())
    assert not ivy_runs.exists()
