"""Where the answers come from: a running job's HTTP API, or a file that was saved from it."""

from __future__ import annotations

import http.client
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit

import msgspec

from monitor.cli.errors import NotFoundError, SourceError
from monitor.cli.http_client import OPEN_WAY, WayIn, WayInError
from monitor.detection.client_libraries.census import count_members, take_census
from monitor.detection.client_libraries.recognition import recognize_libraries
from monitor.detection.evaluation_input import GroupInputs
from monitor.history.instants import InstantError, read_instant, read_span
from monitor.history.past import RecordedPast
from monitor.history.recorded import RecordingError
from monitor.history.story import GroupStory
from monitor.messages.formatting import visible
from monitor.messages.names import shown, shown_group
from monitor.messages.notification import utc
from monitor.model import LibraryMembers, LibraryUse
from monitor.outgoing_http import failure
from monitor.snapshot_file import SnapshotFileError, all_lines, find_inputs, group_states, read_lines
from monitor.web.views.addresses import LIBRARIES_API, SAVED, STORY, GroupAddress, query_text

Told = TypeVar("Told")
Row = TypeVar("Row", bound=msgspec.Struct)

TIMEOUT_S: Final = 60.0
"""So long the job may be silent: of a huge group, the first word may take seconds."""


class _Refusal(msgspec.Struct):
    error: str


class JobList(NamedTuple, Generic[Row]):
    """Rows of a list of the API, how many match in all, and the clusters that are left out or stale."""

    rows: tuple[Row, ...]
    matching: int
    not_ready: tuple[str, ...]
    stale: tuple[str, ...]


def inputs_from_file(path: Path, cluster: str, group: str) -> GroupInputs:
    """What the verdict on a group is made of, from a saved snapshot.

    Raises:
        SourceError: the file cannot be read, is damaged, or lacks the group.
    """
    with _opened(path) as lines:
        return find_inputs(lines, cluster, group)


def census_from_file(path: Path, cluster: str | None) -> tuple[LibraryUse, ...]:
    """The client libraries of a cluster (None: of all), recognized in a saved snapshot.

    Raises:
        SourceError: the file cannot be read, is damaged, or lacks the cluster.
    """
    groups: defaultdict[str, list[tuple[LibraryMembers, ...]]] = defaultdict(list)
    with _opened(path) as lines:
        for state in group_states(lines, cluster):
            groups[state.cluster].append(count_members(recognize_libraries(state).values()))
    return tuple([use for name in sorted(groups) for use in take_census(name, groups[name])])


def census_from_job(
    url: str, cluster: str | None, way_in: WayIn = OPEN_WAY, *, partial: bool = False
) -> tuple[LibraryUse, ...]:
    """The client libraries of a cluster (None: of all) that a running job watches.

    ``partial``: also while a cluster is not ready, which is then left out.

    Raises:
        SourceError: as :func:`inputs_from_job`.
    """
    chosen = {} if cluster is None else {"cluster": cluster}
    query = query_text(chosen | {"partial": "1" if partial else "0"})
    return value_from_job(url, f"{LIBRARIES_API}?{query}", way_in, tuple[LibraryUse, ...])


def inputs_from_recording(folder: str, cluster: str, group: str, at: str, now_ms: int) -> GroupInputs:
    """What the verdict on a group was made of at an instant, from the tables of a recording.

    Raises:
        SourceError: the text names no instant, the recording cannot be read, or there was no such group.
    """
    with _past(folder) as past:
        at_ms = read_instant(at, now_ms)
        found = past.inputs(cluster, group, at_ms)
    if found is None:
        raise SourceError(f"No group {shown_group(group)} was known in cluster {shown(cluster)} at {utc(at_ms)}.")
    return found


def lines_from_recording(folder: str, at: str, now_ms: int) -> Iterator[bytes]:
    """The lines of a snapshot of all groups at an instant, from the tables of a recording.

    Raises:
        SourceError: the text names no instant, or the recording cannot be read.
    """
    with _past(folder) as past:
        yield from all_lines(past.clusters(read_instant(at, now_ms)))


def story_from_recording(folder: str, address: GroupAddress, since: str, until: str, now_ms: int) -> GroupStory:
    """What happened to a group between two instants, from the tables of a recording.

    Raises:
        SourceError: as :func:`inputs_from_recording`.
    """
    with _past(folder) as past:
        since_ms, until_ms = read_span(since, until, now_ms)
        found = past.story(address.cluster, address.group, since_ms, until_ms)
    if found is None:
        raise unknown_group(address.cluster, address.group, since_ms, until_ms)
    return found


def unknown_group(cluster: str, group: str, since_ms: int, until_ms: int) -> SourceError:
    """That there was no such group between two instants."""
    span = f"from {utc(since_ms)} to {utc(until_ms)}"
    return SourceError(f"No group {shown_group(group)} was known in cluster {shown(cluster)} {span}.")


def story_from_job(url: str, address: GroupAddress, since: str, until: str, way_in: WayIn = OPEN_WAY) -> GroupStory:
    """What happened to a group between two instants, from a running job that records.

    Raises:
        SourceError: as :func:`inputs_from_job`.
    """
    query = query_text({"since": since, "until": until})
    return value_from_job(url, f"{address.under(STORY)}?{query}", way_in, GroupStory)


def inputs_from_job(url: str, cluster: str, group: str, way_in: WayIn = OPEN_WAY, at: str | None = None) -> GroupInputs:
    """What the verdict on a group is made of, from a running job; with ``at``, what it was made of at that instant.

    Raises:
        SourceError: nobody answers there, or the answer is none, or nothing usable can be shown to it.
    """
    try:
        with _answer(url, _saved_path(GroupAddress(cluster, group), at), way_in) as lines:
            return find_inputs(lines, cluster, group)
    except SnapshotFileError as error:
        raise SourceError(f"{url} sent an unusable response: {error}") from error


def saved_from_job(
    url: str, address: GroupAddress | None, way_in: WayIn = OPEN_WAY, *, partial: bool = False, at: str | None = None
) -> Iterator[bytes]:
    """The lines of a snapshot of one group (with ``at``, as of that instant), or (None) of all, checked as they come.

    ``partial``: of all, also while a cluster is not ready, which is then left out.

    Raises:
        SourceError: as :func:`inputs_from_job`.
    """
    path = f"{SAVED.rstrip('/')}{'?partial=1' if partial else ''}" if address is None else _saved_path(address, at)
    passed: list[bytes] = []

    def noted(lines: Iterable[bytes]) -> Iterator[bytes]:
        for line in lines:
            passed.append(line)
            yield line

    try:
        with _answer(url, path, way_in) as lines:
            for _ in read_lines(noted(lines)):
                yield from passed
                passed.clear()
            yield from passed
    except SnapshotFileError as error:
        raise SourceError(f"{url} sent an unusable response: {error}") from error


def list_from_job(url: str, path: str, way_in: WayIn, kind: type[Row]) -> JobList[Row]:
    """A list of the API with what its headers add.

    Raises:
        NotFoundError: the job watches no such cluster.
        SourceError: as :func:`inputs_from_job`.
    """
    with _answer(url, path, way_in) as response:
        body, headers = b"".join(response), response.headers
    rows = _decoded_value(url, body, tuple[kind, ...])  # type: ignore[valid-type] # mypy takes no variable in a type
    total = headers.get("X-Total-Count", "")
    return JobList(
        rows=rows,
        matching=int(total) if total.isdecimal() else len(rows),
        not_ready=_names(headers.get("X-Not-Ready")),
        stale=_names(headers.get("X-Stale")),
    )


def _names(header: str | None) -> tuple[str, ...]:
    """The percent-encoded names in a header."""
    return tuple(unquote(name) for name in header.split(", ")) if header else ()


def value_from_job(url: str, path: str, way_in: WayIn, kind: type[Told]) -> Told:
    """What a job answers with, as a value of that type.

    Raises:
        NotFoundError: it knows no such cluster or group.
        SourceError: as :func:`inputs_from_job`.
    """
    with _answer(url, path, way_in) as lines:
        body = b"".join(lines)
    return _decoded_value(url, body, kind)


def _decoded_value(url: str, body: bytes, kind: type[Told]) -> Told:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.DecodeError as error:
        raise SourceError(f"{shown(url)} sent an unusable response: {shown(str(error))}.") from error


def _saved_path(address: GroupAddress, at: str | None) -> str:
    path = address.under(SAVED)
    return path if at is None else f"{path}?{query_text({'at': at})}"


@contextmanager
def _past(folder: str) -> Iterator[RecordedPast]:
    """The recording in a folder; what cannot be answered from it is an error of this source."""
    with answering():
        yield RecordedPast(folder, limit=None)


@contextmanager
def answering() -> Iterator[None]:
    """A wrong instant, or a recording that cannot answer, as an error of this source."""
    try:
        yield
    except (InstantError, RecordingError) as error:
        raise SourceError(str(error)) from error


@contextmanager
def _opened(path: Path) -> Iterator[Iterable[bytes]]:
    """The lines of a saved snapshot; also an error in them is one of the file."""
    try:
        with path.open("rb") as lines:
            yield lines
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}.") from error
    except SnapshotFileError as error:
        raise SourceError(f"{path}: {error}") from error


def check_way_in(url: str, way_in: WayIn) -> None:
    """Check what a job would be requested with; nothing is sent.

    Raises:
        SourceError: it is no address of a job, or what is to be shown to it cannot be used.
    """
    _check_address(url)
    try:
        way_in.opener()
        way_in.request(url)
    except WayInError as error:
        raise SourceError(str(error)) from error


@contextmanager
def _answer(url: str, path: str, way_in: WayIn) -> Iterator[http.client.HTTPResponse]:
    _check_address(url)
    try:
        with way_in.opener().open(way_in.request(url.rstrip("/") + path), timeout=TIMEOUT_S) as answer:
            yield answer
    except WayInError as error:
        raise SourceError(str(error)) from error
    except HTTPError as error:
        with error:
            kind = NotFoundError if error.code == 404 else SourceError
            raise kind(_refused(url, error)) from error
    except URLError as error:
        raise SourceError(f"No groupwatch answers at {shown(url)}: it {failure(error)}.") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise SourceError(
            f"The response of {shown(url)} is incomplete: {type(error).__name__}: {shown(str(error))}."
        ) from error


def _check_address(url: str) -> None:
    if "@" in url:  # urllib would take the password for a part of the port, and say so
        raise SourceError("The address of a job must not contain a user name or password.")
    if not _is_web_address(url):
        raise SourceError(f"{shown(url)} is not the address of a job: it must start with http:// or https://.")


def _is_web_address(url: str) -> bool:
    try:
        return urlsplit(url).scheme in ("http", "https")
    except ValueError:  # half an IPv6 address
        return False


def _refused(url: str, error: HTTPError) -> str:
    """The job's own sentence, or that this is no job."""
    if error.code == 401:
        return f"{shown(url)} rejected the credentials, or requires some: see --token-file and --user."
    try:
        return visible(msgspec.json.decode(error.read(65_536), type=_Refusal).error)
    except (msgspec.DecodeError, OSError, http.client.HTTPException):
        return f"{shown(url)} responded with status {error.code}: it is not groupwatch, or a different version."
