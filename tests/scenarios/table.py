"""The scenarios: what happens to a group, and what groupwatch must tell of it. To be edited with the rules.

Expected partitions follow by hand from the assignors: member ids begin with the member's name, so ``a`` comes before
``b``; range gives ``a`` the first half. A sticky or uniform assignor leaves ``a`` the first half of what it had.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.live.script import RANGE
from tests.scenarios.scenario import (
    Burst,
    Close,
    Counted,
    Create,
    DeleteGroup,
    DeleteTopic,
    Expected,
    Grow,
    Hang,
    Kill,
    Passing,
    Resume,
    Rewind,
    Scenario,
    Sleep,
    Start,
    Step,
    Within,
)
from tests.scenarios.settings import (
    API_S,
    CLASSIC,
    COMMIT_SILENCE_S,
    COOPERATIVE_ASSIGNOR,
    END_SIGHTS_S,
    KIP_848,
    LAG_RECORDS,
    METADATA_S,
    MORTAL,
    RANGE_ASSIGNOR,
    ROUNDROBIN,
    SESSION_S,
    STICKY,
)

SLACK_S: Final = 12
"""What a busy machine may take for a rebalance, a pass of the collector and a micro-batch together."""

HANDOVER: Final = (Passing("orphaned", "pending", SLACK_S),)
"""What is true for a moment, between the two generations of a cooperative rebalance."""

KIP_848_HANDOVER: Final = (
    Passing("orphaned", "rebalancing", SLACK_S),  # a member is gone, or a topic, and the broker has yet to choose
    Passing("orphaned", "pending", SLACK_S),  # chosen; the new owner hears of it with its next heartbeat
)
"""The same in a KIP-848 group."""

T4: Final = {"t": 4}
OF_B: Final = {"t": (2, 3)}
UNNOTICED_S: Final = COMMIT_SILENCE_S + END_SIGHTS_S + SLACK_S
"""How long at most it is not told that records wait in vain."""
SILENT: Final = Within("hang", COMMIT_SILENCE_S - 2, UNNOTICED_S)
"""When it is told that nobody commits."""


def pair(props: Mapping[str, str], **of_b: object) -> tuple[Start, Start]:
    """Two members of the topic ``t``; ``of_b`` are further properties of the second."""
    second = dict(props) | {key.replace("_", "."): str(value) for key, value in of_b.items()}
    return Start("a", props, ("t",)), Start("b", second, ("t",))


def moved(least: float, most: float, avoidable: float = 0) -> tuple[Counted, ...]:
    """What the rebalances moved, and how much of it a sticky assignor would not have. No commit goes back in any."""
    return (
        Counted("moved_partitions_total", least, most),
        Counted("avoidable_moves_total", avoidable, avoidable),
        Counted("redelivered_records_total", 0, 0),
    )


def static(props: Mapping[str, str], member: str) -> dict[str, str]:
    """The properties of a static member."""
    return dict(props) | {"group.instance.id": f"instance-{member}"}


# --- growth -----------------------------------------------------------------------------------------------------------

STALE_S: Final = 30
_STALE: Final = RANGE_ASSIGNOR | {"metadata.max.age.ms": str(STALE_S * 1000)}

GROWTH: Final = (
    Scenario(
        name="growth-stale",
        why="a topic grew and the members have old metadata: the new partitions are nobody's until they refresh",
        topics={"t": 2},
        # started by the script, so that it is known how old their metadata are
        steps=(
            Step(0, "start", Start("a", _STALE, ("t",))),
            Step(1, "second", Start("b", _STALE, ("t",))),
            Step(8, "grow", Grow("t", 4)),
        ),
        expected=(
            Expected("orphaned", "grew", Within("grow", 0, SLACK_S), Within("grow", 10, STALE_S + SLACK_S), OF_B),
            # partition 1 goes to a, which then has 0 and 1
            Expected(
                "drift", "current", Within("grow", 0, SLACK_S), Within("grow", 10, STALE_S + SLACK_S), {"t": (1, 2, 3)}
            ),
        ),
        rebalances=(3, None),
        owned=T4,
        # partition 1 goes to b, unless both join at once, and back to a: b had it alone, and keeps one anyway
        counted=moved(1, 2, avoidable=1),
    ),
    Scenario(
        name="growth-kip848",
        why="the broker knows at once that a topic grew",
        topics={"t": 2},
        members=pair(KIP_848),
        steps=(Step(8, "grow", Grow("t", 4)),),
        passing=KIP_848_HANDOVER,
        rebalances=(1, None),
        owned=T4,
        counted=moved(0, 0),
    ),
)

# --- patterns ---------------------------------------------------------------------------------------------------------

_MIXED_FOR_A_MOMENT: Final = (
    # one member has seen the new topic and joins with it before the other
    Passing("imbalance", "partitions", METADATA_S + SLACK_S),
    Passing("drift", "current", METADATA_S + SLACK_S),
    Passing("orphaned", "grew", METADATA_S + SLACK_S),
)
PATTERNS: Final = (
    Scenario(
        name="pattern-classic",
        why="a new topic fits a pattern that the clients resolve: nothing is wrong",
        topics={"t-1": 2},
        members=tuple(Start(member, RANGE_ASSIGNOR, pattern="t-.*") for member in "ab"),
        steps=(Step(10, "create", Create("t-2", 2)),),
        passing=_MIXED_FOR_A_MOMENT,
        rebalances=(1, None),
        owned={"t-1": 2, "t-2": 2},
    ),
    Scenario(
        name="pattern-kip848",
        why="a new topic fits a pattern that the broker resolves, at most every 10 s: nothing is wrong",
        topics={"t-1": 2},
        members=tuple(Start(member, KIP_848, regex="t-.*") for member in "ab"),
        steps=(Step(10, "create", Create("t-2", 2)),),
        passing=KIP_848_HANDOVER,
        rebalances=(1, None),
        owned={"t-1": 2, "t-2": 2},
    ),
)

# --- kill -9 ----------------------------------------------------------------------------------------------------------

KILL: Final = Step(14, "kill", Kill())
LONG_SESSION_S: Final = 45
_RANGE_PAIR: Final = pair(RANGE_ASSIGNOR | MORTAL)
_KIP_848_PAIR: Final = pair(KIP_848)
_LONG: Final = pair(RANGE_ASSIGNOR, session_timeout_ms=LONG_SESSION_S * 1000)


def doomed(both: tuple[Start, Start]) -> tuple[Start, Start]:
    """The second member is in the process that is killed."""
    first, second = both
    return first, Start(second.member, second.props, second.topics, where="doomed")


KILLED: Final = (
    Scenario(
        name="killed-range",
        why="a member is killed, and after its session another has its partitions: nobody need be told",
        topics=T4,
        members=doomed(_RANGE_PAIR),
        steps=(KILL,),
        rebalances=(1, 1),
        owned=T4,
        counted=moved(2, 2),
    ),
    Scenario(
        name="killed-kip848",
        why="as killed-range",
        topics=T4,
        members=doomed(_KIP_848_PAIR),
        steps=(KILL,),
        passing=KIP_848_HANDOVER,
        rebalances=(1, 1),
        owned=T4,
        counted=moved(2, 2),
    ),
    Scenario(
        name="killed-alone",
        why="the only member is killed and records go on: from the end of its session on nobody reads them",
        topics={"t": 2},
        members=(Start("a", RANGE_ASSIGNOR | MORTAL, ("t",), where="doomed"),),
        steps=(KILL, Step(38, "start", Start("a", RANGE_ASSIGNOR, ("t",)))),
        expected=(
            Expected(
                "unattended",
                "no_members",
                Within("kill", SESSION_S + COMMIT_SILENCE_S - 2, SESSION_S + UNNOTICED_S),
                Within("start", 0, SLACK_S),
                {"t": (0, 1)},
            ),
        ),
        rebalances=(2, 2),
        owned={"t": 2},
        counted=moved(0, 0),
    ),
    Scenario(
        name="killed-long-session",
        why="a member is killed whose session lasts long: its partitions stand still until it ends",
        topics=T4,
        members=doomed(_LONG),
        steps=(KILL,),
        expected=(
            # it may be gone, and the broker would not have noticed before the end of its session
            Expected(
                "dead_member",
                "unnoticed",
                Within("kill", COMMIT_SILENCE_S - 2, UNNOTICED_S),
                Within("kill", LONG_SESSION_S - 2, LONG_SESSION_S + SLACK_S),
                OF_B,
            ),
        ),
        rebalances=(1, 1),
        owned=T4,
        counted=moved(2, 2),
    ),
)

# --- restarts ---------------------------------------------------------------------------------------------------------


STORM: Final = {"storm_rebalances": 15, "storm_window_s": 30}
"""What a storm is in the scenarios of restarts: a rolling restart of five members, ten rebalances, is none."""


def restarts(members: str, props: Mapping[str, str]) -> tuple[Step, ...]:
    """One member after the other is closed and started again, each once the group has settled."""
    all_of_them, steps = len(members), []
    for number, member in enumerate(members):
        at_s = 8 + 4 * number
        steps.append(Step(at_s, f"close-{member}", Close(member), members=all_of_them))
        steps.append(Step(at_s + 2, f"start-{member}", Start(member, props, ("t",)), members=all_of_them - 1))
    return tuple(steps)


def rolling(
    name: str,
    props: Mapping[str, str],
    passing: tuple[Passing, ...],
    rebalances: tuple[int, int],
    costs: tuple[Counted, ...],
) -> Scenario:
    """Five members of ten partitions, one after the other."""
    return Scenario(
        name=name,
        why="five members restart one after the other: rebalances are counted, and nobody is alarmed",
        topics={"t": 10},
        members=tuple(Start(member, props, ("t",)) for member in "abcde"),
        steps=restarts("abcde", props),
        passing=passing,
        rebalances=rebalances,
        owned={"t": 10},
        counted=costs,
        thresholds=STORM,
    )


def static_restart(name: str, props: Mapping[str, str]) -> Scenario:
    """A static member that is back before its session has ended."""
    return Scenario(
        name=name,
        why="a static member restarts within its session: not even a rebalance",
        topics=T4,
        members=tuple(Start(member, static(props, member), ("t",)) for member in "ab"),
        steps=(Step(10, "close", Close("b")), Step(12, "start", Start("b", static(props, "b"), ("t",)))),
        rebalances=(0, 0),
        owned=T4,
        counted=moved(0, 0),
    )


RESTARTS: Final = (
    static_restart("static-range", RANGE_ASSIGNOR),
    static_restart("static-kip848", KIP_848),
    # Who goes has two partitions, who comes gets two: a sticky assignor moves 10 * 2 in all. Range gives four members
    # 3, 3, 2, 2 in the order of their ids; so it moves 3, 2, 3, 5 and 7 when a, b, c, d or e goes, and back.
    rolling("rolling-range", RANGE_ASSIGNOR, (), (10, 10), moved(40, 40, avoidable=20)),
    rolling("rolling-sticky", CLASSIC | {"partition.assignment.strategy": STICKY}, (), (10, 10), moved(20, 20)),
    # who comes gets its partitions in a second rebalance from those who have given them back; if the two of them are
    # not as fast, from the other in a third
    rolling("rolling-cooperative", COOPERATIVE_ASSIGNOR, HANDOVER, (15, 20), moved(20, 20)),
    rolling("rolling-kip848", KIP_848, KIP_848_HANDOVER, (10, 10), moved(20, 20)),
)

# --- rebalances that are too many or too long -------------------------------------------------------------------------

RESTARTS_OF_B: Final = 18
RESTART_EVERY_S: Final = 1.5
_EAGER: Final = RANGE_ASSIGNOR | {"heartbeat.interval.ms": "300"}
_LAST: Final = f"start-{RESTARTS_OF_B}"


def again_and_again(props: Mapping[str, str]) -> tuple[Step, ...]:
    """The second member is closed and started, again and again."""
    steps = []
    for number in range(1, RESTARTS_OF_B + 1):
        at_s = 8 + RESTART_EVERY_S * number
        steps.append(Step(at_s, f"close-{number}", Close("b")))
        steps.append(Step(at_s + RESTART_EVERY_S / 2, f"start-{number}", Start("b", props, ("t",))))
    return tuple(steps)


LONG_S: Final = 3
PAUSE_S: Final = 10

STORMS: Final = (
    Scenario(
        name="storm",
        why="a member restarts again and again: one or two rebalances each time, which stop everybody",
        topics=T4,
        members=pair(_EAGER),
        steps=again_and_again(_EAGER),
        expected=(
            # fifteen are there after eight restarts, or after fifteen, if leaving and coming make one rebalance;
            # within 30 s too few of them are left before the last one is as old, and it is over 30 s after that
            Expected(
                "rebalance",
                "storm",
                Within("close-8", -2, (RESTARTS_OF_B - 8) * RESTART_EVERY_S + SLACK_S),
                Within(_LAST, STORM["storm_window_s"] - 2, 2 * STORM["storm_window_s"] + SLACK_S),
            ),
        ),
        rebalances=(RESTARTS_OF_B, 2 * RESTARTS_OF_B),
        owned=T4,
        counted=moved(2 * RESTARTS_OF_B, 4 * RESTARTS_OF_B),
        thresholds=STORM,
    ),
    Scenario(
        name="long-range",
        why="a member takes its time to give back all that it has, and that long nobody reads: the rebalance is long",
        topics=T4,
        members=(Start("a", RANGE_ASSIGNOR, ("t",), more={"revoke_ms": PAUSE_S * 1000}),),
        steps=(
            # by then there are enough commits to know how often there is one (monitor.tracking.rebalances.impact)
            Step(26, "second", Start("b", RANGE_ASSIGNOR, ("t",))),
            # how long it took is told 30 s after it (monitor.tracking.rebalances.duration)
            Step(26 + PAUSE_S + 30 + SLACK_S, "enough", Burst("t", 1)),
        ),
        expected=(
            Expected(
                "rebalance",
                "long",
                Within("second", LONG_S - 1, LONG_S + SLACK_S),
                Within("second", PAUSE_S - 2, PAUSE_S + SLACK_S),
            ),
        ),
        rebalances=(1, 1),
        owned=T4,
        counted=(
            *moved(2, 2),
            # seen once a second at both ends, and never told too long
            Counted("rebalance_seconds_total", PAUSE_S - 4, PAUSE_S + SLACK_S, per_late_s=1),
            # four partitions stand still for 10 s, less what is usual: a record comes every 2 s, and its commit may be
            # twice as late on a busy machine
            Counted("rebalance_pause_seconds_total", 4 * (PAUSE_S - 5), 4 * (PAUSE_S + SLACK_S), per_late_s=4),
            # of what has gathered, the first commit in each may cover a part only
            Counted("rebalance_burst_records_total", 4, 4 * (PAUSE_S + SLACK_S), per_late_s=4),
        ),
        thresholds={"rebalance_long_s": LONG_S, "commit_silence_s": 60},
    ),
)

# --- mixed groups -----------------------------------------------------------------------------------------------------

MIXED: Final = (
    Scenario(
        name="mixed-lists",
        why="members prefer different assignors and have one in common; then a third wants another topic, too",
        topics={"t": 4, "u": 2},
        members=(
            Start("a", CLASSIC | {"partition.assignment.strategy": f"{RANGE},{ROUNDROBIN}"}, ("t",)),
            Start("b", CLASSIC | {"partition.assignment.strategy": f"{ROUNDROBIN},{RANGE}"}, ("t",)),
        ),
        steps=(
            Step(10, "third", Start("c", RANGE_ASSIGNOR, ("t", "u"))),
            Step(28, "close", Close("c")),
        ),
        expected=(
            # range: t goes 2, 1, 1 and u to c alone, which has 3 of 6 partitions; 2 each were possible
            Expected("imbalance", "partitions", Within("third", 0, SLACK_S), Within("close", 0, SLACK_S)),
            # c has committed in u, which nobody wants any more, and records go on there
            Expected(
                "abandoned", "unsubscribed", Within("close", COMMIT_SILENCE_S - 2, UNNOTICED_S), None, {"u": (0, 1)}
            ),
        ),
        rebalances=(2, None),
        owned=T4,
    ),
)

# --- handing over -----------------------------------------------------------------------------------------------------

REVOKES_S: Final = 8
HANDOVER_S: Final = 2
_SLOW: Final = {"revoke_ms": REVOKES_S * 1000}


def slow(props: Mapping[str, str]) -> tuple[Start, ...]:
    """A member that takes its time to give partitions back."""
    return (Start("a", props, ("t",), more=_SLOW),)


HANDING_OVER: Final = (
    Scenario(
        name="handover-cooperative",
        why="a second member joins: its partitions are nobody's between two generations, for a moment",
        topics=T4,
        members=(Start("a", COOPERATIVE_ASSIGNOR, ("t",)),),
        steps=(Step(10, "second", Start("b", COOPERATIVE_ASSIGNOR, ("t",))),),
        passing=HANDOVER,
        rebalances=(2, 2),
        owned=T4,
        counted=moved(2, 2),
    ),
    Scenario(
        name="slow-cooperative",
        why="the member that has to give partitions back takes its time: that long they are nobody's",
        topics=T4,
        members=slow(COOPERATIVE_ASSIGNOR),
        steps=(Step(10, "second", Start("b", COOPERATIVE_ASSIGNOR, ("t",))),),
        expected=(
            Expected(
                "orphaned",
                "pending",
                Within("second", 0, SLACK_S),
                Within("second", REVOKES_S - 2, REVOKES_S + SLACK_S),
                OF_B,
            ),
        ),
        rebalances=(2, 2),
        owned=T4,
        counted=moved(2, 2),
    ),
    Scenario(
        name="slow-kip848",
        why="as slow-cooperative; but the member owns its partitions until it has given them back",
        topics=T4,
        members=slow(KIP_848),
        steps=(Step(10, "second", Start("b", KIP_848, ("t",))),),
        expected=(
            Expected(
                "drift",
                "pending",
                Within("second", HANDOVER_S - 1, HANDOVER_S + SLACK_S),
                Within("second", REVOKES_S - 2, REVOKES_S + SLACK_S),
                OF_B,
            ),
        ),
        passing=KIP_848_HANDOVER,  # given back, and not yet taken
        rebalances=(1, 1),
        owned=T4,
        counted=moved(2, 2),
        thresholds={"handover_s": HANDOVER_S},
    ),
)

# --- what goes --------------------------------------------------------------------------------------------------------


COMMITS_WHAT_IS_GONE: Final = Passing("orphaned", "pending", 2 * API_S + SLACK_S)
"""True, not a false alarm: a client that commits an offset in a topic that is gone takes nothing over meanwhile."""


def topic_deleted(name: str, props: Mapping[str, str], passing: tuple[Passing, ...] = ()) -> Scenario:
    """One of two topics of a group is deleted."""
    return Scenario(
        name=name,
        why="a topic is deleted to which members still subscribe: only that is told",
        topics={"t": 2, "gone": 2},
        members=tuple(Start(member, props, ("t", "gone")) for member in "ab"),
        steps=(Step(12, "delete", DeleteTopic("gone")),),
        expected=(
            Expected(
                "subscription", "missing_topics", Within("delete", COMMIT_SILENCE_S - 2, METADATA_S + UNNOTICED_S), None
            ),
        ),
        passing=passing,
        rebalances=(0, None),
        owned={"t": 2},
    )


def group_deleted(name: str, props: Mapping[str, str]) -> Scenario:
    """The only member leaves while records go on, then the group is deleted."""
    return Scenario(
        name=name,
        why="a group without members is told, once records have waited for it, until it is deleted",
        topics={"t": 2},
        members=(Start("a", props, ("t",)),),
        steps=(Step(8, "close", Close("a")), Step(24, "delete", DeleteGroup())),
        expected=(
            Expected(
                "unattended",
                "no_members",
                Within("close", COMMIT_SILENCE_S - 2, UNNOTICED_S),
                Within("delete", 0, SLACK_S),
                {"t": (0, 1)},
            ),
        ),
        rebalances=None,
    )


GOING: Final = (
    topic_deleted("topic-deleted-range", RANGE_ASSIGNOR),
    topic_deleted("topic-deleted-kip848", KIP_848, (*KIP_848_HANDOVER, COMMITS_WHAT_IS_GONE)),
    group_deleted("group-deleted-range", RANGE_ASSIGNOR),
    group_deleted("group-deleted-kip848", KIP_848),
    Scenario(
        name="switched-off",
        why="a group is switched off for good after all has been read: nothing waits for it",
        topics={"t": 2},
        members=(Start("a", RANGE_ASSIGNOR, ("t",)),),
        steps=(Step(2, "produce", Burst("t", 5)), Step(8, "close", Close("a"))),
        rebalances=(1, 1),
        owned={"t": 0},
        silent_topics=("t",),
    ),
)

# --- consumers that hang ----------------------------------------------------------------------------------------------

MAX_POLL_S: Final = 45


def hanging(name: str, props: Mapping[str, str]) -> Scenario:
    """A member that lives and does nothing."""
    return Scenario(
        name=name,
        why="a member polls and sends heartbeats, but processes nothing: only its commits show it",
        topics=T4,
        members=pair(props),
        steps=(Step(10, "hang", Hang("b")), Step(26, "resume", Resume("b"))),
        expected=(Expected("dead_member", "silent", SILENT, Within("resume", 0, SLACK_S), OF_B),),
        rebalances=(0, 0),
        owned=T4,
        counted=moved(0, 0),
    )


def max_poll(name: str, props: Mapping[str, str], passing: tuple[Passing, ...] = ()) -> Scenario:
    """A member whose processing never ends."""
    return Scenario(
        name=name,
        why="a member never polls again: its partitions stand still until max.poll.interval.ms is over",
        topics=T4,
        members=pair(props, max_poll_interval_ms=MAX_POLL_S * 1000),
        steps=(Step(10, "hang", Sleep("b")),),
        expected=(
            Expected(
                "dead_member", "silent", SILENT, Within("hang", MAX_POLL_S - 2, MAX_POLL_S + SESSION_S + SLACK_S), OF_B
            ),
        ),
        passing=passing,
        rebalances=(1, 1),
        owned=T4,
        counted=moved(2, 2),
    )


# Who hangs has the short session of who is to die: a member may be gone while a longer one lasts, and that is told.
HANGING: Final = (
    hanging("hang-range", RANGE_ASSIGNOR | MORTAL),
    hanging("hang-kip848", KIP_848),
    Scenario(
        name="hang-alone",
        why="the only member processes nothing: there is no other by whom it could be told to be dead",
        topics={"t": 2},
        members=(Start("a", RANGE_ASSIGNOR, ("t",)),),
        steps=(Step(10, "hang", Hang("a")), Step(26, "resume", Resume("a"))),
        expected=(Expected("lag", "not_committing", SILENT, Within("resume", 0, SLACK_S), {"t": (0, 1)}),),
        rebalances=(0, 0),
        owned={"t": 2},
        counted=moved(0, 0),
    ),
    max_poll("max-poll-range", RANGE_ASSIGNOR | MORTAL),
    max_poll("max-poll-kip848", KIP_848, KIP_848_HANDOVER),
)

# --- offsets and records ----------------------------------------------------------------------------------------------

WORKS_MS: Final = 250
BATCH: Final = 50
_WORKING: Final = {"work_ms": WORKS_MS}
BURST: Final = 2000
WORK_S: Final = 2 * BURST / BATCH * WORKS_MS / 1000
"""Two partitions' burst takes so long: 200 records a second."""
TOO_MANY_S: Final = (2 * BURST - LAG_RECORDS) / BATCH * WORKS_MS / 1000
"""So long more records wait than the job is to tolerate."""

OFFSETS: Final = (
    Scenario(
        name="rewind",
        why="offsets are reset to the beginning: 400 records are delivered again, and nobody is late",
        topics={"t": 2},
        members=(Start("a", RANGE_ASSIGNOR, ("t",)),),
        steps=(Step(2, "produce", Burst("t", 200)), Step(12, "rewind", Rewind("a"))),
        counted=(Counted("redelivered_records_total", 400, 400), Counted("rebalance_pause_seconds_total", 0, 0)),
        rebalances=(0, 0),
        owned={"t": 2},
        silent_topics=("t",),
    ),
    Scenario(
        name="burst",
        why="more is produced than is processed for a while: the lag is told, and no other thing",
        topics={"t": 2},
        members=(Start("a", RANGE_ASSIGNOR | {"max.poll.records": str(BATCH)}, ("t",), more=_WORKING),),
        steps=(Step(6, "burst", Burst("t", BURST)),),
        expected=(
            Expected(
                "lag",
                "behind",
                Within("burst", 0, SLACK_S),
                Within("burst", TOO_MANY_S - 3, WORK_S + SLACK_S),
                {"t": (0, 1)},
                all_told=False,
            ),
        ),
        rebalances=(0, 0),
        owned={"t": 2},
    ),
)

SCENARIOS: Final = (
    *GROWTH,
    *PATTERNS,
    *KILLED,
    *RESTARTS,
    *STORMS,
    *MIXED,
    *HANDING_OVER,
    *GOING,
    *HANGING,
    *OFFSETS,
)
