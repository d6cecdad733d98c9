"""Two hours of a job that records two clusters, with page views: ``python -m tests.endurance.run [--minutes N]``.

Every process of the job is counted again and again, and the files that it keeps. ``build/endurance.txt`` has a table of
the start, each half hour and the end, ``build/endurance.json`` all counts. Ends with 1 if anything has grown.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.endurance.census import ProcessCount, Role, census
from tests.endurance.growth import Allowance, Census, grown
from tests.endurance.load import OK, SUBSCRIBED, Commits, Members, Visitor
from tests.scenarios.stage import Load
from tests.support.clients import commit, create_topic
from tests.support.crowd import Crowd
from tests.support.job_process import JobProcess, eventually
from tests.support.progress import say

MINUTES_VARIABLE: Final = "GROUPWATCH_ENDURANCE_MINUTES"
MINUTES: Final = 120
BUILD: Final = Path("build")

TOPIC, PARTITIONS = "orders", 6
CLUSTERS: Final = ("east", "west")
SIMPLE: Final = tuple(f"simple-{number}" for number in range(4))
COMMIT_EVERY_S, REPLACE_EVERY_S, VISIT_EVERY_S = 0.2, 45.0, 0.5
SAMPLE_S: Final = 10.0
ROW_S: Final = 1800.0
"""How far apart the rows of the table are; a quarter of a run that is shorter than two hours."""

WARM_SHARE: Final = 1 / 3
"""Of the run: by then pools are full, histories of half an hour have their length, and Java has compiled."""
COMPARED_SHARE: Final = 1 / 6
"""Of the run: as long are the two times that are compared, after the warm-up and before the end."""

ALLOWED: Final = {
    Role.DRIVER: Allowance(descriptors=6, sockets=6, threads=6, memory_mb=40),
    Role.JVM: Allowance(descriptors=40, sockets=20, threads=100, memory_mb=300),
    Role.WORKERS_PARENT: Allowance(descriptors=2, sockets=2, threads=1, memory_mb=10),
    Role.WORKER: Allowance(descriptors=2, sockets=2, threads=1, memory_mb=40, processes=2),
}
"""The JVM's heap is bounded, and may fill. With PySpark 4.2.0 its sockets grew by 226 a minute."""

FILES_ALLOWED: Final = {"checkpoint": 200, "temporary": 40}
"""By how many the files of a folder may have grown. A recording grows with what is recorded. The files of shuffles stay
until Java collects what they belong to, at most half an hour: they rise and fall."""

SHUFFLES: Final = "blockmgr-"
"""What the names of Spark's folders for shuffles begin with."""

READY_S: Final = 600
"""When a start is given up, also on a machine that does much else."""

Tell = Callable[[str], Any]


@dataclass(frozen=True)
class Folder:
    """The files below a folder, and their size in MB."""

    files: int
    megabytes: float


@dataclass(frozen=True)
class Sample:
    """One count of everything. ``elapsed_s`` is since the job was ready."""

    elapsed_s: float
    micro_batches: int
    processes: Census
    folders: dict[str, Folder]

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self)


def endure(folder: Path, minutes: float, tell: Tell) -> dict[str, Any]:
    """The report of a run of so many minutes, in a folder for the brokers and the job; also written to ``BUILD``."""
    with ExitStack() as stack:
        kafkas = {name: watched_cluster(stack, folder / f"kafka-{name}") for name in CLUSTERS}
        job = stack.enter_context(job_of(kafkas, folder))
        job.await_ready(READY_S)
        tell("the job is ready")
        for path in paths():  # the past can be read once the recording has begun
            eventually(lambda path=path: job.status(path) == OK, f"an answer to {path}")
        visitor = stack.enter_context(Visitor(job, [*paths()], VISIT_EVERY_S))
        samples: list[Sample] = []
        for sample in sampled(job, folder, minutes * 60):
            samples.append(sample)
            if is_row(samples, minutes * 60):
                write(report_of(samples, minutes, visitor))
                tell(lines_of(sample)[0])
    report = report_of(samples, minutes, visitor)
    write(report)
    return report


def watched_cluster(stack: ExitStack, folder: Path) -> EmbeddedKafka:
    """A small broker under load; the load goes on until the end of the stack."""
    settings = BrokerSettings(offsets_topic_partitions=8, heap_mb=256)
    kafka = stack.enter_context(EmbeddedKafka(settings, data_dir=folder))
    bootstrap = kafka.bootstrap_servers
    create_topic(bootstrap, TOPIC, PARTITIONS)
    commit(bootstrap, SIMPLE[0], TOPIC, {0: 0})  # the offsets topic exists from now on
    stack.enter_context(Load(bootstrap)).add(TOPIC)
    stack.enter_context(Commits(bootstrap, TOPIC, SIMPLE, COMMIT_EVERY_S))
    stack.enter_context(Members(stack.enter_context(Crowd(bootstrap)), TOPIC, REPLACE_EVERY_S))
    return kafka


def job_of(kafkas: dict[str, EmbeddedKafka], folder: Path) -> JobProcess:
    """A job as it is deployed, with a recording; what it writes for a while is in a folder of this run."""
    own = folder / "job"
    (own / "t").mkdir(parents=True)
    clusters = {name: {"bootstrap_servers": kafka.bootstrap_servers} for name, kafka in kafkas.items()}
    job = JobProcess(own, clusters, jvm=None, history={"folder": str(own / "history")})
    job.environment = {**os.environ, "TMPDIR": str(own / "t")}
    return job


def paths() -> Iterator[str]:
    """What a visitor reads: every other time the metrics, else a page or a list of the API."""
    seen = ["/", "/topics/", "/libraries", "/api/v1/clusters", "/api/v1/groups", "/api/v1/findings"]
    for name in CLUSTERS:
        for group in (*SUBSCRIBED, SIMPLE[0]):
            seen += [f"/groups/{name}/{group}", f"/timeline/{name}/{group}", f"/api/v1/groups/{name}/{group}"]
    for path in seen:
        yield "/metrics"
        yield path


def sampled(job: JobProcess, folder: Path, seconds: float) -> Iterator[Sample]:
    """A count every SAMPLE_S; the last one once the time is over."""
    begun = time.monotonic()
    while (elapsed_s := time.monotonic() - begun) < seconds:
        yield sample_of(job, folder, elapsed_s)
        time.sleep(max(0.0, min(SAMPLE_S, seconds - (time.monotonic() - begun))))
    yield sample_of(job, folder, elapsed_s)


def sample_of(job: JobProcess, folder: Path, elapsed_s: float) -> Sample:
    assert not job.ended, f"the job has ended:\n{job.log()[-3000:]}"
    return Sample(
        elapsed_s=round(elapsed_s, 1),
        micro_batches=int(sum(each.value for each in job.metrics().all("groupwatch_micro_batch_seconds_count"))),
        processes=census(job.session),
        folders=folders_of(folder / "job"),
    )


def folders_of(job: Path) -> dict[str, Folder]:
    """What the job keeps, and what it has for a while."""
    own = [*sizes(job / "t")]
    return {
        "checkpoint": content(sizes(job / "checkpoint")),
        "recording": content(sizes(job / "history")),
        "temporary": content(each for each in own if SHUFFLES not in each[0]),
        "shuffles": content(each for each in own if SHUFFLES in each[0]),
    }


def sizes(folder: Path) -> Iterator[tuple[str, int]]:
    """The files with their sizes in bytes; those that are removed meanwhile do not count."""
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                yield place, (Path(place) / name).lstat().st_size


def content(files: Iterable[tuple[str, int]]) -> Folder:
    """How many they are, and how large."""
    found = [size for _, size in files]
    return Folder(len(found), round(sum(found) / 2**20, 1))


def is_row(samples: Sequence[Sample], seconds: float) -> bool:
    """Whether the newest sample is the first one, or the first one of another row."""
    every_s = min(ROW_S, seconds / 4)
    return len(samples) == 1 or len({int(each.elapsed_s / every_s) for each in samples[-2:]}) == 2


def report_of(samples: Sequence[Sample], minutes: float, visitor: Visitor) -> dict[str, Any]:
    """Everything that was counted, the rows of the table, and what has grown."""
    rows = [sample for number, sample in enumerate(samples, 1) if is_row(samples[:number], minutes * 60)]
    rows += [samples[-1]] if rows[-1] is not samples[-1] else []
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "pyspark": version("pyspark"),
        "minutes": minutes,
        "is_over": samples[-1].elapsed_s >= minutes * 60,
        "grown": growth_in(samples, minutes * 60),
        "visits": {str(status): count for status, count in visitor.statuses.items()},
        "failed_visits": dict(visitor.failed),
        "rows": [each.as_json() for each in rows],
        "samples": [each.as_json() for each in samples],
        "table": [line for row in rows for line in lines_of(row)],
    }


def growth_in(samples: Sequence[Sample], seconds: float) -> list[str]:
    """What has grown between the end of the warm-up and the end of the run; nothing before that."""
    warm_s, share_s = WARM_SHARE * seconds, COMPARED_SHARE * seconds
    before = [each for each in samples if warm_s <= each.elapsed_s < warm_s + share_s]
    after = [each for each in samples if each.elapsed_s >= seconds - share_s]
    if not before or not after:
        return []
    found = grown([each.processes for each in before], [each.processes for each in after], ALLOWED)
    for name, may in FILES_ALLOWED.items():
        first, last = (min(each.folders[name].files for each in part) for part in (before, after))
        if last - first > may:
            found.append(f"{name} files: {first} -> {last}, and {may} more are allowed")
    return found


def lines_of(sample: Sample) -> list[str]:
    """A sample as lines of a table: the time and the folders, then a process each."""
    folders = ", ".join(f"{name} {has.files} files {has.megabytes:g} MB" for name, has in sample.folders.items())
    head = f"{sample.elapsed_s / 60:6.1f} min, {sample.micro_batches} micro-batches; {folders}"
    return [head, *map(line_of, sample.processes)]


def line_of(count: ProcessCount) -> str:
    numbers = f"{count.descriptors:5} descriptors {count.sockets:5} sockets {count.threads:4} threads"
    return f"    {count.role:15} {count.pid:7} {numbers} {count.memory_mb:5} MB"


def write(report: dict[str, Any]) -> None:
    """The two files in ``BUILD``."""
    BUILD.mkdir(exist_ok=True)
    (BUILD / "endurance.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    (BUILD / "endurance.txt").write_text("\n".join(text_of(report)) + "\n", encoding="utf-8")


def text_of(report: dict[str, Any]) -> list[str]:
    """The table, with what has grown below it."""
    head = f"PySpark {report['pyspark']}, {report['minutes']:g} minutes, written at {report['at']}"
    state = "over" if report["is_over"] else "still running"
    return [f"{head} ({state})", *report["table"], f"visits: {report['visits']}", "grown:", *report["grown"]]


def main() -> int:
    """1 if something has grown."""
    parser = argparse.ArgumentParser(prog="python -m tests.endurance.run", description=__doc__)
    parser.add_argument("--minutes", type=float, default=minutes_wanted(), help=f"how long ({MINUTES})")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # one that was started in the background would ignore the first
        signal.signal(number, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="gw-long-") as folder:
        report = endure(Path(folder), options.minutes, say)
    sys.stdout.write("\n".join(text_of(report)) + "\n")
    return 1 if report["grown"] else 0


def minutes_wanted() -> float:
    """How long a run is to be, by the environment."""
    return float(os.environ.get(MINUTES_VARIABLE, MINUTES))


if __name__ == "__main__":
    sys.exit(main())
