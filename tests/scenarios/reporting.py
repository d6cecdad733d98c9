"""What the report on each scenario must have, by its script, and that it has nothing else. Pure.

An incident that the log tells of is to be told within TOLERANCE_S of the script, and what a busy machine is late by.
What the log cannot tell at once has an offset here: a member that is killed is missed when its session has ended; one
that never polls again, when its max.poll.interval.ms has. What it did last is told by its last commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from monitor.history.report.facts import Departure, IncidentReport
from monitor.model import TopicPartition, Value
from tests.scenarios.judging import is_of_stall
from tests.scenarios.scenario import Scenario, Story
from tests.scenarios.settings import SESSION_S
from tests.scenarios.stage import short
from tests.scenarios.table import LONG_SESSION_S, MAX_POLL_S, PAUSE_S, RESTARTS_OF_B, REVOKES_S

TOLERANCE_S: Final = 3.0

Numbers = Mapping[str, tuple[int, ...]]


class Told(Value):
    """A fact of a report: what, of which member ("" none), which partitions, from when to when (None: an instant)."""

    what: str
    member: str
    partitions: Numbers
    from_ms: int
    until_ms: int | None = None


class Wanted(Value):
    """A fact that the script causes: so long after a step, until so long after another one (None: it does not matter).

    ``partitions`` None: whichever.
    """

    what: str
    step: str
    member: str = ""
    partitions: Numbers | None = None
    offset_s: float = 0.0
    until: str | None = None
    until_s: float = 0.0


T01: Final = {"t": (0, 1)}
T23: Final = {"t": (2, 3)}


def killed(member: str, partitions: Numbers, session_s: float = SESSION_S) -> tuple[Wanted, ...]:
    """It stops at the kill, which only its commits tell, and is missed when its session has ended."""
    return (
        Wanted("stopped", "kill", member, partitions),
        Wanted("left", "kill", member, partitions, offset_s=session_s),
    )


def hung(member: str, partitions: Numbers) -> tuple[Wanted, ...]:
    """It hangs and goes on."""
    return (Wanted("hung", "hang", member, partitions, until="resume"),)


def too_slow() -> tuple[Wanted, ...]:
    """It never polls again, and leaves when max.poll.interval.ms has passed."""
    return (
        Wanted("hung", "hang", "b", T23, until="hang", until_s=MAX_POLL_S),
        Wanted("left", "hang", "b", T23, offset_s=MAX_POLL_S),
    )


def rolling() -> tuple[Wanted, ...]:
    """Each leaves and is back."""
    return tuple(
        wanted
        for member in "abcde"
        for wanted in (Wanted("left", f"close-{member}", member), Wanted("joined", f"start-{member}", member))
    )


def deleted() -> tuple[Wanted, ...]:
    """The only member leaves, then the group is deleted."""
    return (
        Wanted("left", "close", "a", T01),
        Wanted("unowned", "close", partitions=T01, until="delete"),
        Wanted("deleted", "delete"),
    )


STATIC: Final = (Wanted("restarted", "start", "b", T23),)
SECOND: Final = (Wanted("joined", "second", "b"),)

WANTED: Final[Mapping[str, tuple[Wanted, ...]]] = {
    "growth-stale": (
        Wanted("joined", "start", "a"),
        Wanted("joined", "second", "b"),
        Wanted("grew", "grow", partitions={"t": ()}),
        Wanted("unowned", "grow", partitions=T23),
    ),
    "growth-kip848": (Wanted("grew", "grow", partitions={"t": ()}),),
    "pattern-classic": (),
    "pattern-kip848": (),
    "killed-range": killed("b", T23),
    "killed-kip848": killed("b", T23),
    "killed-alone": (
        *killed("a", T01),
        Wanted("unowned", "kill", partitions=T01, offset_s=SESSION_S, until="start"),
        Wanted("joined", "start", "a"),
    ),
    "killed-long-session": (
        *killed("b", T23, LONG_SESSION_S),
        Wanted("hung", "kill", "b", T23, until="kill", until_s=LONG_SESSION_S),
    ),
    "static-range": STATIC,
    "static-kip848": STATIC,
    "rolling-range": rolling(),
    "rolling-sticky": rolling(),
    "rolling-cooperative": rolling(),
    "rolling-kip848": rolling(),
    "storm": tuple(
        wanted
        for number in range(1, RESTARTS_OF_B + 1)
        for wanted in (Wanted("left", f"close-{number}", "b"), Wanted("joined", f"start-{number}", "b"))
    ),
    "long-range": (Wanted("joined", "second", "b", offset_s=PAUSE_S),),
    "mixed-lists": (
        Wanted("joined", "third", "c"),
        Wanted("left", "close", "c"),
        Wanted("unowned", "close", partitions={"u": (0, 1)}),
    ),
    "handover-cooperative": SECOND,
    "slow-cooperative": (*SECOND, Wanted("unowned", "second", partitions=T23, until="second", until_s=REVOKES_S)),
    "slow-kip848": SECOND,
    "topic-deleted-range": (Wanted("gone", "delete", partitions={"gone": ()}),),
    "topic-deleted-kip848": (Wanted("gone", "delete", partitions={"gone": ()}),),
    "group-deleted-range": deleted(),
    "group-deleted-kip848": deleted(),
    "switched-off": (Wanted("left", "close", "a", T01), Wanted("unowned", "close", partitions=T01)),
    "hang-range": hung("b", T23),
    "hang-kip848": hung("b", T23),
    "hang-alone": hung("a", T01),
    "max-poll-range": too_slow(),
    "max-poll-kip848": too_slow(),
    "rewind": tuple(Wanted("rewound", "rewind", partitions={"t": (number,)}) for number in range(2)),
    "burst": (),
}
"""By scenario. Nothing else may be told, but partitions without an owner while a scenario lets that pass."""

BRIEFLY: Final = frozenset({"orphaned/pending", "orphaned/rebalancing", "orphaned/grew"})
"""Where a scenario lets one of these pass, its partitions may be told to have had no owner."""


def facts_of(report: IncidentReport) -> Iterator[Told]:
    """All facts of a report that can be held against a script, with the short names of topics and members."""
    group = report.group
    for left in report.left:
        member, where = _member(group, left.member.client_id), _numbers(group, left.partitions)
        what = "restarted" if left.departure is Departure.REPLACED else "left"
        yield Told(what, member, where, left.at_ms)
        if left.is_uncertain and left.last_commit_ms is not None:
            yield Told("stopped", member, where, left.last_commit_ms)
    for joined in report.joined:
        yield Told("joined", _member(group, joined.member.client_id), {}, joined.at_ms)
    for hung_ in report.hung:
        where = _numbers(group, hung_.partitions)
        yield Told("hung", _member(group, hung_.member.client_id), where, hung_.from_ms, hung_.until_ms)
    for unowned in report.unowned:
        yield Told("unowned", "", _numbers(group, unowned.partitions), unowned.from_ms, unowned.until_ms)
    for twice in report.owned_twice:
        yield Told("owned twice", "", _numbers(group, twice.partitions), twice.from_ms, twice.until_ms)
    yield from _of_offsets(report)


def _of_offsets(report: IncidentReport) -> Iterator[Told]:
    """Those of topics and offsets, and of the group itself."""
    group = report.group
    for topic in report.topics:
        yield Told("grew" if topic.after else "gone", "", {short(group, topic.topic): ()}, topic.at_ms)
    for rewind in report.rewinds:
        where = {short(group, rewind.topic): (int(rewind.partition),)}
        yield Told("rewound", "", where, rewind.at_ms)
    for lost in report.lost:
        yield Told("lost", "", _numbers(group, lost.partitions), lost.at_ms)
    if report.deleted_ms is not None:
        yield Told("deleted", "", {}, report.deleted_ms)


def _member(group: str, client_id: str) -> str:
    return short(group, client_id)


def _numbers(group: str, places: tuple[TopicPartition, ...]) -> Numbers:
    found: dict[str, tuple[int, ...]] = {}
    for place in places:
        topic = short(group, place.topic)
        found[topic] = (*found.get(topic, ()), int(place.partition))
    return found


class Error(Value):
    """How far from its script a fact was told, in seconds: its beginning, and its end (None: that does not matter)."""

    wanted: Wanted
    from_s: float
    until_s: float | None = None

    def line(self) -> str:
        """As a person reads it."""
        end = "" if self.until_s is None else f", its end {self.until_s:+.1f} s"
        who = f" {self.wanted.member}" if self.wanted.member else ""
        return f"{self.wanted.what}{who} ({self.wanted.step}) {self.from_s:+.1f} s{end}"


def errors(scenario: Scenario, story: Story, report: IncidentReport) -> list[Error]:
    """How exact the facts are that the script wants, as far as they are told."""
    facts = list(facts_of(report))
    return [
        _error(wanted, fact, story)
        for wanted in WANTED[scenario.name]
        if (fact := _nearest(wanted, facts, story)) is not None
    ]


def faults(scenario: Scenario, story: Story, report: IncidentReport) -> list[str]:
    """What the report lacks, what it tells too early or too late, and what it tells that the script did not do."""
    facts = list(facts_of(report))
    found: list[str] = []
    allowed_s = TOLERANCE_S + story.late_s
    for wanted in WANTED[scenario.name]:
        fact = _nearest(wanted, facts, story)
        if fact is None:
            found.append(f"missing: {wanted}")
            continue
        facts.remove(fact)
        own = _error(wanted, fact, story)
        if any(not -TOLERANCE_S <= each <= allowed_s for each in (own.from_s, own.until_s) if each is not None):
            found.append(f"not within {TOLERANCE_S} s: {own.line()}")
    found += [f"not so: {fact}" for fact in facts if not _may_be(scenario, story, fact)]
    return found + list(_strange_findings(scenario, story, report))


def _may_be(scenario: Scenario, story: Story, fact: Told) -> bool:
    """Whether it may be told besides: what went before a departure, a stall of this machine, and a handover."""
    if fact.what == "stopped":
        return True
    if fact.what == "hung":
        until_ms = fact.until_ms or story.ended_ms
        return any(each.member == fact.member and each.covers(fact.from_ms, until_ms) for each in story.stalls)
    passing = {f"{each.kind}/{each.reason}": each.most_s for each in scenario.passing}
    longest_s = max((passing[name] for name in BRIEFLY if name in passing), default=0.0)
    return fact.what == "unowned" and (fact.until_ms or 0) - fact.from_ms <= longest_s * 1000


def _strange_findings(scenario: Scenario, story: Story, report: IncidentReport) -> Iterator[str]:
    allowed = {(each.kind, each.reason) for each in (*scenario.expected, *scenario.passing)}
    for each in report.findings:
        name = each.kind, each.reason
        if name not in allowed and not is_of_stall(*name, each.since_ms, each.until_ms, story):
            yield f"not so: finding {each.kind}/{each.reason}: {each.sentence}"


def _nearest(wanted: Wanted, facts: list[Told], story: Story) -> Told | None:
    """The fact of that kind, member and partitions that is nearest to what is wanted."""
    fitting = [
        fact
        for fact in facts
        if (fact.what, fact.member) == (wanted.what, wanted.member)
        and (wanted.partitions is None or fact.partitions == wanted.partitions)
    ]
    return min(fitting, key=lambda fact: abs(_error(wanted, fact, story).from_s), default=None)


def _error(wanted: Wanted, fact: Told, story: Story) -> Error:
    from_s = (fact.from_ms - _done_ms(wanted.step, story)) / 1000 - wanted.offset_s
    if wanted.until is None:
        return Error(wanted, from_s)
    return Error(wanted, from_s, ((fact.until_ms or 0) - _done_ms(wanted.until, story)) / 1000 - wanted.until_s)


def _done_ms(step: str, story: Story) -> int:
    return story.done_ms[step]
