"""A saved snapshot: what verdicts are made of, as lines of JSON, so that any number of groups streams.

Lines, each an object with its ``line``: a ``header``; for each cluster a ``cluster``, its ``topic``s and then its
``group``s (``left_out`` in place of one whose state cannot be read); and an ``end`` that counts the lines, by which a
file that was cut is told from a whole one. docs/explain.md describes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol

import msgspec

from monitor.detection.evaluation_input import GroupInputs, only_concerned
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.messages.formatting import visible
from monitor.messages.names import shown, shown_group
from monitor.model import STATE_VERSION, Catalog, ConnectConfigsState, GroupState, GroupSummary, TopicState, Value
from monitor.model.brokers import BrokersHealth
from monitor.model.ended_findings import EndedLately
from monitor.model.expiry import OffsetsRetention
from monitor.model.offsets_topic import OffsetsTopicHealth
from monitor.model.scaling import ScaleMemory

SNAPSHOT_VERSION: Final = 1
"""A file with a newer version is refused, never guessed at."""

CHUNK_BYTES: Final = 65_536
"""About so many bytes of lines are sent at once."""


class SnapshotFileError(Exception):
    """A snapshot that cannot be used; the text is one sentence that says why."""


class NotJudgedError(Exception):
    """The rules failed on one group; the text says how."""


class ClusterInputs(Protocol):
    """What the verdicts on a cluster's groups are made of, as of one evaluation."""

    @property
    def catalog(self) -> Catalog:
        """The topics."""

    def inputs(self, group: str) -> GroupInputs | None:
        """What the verdict on a group is made of, with the whole catalog; None if there is no such group.

        Raises:
            NotJudgedError: the state of the group cannot be read. Those of others can.
        """


class _Line(Value, tag_field="line"):
    """Base of the lines."""


class Header(_Line, tag="header"):
    """The first line. ``state_version`` is that of the states inside."""

    groupwatch_snapshot: int
    state_version: int


class ClusterLine(_Line, tag="cluster"):
    """A cluster begins. ``pass_ms`` is when the newest collector pass over its topics began.

    ``watched_ms`` is that of the Catalog, which has more topics than the snapshot of one group; so are
    ``connect_configs``, ``offsets_retention``, ``offsets_topic`` and ``brokers``.
    """

    cluster: str
    pass_ms: int
    watched_ms: int = 0
    connect_configs: dict[str, ConnectConfigsState] = msgspec.field(default_factory=dict)
    offsets_retention: OffsetsRetention | None = None
    offsets_topic: OffsetsTopicHealth | None = None
    brokers: BrokersHealth | None = None


class TopicLine(_Line, tag="topic"):
    """A topic of the cluster."""

    state: TopicState


class GroupLine(_Line, tag="group"):
    """A group of the cluster, when it was judged, and by which thresholds. The last four are those of GroupInputs."""

    state: GroupState
    now_ms: int
    settings: DetectionSettings = DetectionSettings()
    unjudged: GroupSummary | None = None
    ended: EndedLately | None = None
    state_ms: int | None = None
    scale_memory: ScaleMemory | None = None


class LeftOutLine(_Line, tag="left_out"):
    """A group whose state could not be read, and why."""

    group: str
    reason: str


class EndLine(_Line, tag="end"):
    """The last line: how many there are before it."""

    lines: int


AnyLine = Header | ClusterLine | TopicLine | GroupLine | LeftOutLine | EndLine

_ENCODER: Final = msgspec.json.Encoder()
_LINES: Final = msgspec.json.Decoder(AnyLine)
_HEADERS: Final = msgspec.json.Decoder(Header)


def group_lines(inputs: GroupInputs) -> bytes:
    """The snapshot of one group, with the topics that concern it."""
    own = only_concerned(inputs)
    lines: list[AnyLine] = [_header(), _cluster_line(own.catalog), *_topic_lines(own.catalog), _group_line(own)]
    return b"".join(map(_encoded, [*lines, EndLine(lines=len(lines))]))


class Evaluated(Value):
    """The groups of one evaluated cluster, by name."""

    inputs: ClusterInputs
    groups: tuple[str, ...]


def all_lines(clusters: Iterable[Evaluated]) -> Iterator[bytes]:
    """The snapshot of many groups, in pieces; a group is read when its turn comes."""
    count, piece = 0, bytearray()
    for line in _every_line(clusters):
        count += 1
        piece += _encoded(line)
        if len(piece) >= CHUNK_BYTES:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece) + _encoded(EndLine(lines=count))


def _every_line(clusters: Iterable[Evaluated]) -> Iterator[AnyLine]:
    yield _header()
    for cluster in clusters:
        yield _cluster_line(cluster.inputs.catalog)
        yield from _topic_lines(cluster.inputs.catalog)
        for group in cluster.groups:
            yield from _read_group(cluster.inputs.inputs, group)


def _read_group(read: Callable[[str], GroupInputs | None], group: str) -> Iterator[AnyLine]:
    try:
        inputs = read(group)
    except NotJudgedError as error:
        yield LeftOutLine(group=group, reason=str(error))
        return
    if inputs is not None:  # else it has gone meanwhile
        yield _group_line(inputs)


def _header() -> Header:
    return Header(groupwatch_snapshot=SNAPSHOT_VERSION, state_version=STATE_VERSION)


def _cluster_line(catalog: Catalog) -> ClusterLine:
    return ClusterLine(
        cluster=catalog.cluster,
        pass_ms=catalog.pass_ms,
        watched_ms=catalog.watched_ms,
        connect_configs=catalog.connect_configs,
        offsets_retention=catalog.offsets_retention,
        offsets_topic=catalog.offsets_topic,
        brokers=catalog.brokers,
    )


def _topic_lines(catalog: Catalog) -> list[TopicLine]:
    known = catalog.topics | catalog.hidden
    return [TopicLine(state=known[name]) for name in sorted(known)]


def _group_line(inputs: GroupInputs) -> GroupLine:
    return GroupLine(
        inputs.group,
        inputs.now_ms,
        inputs.settings,
        inputs.unjudged,
        inputs.ended,
        inputs.state_ms,
        inputs.scale_memory,
    )


def _encoded(line: AnyLine) -> bytes:
    return _ENCODER.encode(line) + b"\n"


# --- reading ----------------------------------------------------------------------------------------------------------


def find_inputs(lines: Iterable[bytes], cluster: str, group: str) -> GroupInputs:
    """What the verdict on a group is made of, from the lines of a snapshot. All of it is read: a damaged one is told.

    Raises:
        SnapshotFileError: the snapshot is damaged, of a version that is not known, or lacks the group.
    """
    catalog, found, left_out = _empty(cluster), None, None
    clusters: list[str] = []
    for line in read_lines(lines):
        match line:
            case ClusterLine():
                clusters.append(line.cluster)
                if line.cluster == cluster:
                    catalog = Catalog(
                        cluster=cluster,
                        pass_ms=line.pass_ms,
                        watched_ms=line.watched_ms,
                        connect_configs=line.connect_configs,
                        offsets_retention=line.offsets_retention,
                        offsets_topic=line.offsets_topic,
                        brokers=line.brokers,
                    )
            case TopicLine() if clusters[-1:] == [cluster]:
                _add(catalog, line.state)
            case GroupLine() if clusters[-1:] == [cluster] and line.state.group == group:
                found = line
            case LeftOutLine() if clusters[-1:] == [cluster] and line.group == group:
                left_out = line
    if found is None:
        raise SnapshotFileError(_missing(clusters, cluster, group, left_out))
    inputs = GroupInputs(
        found.state,
        catalog,
        found.now_ms,
        found.settings,
        found.unjudged,
        ended=found.ended,
        state_ms=found.state_ms,
        scale_memory=found.scale_memory,
    )
    return only_concerned(inputs)


def group_states(lines: Iterable[bytes], cluster: str | None = None) -> Iterator[GroupState]:
    """The states of the groups in a snapshot, or of one cluster's. Groups that were left out are not among them.

    Raises:
        SnapshotFileError: the snapshot is damaged, of a version that is not known, or lacks the cluster.
    """
    clusters: list[str] = []
    for line in read_lines(lines):
        match line:
            case ClusterLine():
                clusters.append(line.cluster)
            case GroupLine() if cluster is None or clusters[-1:] == [cluster]:
                yield line.state
    if cluster is not None and cluster not in clusters:
        raise SnapshotFileError(_missing_cluster(clusters, cluster))


def cluster_names(lines: Iterable[bytes]) -> tuple[str, ...]:
    """The names of the clusters in a snapshot.

    Raises:
        SnapshotFileError: the snapshot is damaged, or of a version that is not known.
    """
    return tuple([line.cluster for line in read_lines(lines) if isinstance(line, ClusterLine)])


def read_lines(lines: Iterable[bytes]) -> Iterator[AnyLine]:
    """The lines of a snapshot after its header, checked as they come.

    Raises:
        SnapshotFileError: see :func:`find_inputs`.
    """
    end: EndLine | None = None
    count = 0
    for count, text in enumerate(lines, 1):
        if end is not None:
            raise SnapshotFileError("The snapshot is damaged: it continues after its end.")
        line = _decoded(text, count)
        if isinstance(line, EndLine):
            end = line
        elif count > 1:
            yield line
    if end is None:
        raise SnapshotFileError("The snapshot is not complete: its end is missing.")
    if end.lines != count - 1:
        raise SnapshotFileError(f"The snapshot is damaged: it has {count - 1} lines of {end.lines}.")


def _decoded(text: bytes, number: int) -> AnyLine:
    try:
        if number == 1:
            return _checked(_HEADERS.decode(text))
        line: AnyLine = _LINES.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if number == 1:
            raise SnapshotFileError("This is not a groupwatch snapshot: its first line is not a header.") from error
        raise SnapshotFileError(f"The snapshot is damaged in line {number}: {visible(str(error))}.") from error
    return line


def _checked(header: Header) -> Header:
    known = (SNAPSHOT_VERSION, STATE_VERSION)
    if header.groupwatch_snapshot > known[0] or header.state_version > known[1]:
        raise SnapshotFileError(
            f"The snapshot has version {header.groupwatch_snapshot} with states of version {header.state_version}; "
            f"this groupwatch reads up to version {known[0]} with states of version {known[1]}."
        )
    if header.groupwatch_snapshot != known[0] or header.state_version != known[1]:
        raise SnapshotFileError("This groupwatch cannot read a snapshot of that version.")
    return header


def _empty(cluster: str) -> Catalog:
    return Catalog(cluster=cluster, pass_ms=0)


def _add(catalog: Catalog, state: TopicState) -> None:
    if state.hidden:
        catalog.hidden[state.topic] = state
        return
    catalog.topics[state.topic] = state
    if state.topic_id is not None:
        catalog.names[state.topic_id] = state.topic


def _missing(clusters: list[str], cluster: str, group: str, left_out: LeftOutLine | None) -> str:
    if left_out is not None:
        return f"Group {shown_group(group)} could not be read when the snapshot was made ({shown(left_out.reason)})."
    if cluster not in clusters:
        return _missing_cluster(clusters, cluster)
    return f"The snapshot has no group {shown_group(group)} in cluster {shown(cluster)}."


def _missing_cluster(clusters: list[str], cluster: str) -> str:
    return f"The snapshot has no cluster {shown(cluster)}; it has {', '.join(map(shown, clusters)) or 'none'}."
