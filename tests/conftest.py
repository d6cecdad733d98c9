"""What tests share: a real broker for the whole session, names nobody else uses, and programs that run beside them.

``make test`` and ``make test-jobs`` give the files of tests to workers (pytest-xdist). Of ``make test`` one has the
broker, of ``make test-jobs`` each has a broker of its own. A program that a test awaits runs while its worker waits for
it. All files with programs are one worker's, which begins with them: two programs at once would stall each other, and
they keep to a clock. Without workers the programs run beside all other tests.
"""

import logging
import os
import re
import secrets
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.beside import Beside
from tests.support.delta_spark import DeltaSpark
from tests.support.doctests import OnlyInFilesWithSome
from tests.support.examples import register_profiles
from tests.support.garbage import collect_garbage
from tests.support.running_tests import RunningTests
from tests.support.sharing_out import TwoWithSpark, chooses_jobs
from tests.support.time_left import time_left

SKIPS: Final = (
    *("restart_at_the_end", "grown", "lagging_restart", "removed_while_down"),
    *("overtaken", "expired", "burst", "replay"),
)
"""What happens to the eight groups of tests.skips; each of its four clients has two.

The topic that grows is not kafka-python's: 3 of 18 times its consumer polled for ever and read no new partition."""

TASK_KINDS: Final = ("share", "streams-classic", "streams-kip1071", "connect")
CHURNING: Final = (*TASK_KINDS, "members")
"""Of tests.kind_churn, what the suite runs: it needs no job, so members churn there and not beside the scenarios."""

BESIDE = {
    # first: it tells its story by the clock, and the tests it begins with leave it a core
    "demo_run": ("tests.demo.demo_run",),
    "demo_interrupted": ("tests.demo.demo_run", "--interrupted"),
    "live_minute": ("tests.live.run",),
    "scenarios_run": ("tests.scenarios.run", "--without-spark"),
    "chaos_run": ("tests.chaos.run", "--seed", "1", "--kills", "3", "--others", "2", "--brief"),
    "kind_churn_run": ("tests.kind_churn.run", "--seed", "1", "--minutes", "0.5", "--kinds", *CHURNING),
    "hostile_run": ("tests.hostile.run", "--seed", "1", "--minutes", "0.5", "--without-spark"),
    "skips_run": ("tests.skips.run", "--seed", "3110", "--runs", "8", "--without-spark", "--only", *SKIPS),
}
"""Programs that run beside the tests, by the fixture with their report."""

IN_THE_SUITE: Final = (
    "tests/collectors/kafka/test_admin_poll.py",
    "tests/collectors/kafka/test_admin_reader.py",
    "tests/collectors/kafka/test_findings_topic.py",
    "tests/streaming_jobs/jobs/test_job.py",
)
"""Of the tests with a real broker or Spark, those that `make test` runs: enough to see that all of it works here."""

MOST_WORKERS: Final = 6
"""With more, the one with the broker is still at work when all others have ended."""

NOT_IN_THE_SUITE: Final = (
    "tests/collectors/zookeeper/",
    "tests/collectors/kafka_client/test_kerberos.py",
    "tests/benchmarks/test_assignor_results.py::test_a_million_partitions_fit",
    "tests/breaks/test_breaks.py::test_a_break_",
    "tests/web/page/test_past_in_browser.py",
    "tests/web/page/test_topics_in_browser.py",
)
"""What else takes long: servers of other sorts, a million partitions, runs of pytest, more of what is seen in a
browser."""

OF_A_JOB: Final = re.compile(r"\bmark\.(broker|spark|jobs)\b")
"""The text of a file with tests that `make test-jobs` runs, but for those of NOT_IN_THE_SUITE."""

_FOLDERS: Final = ("chaos", "hostile", "kind_churn", "live", "scenarios", "skips")
PROGRAMS: Final = (*(f"tests/{folder}/" for folder in _FOLDERS), "tests/demo/test_demo.py")
"""Where the tests are that await such a program."""
WITH_ZOOKEEPER: Final = tuple(f"tests/systems/test_{name}.py" for name in ("metaq", "zookeeper_kafka"))
"""Where those are that await stories of ZooKeeper's consumers, which share a server; RocketMQ's runs beside them."""
DEMOS: Final = ("tests/systems/test_demo.py", "tests/systems/test_demo_kinds.py")
"""Where the demo runs with more than its Kafka: by the clock, so only one at a time."""
WITH_DELTA: Final = (
    "tests/history/test_sql.py",
    "tests/streaming_jobs/jobs/test_recording.py",
    *(f"tests/streaming_jobs/recording/test_{name}.py" for name in ("begin_at_once", "shuffled_clocks", "states")),
)
"""Where those are that share a Spark with Delta Lake."""
LONGEST: Final = tuple(
    f"tests/streaming_jobs/jobs/test_{name}.py" for name in ("skipped_records", "subscriptions", "systems_in_a_job")
)
"""What workers run first: what takes minutes would otherwise be left to one of them in the end."""
HEAVIEST: Final = (*WITH_DELTA, "tests/streaming_jobs/runtime/test_log_ins.py")
"""What workers run last, at the same time: each takes a core. Beside a program that does, all take three times as much,
as a job that waits computes, too."""

LONGEST_JOB_TEST_S: Final = 900
"""Of a test of jobs that says nothing itself: its broker, its job and two things it awaits, on a busy machine."""

# What a shell starts in the background ignores SIGINT, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

register_profiles()


SHORT_STREAMS_SESSIONS: Final = {
    f"group.streams.{limit}{setting}": milliseconds
    for setting, milliseconds in (("session.timeout.ms", "6000"), ("heartbeat.interval.ms", "1000"))
    for limit in ("", "min.")
}
"""By default a killed instance of an application of KIP-1071 is missed after 45 s, and that is the least."""

IS_WORKER: Final = "PYTEST_XDIST_WORKER" in os.environ


class OneAfterTheOther(TwoWithSpark):
    """A worker gets whole files of tests: one of them all files with programs, one all demos.

    Of `make test` one gets all that need a broker: it waits more than it computes, beside the others. Of
    `make test-jobs` two get all that start Spark, as long as programs run.
    """

    programs = PROGRAMS[0]

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        of_one = (PROGRAMS, WITH_ZOOKEEPER, DEMOS, IN_THE_SUITE, WITH_DELTA)
        return next((files[0] for files in of_one if file.startswith(files)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneAfterTheOther:
    """Who shares out the tests among workers, however ``--dist`` is set."""
    return OneAfterTheOther(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Whoever waits for workers is told what they are at. Doctests are collected where there are some."""
    config.pluginmanager.register(OnlyInFilesWithSome())
    if (limited := time_left()) is not None:
        config.pluginmanager.register(limited)
    if not IS_WORKER and config.getoption("numprocesses", None):
        config.pluginmanager.register(RunningTests(config))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores, as one of them waits for its broker; each takes half a gigabyte."""
    return min((os.cpu_count() or 1) + 1, MOST_WORKERS)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where only jobs are chosen, the files without any need not be collected: four of five, 11 s for each worker."""
    is_of_tests = collection_path.match("test_*.py")
    return True if chooses_jobs(config) and is_of_tests and not may_have_jobs(collection_path) else None


@cache
def may_have_jobs(file: Path) -> bool:
    """Whether a file of tests has some that `make test-jobs` runs, by its text."""
    place = file.relative_to(Path(__file__).parents[1]).as_posix()
    left_out = tuple(each.partition("::")[0] for each in NOT_IN_THE_SUITE)
    return place.startswith(left_out) or OF_A_JOB.search(file.read_text(encoding="utf-8")) is not None


@pytest.hookimpl(tryfirst=True)  # before -m chooses by the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is left to ``make test-jobs``, and put all tests into their order.

    Without workers, the tests of one core come first, beside which there is room for programs, and last those that
    await one. Of workers each begins with what takes longest, so that all end at about the same time.
    """
    for item in items:
        takes_long = bool(_turn(item)) or item.nodeid.startswith(NOT_IN_THE_SUITE)
        if takes_long and not item.nodeid.startswith(IN_THE_SUITE):
            item.add_marker("jobs")
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(LONGEST_JOB_TEST_S))
    items.sort(key=_order, reverse=IS_WORKER)
    strays = [item.nodeid for item in items if awaits_a_program(item) and not item.nodeid.startswith(PROGRAMS)]
    assert not strays, f"these await a program, and are not in PROGRAMS: {strays}"
    jobs = [item for item in items if item.get_closest_marker("jobs")]
    unseen = [item.nodeid for item in jobs if not may_have_jobs(item.path)]
    assert not unseen, f"make test-jobs collects no such file: {unseen}"


def pytest_collection_finish() -> None:
    """What was collected here lives until the end."""
    collect_garbage()


def _order(item: pytest.Item) -> tuple[int, bool, bool]:
    """By what it needs; as workers have it, what takes long is first, and what takes most of the machine last."""
    return _turn(item), not item.nodeid.startswith(HEAVIEST), item.nodeid.startswith(LONGEST)


def _turn(item: pytest.Item) -> int:
    if awaits_a_program(item):
        return 2
    return int(any(item.get_closest_marker(needed) for needed in ("broker", "spark")))


def awaits_a_program(item: pytest.Item) -> bool:
    """Whether it needs the report of one."""
    return bool(fixtures_of(item) & BESIDE.keys())


def fixtures_of(item: pytest.Item) -> set[str]:
    """The names of the fixtures that a test needs, directly or not."""
    return set(getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session", autouse=True)
def beside(request: pytest.FixtureRequest) -> Iterator[Beside]:
    """The programs that the chosen tests need, running since the first of all tests if there are no workers."""
    needed = set().union(*map(fixtures_of, request.session.items))
    with Beside() as programs:
        for name, command in BESIDE.items():
            if IS_WORKER:
                programs.keep(name, *command)
            elif name in needed:
                programs.begin(name, *command)
        yield programs


@pytest.fixture(autouse=True)
def levels() -> Iterator[None]:
    """A command that a test runs in this process sets the levels of loggers: the next test has those of before."""
    loggers = [logging.getLogger(name) for name in (None, "monitor", "streaming_jobs", "kafka", "py4j")]
    before = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, before, strict=True):
        logger.setLevel(level)


@pytest.fixture(scope="session")
def broker() -> Iterator[EmbeddedKafka]:
    """A running broker, shared: use names from ``topic_name`` and ``group_name``, and do not stop it."""
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=8, properties=SHORT_STREAMS_SESSIONS)) as kafka:
        yield kafka


@pytest.fixture(scope="session")
def delta_spark() -> Iterator[DeltaSpark]:
    """Runs programs in a Spark with Delta Lake, started with the first of them."""
    with DeltaSpark() as programs:
        yield programs


@pytest.fixture
def topic_name() -> str:
    """A topic that no other test uses; it is not created."""
    return f"topic-{secrets.token_hex(6)}"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Writes a configuration file; the environment has none of groupwatch's variables."""
    for name in [*os.environ]:
        if name.startswith("GROUPWATCH_") or name == "WATCHER_PASSWORD":
            monkeypatch.delenv(name)

    def write(text: str) -> Path:
        path = tmp_path / "groupwatch.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def group_name() -> str:
    """A group that no other test uses."""
    return f"group-{secrets.token_hex(6)}"
