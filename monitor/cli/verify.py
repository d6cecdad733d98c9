"""The command verify: 0 if all expectations are met, 1 if one is not, 2 if that is not known."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from monitor.cli.answering import now_ms, tell_answer, tell_error
from monitor.cli.progress import wait_for
from monitor.cli.source_options import SourceOptions, source_command

if TYPE_CHECKING:  # loaded when a command needs it: --help must be quick
    from monitor.cli.gate import GateResult, GroupThen
    from monitor.cli.sources.verifying import VerifiedCluster
    from monitor.expectations.expectation import Expectations
    from monitor.expectations.outcome import Outcome

_DURATION: Final = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)(ms|s|m|h)?")
_UNITS_S: Final = {"ms": 0.001, "s": 1.0, None: 1.0, "m": 60.0, "h": 3_600.0}


def duration_s(text: str) -> float:
    """A duration as a person types it, in seconds.

    >>> duration_s("90"), duration_s("1.5m"), duration_s("250ms")
    (90.0, 90.0, 0.25)
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise typer.BadParameter(f"{text!r} is no duration: give for example 90s, 10m or 1h")
    return float(found[1]) * _UNITS_S[found[2]]


class Verification(NamedTuple):
    """What is verified by which source. ``group`` None: all groups of which something is expected."""

    expectations: Expectations
    source: VerifiedCluster
    cluster: str
    group: str | None


class Rollout(NamedTuple):
    """What the options of a gate say; ``since`` None: the rollout starts now."""

    wait_s: float
    stable_s: float
    since: str | None
    replaced: bool
    max_pause_s: float | None
    max_redelivered: int | None
    plan: str | None


def add_verify(app: typer.Typer) -> None:
    """Give the app this command."""
    app.command()(verify)


@source_command("snapshot", "at", "tz", "history", "as_json")
def verify(  # noqa: PLR0913, PLR0917 -- each is an argument or an option
    options: SourceOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The expectations (TOML).")],
    cluster: Annotated[str | None, typer.Option(help="The cluster; not set: the only one.")] = None,
    group: Annotated[str | None, typer.Option(help="Verify only this group.")] = None,
    bootstrap_server: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Look at this cluster once, instead of asking a job.")
    ] = None,
    client: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A properties file for that cluster, as for groupwatch doctor.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the answer as JUnit XML.")] = None,
    wait: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="Wait for a rollout: until all expectations are met for --stable, at most this long.",
        ),
    ] = None,
    stable: Annotated[
        str,
        typer.Option(metavar="DURATION", help="How long they must be met without a break."),
    ] = "60s",
    since: Annotated[
        str | None,
        typer.Option(
            metavar="INSTANT",
            help="With --wait: when the rollout started, in the form of --at; not set: now. With --history: verify all "
            "of the time since then, by the recording.",
        ),
    ] = None,
    replaced: Annotated[
        bool, typer.Option("--replaced", help="The rollout is to replace all members that were there when it started.")
    ] = False,
    max_pause: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="How long each partition may pause, on average."),
    ] = None,
    max_redelivered: Annotated[
        int | None, typer.Option(min=0, help="How many records the rollout may have redelivered.")
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option(
            "--rollout",
            metavar="PLAN",
            help="How pods are replaced, in the form of what-if --rollout: compare the costs with their forecast.",
        ),
    ] = None,
) -> None:
    """Verify that groups are as a file expects: once, or for a rollout until they are."""
    pause_s = None if max_pause is None else duration_s(max_pause)
    if since is not None and wait is None and options.is_recording:
        if replaced or (max_pause, max_redelivered, plan) != (None, None, None):
            raise typer.BadParameter("--replaced, --max-pause, --max-redelivered and --rollout need --wait")
        code = _verify_span(options, file, (cluster, group), since, junit, bootstrap_server)
        if code:
            raise typer.Exit(code)
        return
    rollout = Rollout(
        0 if wait is None else duration_s(wait), duration_s(stable), since, replaced, pause_s, max_redelivered, plan
    )
    _require_sound(options, rollout, bootstrap_server, waits=wait is not None)
    with _keep_report(junit), _verification(options, file, (cluster, group), bootstrap_server, client) as chosen:
        if wait is None:
            code = _verify_once(options, chosen, junit)
        else:
            code = _wait_for_rollout(options, chosen, rollout, junit)
    if code:
        raise typer.Exit(code)


def _require_sound(options: SourceOptions, rollout: Rollout, bootstrap_server: str | None, *, waits: bool) -> None:
    """Refuse options that would have no effect: a gate whose limit is dropped would pass.

    Raises:
        BadParameter: they do not go together.
    """
    if not waits and rollout._replace(wait_s=0, stable_s=0) != (0, 0, None, False, None, None, None):
        hint = "; --since needs --wait or, to look at the past, --history" if rollout.since is not None else ""
        raise typer.BadParameter(f"--since, --replaced, --max-pause, --max-redelivered and --rollout need --wait{hint}")
    if waits and rollout.stable_s > rollout.wait_s:
        raise typer.BadParameter("--stable is longer than --wait, so the rollout could never succeed")
    if waits and (bootstrap_server is not None or options.at is not None or options.snapshot is not None):
        raise typer.BadParameter("a job watches a rollout: leave out --bootstrap-server, --at and --snapshot")
    if waits and options.is_recording:
        raise typer.BadParameter("a job watches a rollout: leave out --history, or name the job by --url")
    chosen = (bootstrap_server, options.snapshot, options.at)
    if sum(each is not None for each in chosen) > 1:
        raise typer.BadParameter("give only one of --bootstrap-server, --snapshot and --at")


@contextmanager
def _keep_report(junit: Path | None) -> Iterator[None]:
    """Write the report of what cannot be verified at all, too: a build server shows no file that is not there."""
    from monitor.cli.errors import SourceError  # noqa: PLC0415 -- --help must be quick
    from monitor.expectations.outcome import outcome_of  # noqa: PLC0415 -- as above
    from monitor.expectations.verification import unknown_cluster  # noqa: PLC0415 -- as above

    try:
        yield
    except SourceError as error:
        _write_junit(outcome_of([unknown_cluster("groupwatch", str(error))], now_ms()), junit)
        raise


def _verify_span(  # noqa: PLR0913, PLR0917 -- each is an argument or an option
    options: SourceOptions,
    file: Path,
    names: tuple[str | None, str | None],
    since: str,
    junit: Path | None,
    bootstrap_server: str | None,
) -> int:
    """All of the time since an instant, by a recording."""
    from monitor.cli.expectations_file import read_expectations  # noqa: PLC0415 -- as above
    from monitor.cli.recorded_time import SpanQuestion, as_outcome, time_in_span  # noqa: PLC0415 -- as above
    from monitor.cli.render_verify import span_shown  # noqa: PLC0415 -- as above

    if options.at is not None or options.snapshot is not None or bootstrap_server is not None:
        raise typer.BadParameter("--since with --history looks at a span: leave out --at, --snapshot and others")
    with _keep_report(junit):
        asked = SpanQuestion(options.history or "", options.instant(since), now_ms(), *names)
        found = wait_for(lambda: time_in_span(read_expectations(file), asked), options.source_name)
        with _with_report(as_outcome(found), junit):
            tell_answer(found, options.as_json, lambda: span_shown(found))
    return found.met.exit_code


def _verify_once(options: SourceOptions, chosen: Verification, junit: Path | None) -> int:
    from monitor.cli.render_verify import outcome_shown  # noqa: PLC0415 -- --help must be quick

    found = wait_for(lambda: _outcome(chosen), options.source_name)
    with _with_report(found, junit):
        tell_answer(found, options.as_json, lambda: outcome_shown(found))
    return found.met.exit_code


def _outcome(chosen: Verification) -> Outcome:
    from monitor.cli.errors import SourceError  # noqa: PLC0415 -- as above
    from monitor.cli.render_verify import nothing_expected  # noqa: PLC0415 -- as above
    from monitor.expectations.outcome import outcome_of  # noqa: PLC0415 -- as above
    from monitor.expectations.verification import unknown_cluster, verify_cluster  # noqa: PLC0415 -- as above

    cluster = chosen.cluster
    try:
        known = chosen.source.known_groups()
        found = [*verify_cluster(chosen.expectations, cluster, known, chosen.source.read, chosen.group)]
    except SourceError as error:
        found = [unknown_cluster(cluster, str(error), chosen.group)]
    if not found:
        found = [unknown_cluster(cluster, nothing_expected(cluster, chosen.group), chosen.group)]
    return outcome_of(found, now_ms())


def _wait_for_rollout(options: SourceOptions, chosen: Verification, rollout: Rollout, junit: Path | None) -> int:
    from monitor.cli.gate import Clock, Gate, GateOptions  # noqa: PLC0415 -- as above
    from monitor.cli.render_verify import RolloutTicker, result_shown  # noqa: PLC0415 -- as above
    from monitor.cli.sources.source import answering  # noqa: PLC0415 -- as above
    from monitor.cli.sources.verifying import JobCluster  # noqa: PLC0415 -- as above
    from monitor.expectations.outcome import outcome_of  # noqa: PLC0415 -- as above
    from monitor.expectations.rollout import RolloutLimits  # noqa: PLC0415 -- as above
    from monitor.explain.rollout_plan import rollout_typed  # noqa: PLC0415 -- as above
    from monitor.history.instants import read_instant  # noqa: PLC0415 -- as above

    with answering():
        since_ms = read_instant(options.instant(rollout.since or "now"), now_ms())
        plan = None if rollout.plan is None else rollout_typed(rollout.plan)
    limits = RolloutLimits(
        since_ms=since_ms,
        stable_ms=round(1000 * rollout.stable_s),
        max_pause_ms=None if rollout.max_pause_s is None else round(1000 * rollout.max_pause_s),
        max_redelivered=rollout.max_redelivered,
    )
    gate_options = GateOptions(chosen.cluster, chosen.group, limits, rollout.wait_s, rollout.replaced, plan)
    source = chosen.source.for_gate() if isinstance(chosen.source, JobCluster) else chosen.source
    then = None if rollout.since is None else _group_then(options, chosen.cluster, since_ms)
    gate = Gate(chosen.expectations, source, gate_options, then)
    result: GateResult = gate.wait(Clock(time.monotonic, time.sleep), RolloutTicker(now_ms, tell_error).tell)
    with _with_report(outcome_of([each.outcome for each in result.groups], now_ms()), junit):
        tell_answer(result, options.as_json, lambda: result_shown(result))
    return result.met.exit_code


def _group_then(options: SourceOptions, cluster: str, since_ms: int) -> GroupThen:
    """A group at that instant, by the job's recording."""
    from monitor.cli.errors import SourceError  # noqa: PLC0415 -- as above
    from monitor.detection.evaluation_input import GroupInputs  # noqa: PLC0415 -- as above
    from monitor.history.instants import instant_text  # noqa: PLC0415 -- as above
    from monitor.web.views.addresses import GroupAddress  # noqa: PLC0415 -- as above

    kept: dict[str, GroupInputs] = {}

    def group_then(group: str) -> GroupInputs | None:
        if group not in kept:
            try:
                kept[group] = options.job.inputs(GroupAddress(cluster, group), instant_text(since_ms))
            except SourceError:  # nothing is recorded, or not yet
                return None
        return kept[group]

    return group_then


@contextmanager
def _with_report(outcome: Outcome, junit: Path | None) -> Iterator[None]:
    """Write the report before the answer is printed, which may fail; one that cannot be written hides no answer."""
    try:
        _write_junit(outcome, junit)
    finally:
        yield


def _write_junit(outcome: Outcome, junit: Path | None) -> None:
    from monitor.cli.errors import SourceError  # noqa: PLC0415 -- as above
    from monitor.expectations.junit import junit_xml  # noqa: PLC0415 -- as above

    if junit is None:
        return
    try:
        junit.write_bytes(junit_xml(outcome))
    except OSError as error:
        raise SourceError(f"{junit} cannot be written ({error.strerror}).") from error


@contextmanager
def _verification(
    options: SourceOptions,
    file: Path,
    names: tuple[str | None, str | None],
    bootstrap_server: str | None,
    client: Path | None,
) -> Iterator[Verification]:
    """What is to be verified.

    Raises:
        SourceError: the file has mistakes, or the source cannot be used.
    """
    from monitor.cli.doctor import examined_cluster  # noqa: PLC0415 -- as above
    from monitor.cli.expectations_file import read_expectations  # noqa: PLC0415 -- as above
    from monitor.cli.names import only_cluster  # noqa: PLC0415 -- as above
    from monitor.cli.sources.recording import Recording  # noqa: PLC0415 -- as above
    from monitor.cli.sources.saved_file import SavedFile  # noqa: PLC0415 -- as above
    from monitor.cli.sources.verifying import (  # noqa: PLC0415 -- as above
        JobCluster,
        RecordedCluster,
        SavedCluster,
    )

    cluster, group = names
    expectations = read_expectations(file)
    if bootstrap_server is not None:
        with examined_cluster(bootstrap_server, client, group) as (examined, name):
            yield Verification(expectations, examined, cluster or name, group)
        return
    if options.snapshot is not None:
        saved = SavedFile(options.snapshot)
        name = cluster or only_cluster(saved)
        yield Verification(expectations, SavedCluster(saved, name), name, group)
        return
    past = options.past_source
    if isinstance(past, Recording):
        name = cluster or only_cluster(past)
        yield Verification(expectations, RecordedCluster(past, name, options.at_instant), name, group)
        return
    name = cluster or only_cluster(options.job)
    yield Verification(expectations, JobCluster(options.job, name, options.at_instant), name, group)
