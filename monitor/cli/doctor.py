"""The command doctor: 0 without findings, 1 with some, 2 and one sentence on stderr if the cluster cannot be read."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from monitor.cli.answering import CANNOT_ANSWER_CODE, discard, exit_with, tell_answer, tell_error
from monitor.cli.progress import CLEAR, wait_for
from monitor.cli.source_options import AsJson

if TYPE_CHECKING:  # loaded when a cluster is read: --help must be quick
    from monitor.cli.examined import ExaminedCluster
    from monitor.detection.thresholds.thresholds import DetectionSettings
    from monitor.doctor.diagnosis import Diagnosis
    from monitor.doctor.examination import Examination

FINDINGS_CODE: Final = 1


def add_doctor(app: typer.Typer) -> None:
    """Give the app this command."""
    app.command()(doctor)


def doctor(  # noqa: PLR0913, PLR0917 -- each is an option
    bootstrap_server: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="A broker, or several of them separated by commas.")
    ],
    group: Annotated[str | None, typer.Option(help="Judge only this group.")] = None,
    client: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A properties file with the security settings, as for Kafka's own tools (Java names)."
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The job's configuration: its thresholds and ages of alerts, no overrides."),
    ] = None,
    expectations: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also compare the groups with this file of expectations, as verify does."),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="The cluster's name in that file; not set: its entries for all clusters.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Renew the answer until Ctrl-C, with 5.5 s between two readings.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look at the groups of a Kafka cluster once, and show what is wrong. Needs no job; writes nothing."""
    if cluster is not None and expectations is None:
        raise typer.BadParameter("--cluster needs --expectations")
    code = 0

    def answer() -> None:
        nonlocal code
        with _examination(bootstrap_server, client, group, config) as examination:
            look = _Look(examination, group, _compare(expectations, cluster, examination, group))
            code = _keep_looking(look, as_json) if watch else _look_once(look, as_json)

    exit_with(answer)
    if code:
        raise typer.Exit(code)


class _Look(NamedTuple):
    """What is looked at. ``complete`` adds to a diagnosis what a file of expectations says of it."""

    examination: Examination
    group: str | None
    complete: Callable[[Diagnosis], Diagnosis]


def _compare(
    file: Path | None, cluster: str | None, examination: Examination, group: str | None
) -> Callable[[Diagnosis], Diagnosis]:
    """What compares a diagnosis with a file of expectations; None: there is none.

    Raises:
        SourceError: the file cannot be read, or has mistakes.
    """
    if file is None:
        return lambda diagnosis: diagnosis
    from msgspec.structs import replace  # noqa: PLC0415 -- --help must be quick

    from monitor.cli.examined import ExaminedCluster  # noqa: PLC0415 -- as above
    from monitor.cli.expectations_file import read_expectations  # noqa: PLC0415 -- as above
    from monitor.expectations.outcome import outcome_of  # noqa: PLC0415 -- as above
    from monitor.expectations.verification import verify_cluster  # noqa: PLC0415 -- as above

    expectations = read_expectations(file)

    def complete(diagnosis: Diagnosis) -> Diagnosis:
        examined, name = ExaminedCluster(examination, diagnosis), cluster or diagnosis.cluster
        groups = verify_cluster(expectations, name, examined.known_groups(), examined.read, group)
        return replace(diagnosis, expectations=outcome_of(groups, diagnosis.read_ms))

    return complete


def _look_once(look: _Look, as_json: bool) -> int:
    from monitor.cli.render_doctor import render_diagnosis  # noqa: PLC0415 -- --help must be quick
    from monitor.doctor.examination import first_answer  # noqa: PLC0415 -- as above

    diagnosis = look.complete(wait_for(lambda: first_answer(look.examination, announce=_announce), "the cluster"))
    _check_judged(diagnosis, look.group)
    tell_answer(diagnosis, as_json, lambda: render_diagnosis(diagnosis))
    return exit_code(diagnosis)


def single_diagnosis(bootstrap_server: str, client: Path | None, group: str | None) -> Diagnosis:
    """The answer of one look, of one group or all.

    Raises:
        SourceError: the options cannot be used, the cluster does not answer, or it has no such group.
    """
    from monitor.doctor.examination import first_answer  # noqa: PLC0415 -- --help must be quick

    with _examination(bootstrap_server, client, group) as examination:
        diagnosis = first_answer(examination)
    _check_judged(diagnosis, group)
    return diagnosis


@contextmanager
def examined_cluster(
    bootstrap_server: str, client: Path | None, group: str | None
) -> Iterator[tuple[ExaminedCluster, str]]:
    """A cluster after one answer of its brokers, as verify reads it, and its name.

    Raises:
        SourceError: the options cannot be used, or the cluster does not answer.
    """
    from monitor.cli.examined import ExaminedCluster  # noqa: PLC0415 -- --help must be quick
    from monitor.doctor.examination import first_answer  # noqa: PLC0415 -- as above

    with _examination(bootstrap_server, client, group) as examination:
        diagnosis = first_answer(examination, announce=_announce)
        yield ExaminedCluster(examination, diagnosis), diagnosis.cluster


def _announce(pause_s: float) -> None:
    """Name the wait on stderr: what follows may take as long again as what was."""
    tell_error(f"{CLEAR if sys.stderr.isatty() else ''}groupwatch: second look in {pause_s:g} s ...")


def exit_code(diagnosis: Diagnosis) -> int:
    """1 with findings, or if an expectation is not met. Else 2 if something is not known: a part could not be read."""
    met = None if diagnosis.expectations is None else diagnosis.expectations.met.exit_code
    if diagnosis.findings or met == FINDINGS_CODE:
        return FINDINGS_CODE
    return CANNOT_ANSWER_CODE if diagnosis.problems or met == CANNOT_ANSWER_CODE else 0


def _keep_looking(look: _Look, as_json: bool) -> int:
    """Show answers until Ctrl-C; the code is that of the last one."""
    import msgspec  # noqa: PLC0415 -- as above

    from monitor.cli.render_doctor import render_diagnosis  # noqa: PLC0415 -- as above
    from monitor.cli.renewing import screen  # noqa: PLC0415 -- as above
    from monitor.doctor.examination import renewed_answers  # noqa: PLC0415 -- as above

    code: int | None = None
    try:
        with screen() as show:
            for diagnosis in map(look.complete, renewed_answers(look.examination)):
                if code is None:
                    _check_judged(diagnosis, look.group)
                code = exit_code(diagnosis)
                if as_json:
                    sys.stdout.buffer.write(msgspec.json.encode(diagnosis) + b"\n")
                    sys.stdout.buffer.flush()
                else:
                    show(render_diagnosis(diagnosis))
    except (KeyboardInterrupt, BrokenPipeError) as end:
        if code is None:
            raise
        if isinstance(end, BrokenPipeError):
            discard(sys.stdout)
    return code or 0


def _settings(config: Path) -> DetectionSettings:
    """The thresholds of a configuration for all groups, with the ages of its alerts. Raises ConfigError."""
    from monitor.config import detection_rules, load  # noqa: PLC0415 -- as above

    chosen = load(config)
    return detection_rules(chosen.detection, chosen.alerts).default


def _check_judged(diagnosis: Diagnosis, group: str | None) -> None:
    """Whether there is anything to show.

    Raises:
        SourceError: the group does not exist, or no group can be read.
    """
    from monitor.cli.errors import SourceError  # noqa: PLC0415 -- as above
    from monitor.messages.names import shown  # noqa: PLC0415 -- as above

    if diagnosis.judged or diagnosis.not_judged:
        return
    if diagnosis.problems:
        raise SourceError(diagnosis.problems[0])
    if group is not None:
        cluster = shown(diagnosis.cluster)
        raise SourceError(f"{cluster} has no group {shown(group)}, or the user may not describe it.")


@contextmanager
def _examination(
    bootstrap_server: str, client: Path | None, group: str | None, config: Path | None = None
) -> Iterator[Examination]:
    """The examination of a cluster, with its connections closed at the end.

    Raises:
        SourceError: the options cannot be used, or the cluster does not answer.
    """
    from monitor.cli.errors import SourceError  # noqa: PLC0415 -- as above
    from monitor.collectors.errors import CollectorError  # noqa: PLC0415 -- as above
    from monitor.config import ConfigError  # noqa: PLC0415 -- as above
    from monitor.doctor.examination import Examination  # noqa: PLC0415 -- as above
    from monitor.doctor.reader import ClusterReader  # noqa: PLC0415 -- as above
    from monitor.doctor.target import insecurity, target_cluster  # noqa: PLC0415 -- as above
    from monitor.model.escaping import escaped_lines  # noqa: PLC0415 -- as above

    logging.disable(logging.WARNING)  # what collectors log is in the answer, or concerns a job
    try:
        cluster = target_cluster(bootstrap_server, client)
        if warning := insecurity(cluster, client):
            tell_error(f"groupwatch: {escaped_lines(warning)}")
        reader = ClusterReader(cluster, client=client)
        try:
            yield Examination(reader, cluster.name, group, None if config is None else _settings(config))
        finally:
            reader.close()
    except (ConfigError, CollectorError) as error:
        raise SourceError(" ".join(str(error).splitlines())) from None
    finally:
        logging.disable(logging.NOTSET)
