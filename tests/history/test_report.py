"""Reports on incidents that are made by hand: what is expected follows from the second at which each thing happens."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from monitor.history.chronicle.commit_gaps import commit_gaps
from monitor.history.chronicle.values import Chronicle, CommitGap, GroupPoint, LogTruncated, TopicChanged
from monitor.history.recorded import NotRecordedError, RecordedEvent, RecordedRow, encode_events
from monitor.history.report.assemble import group_report, report_of
from monitor.history.report.cluster import Common, cluster_report
from monitor.history.report.facts import Departure, FindingThen, IncidentReport, LagCourse, Lost, NotCommitted, Unowned
from monitor.history.report.recorded import recorded_cluster_report
from monitor.history.report.sentences import Wording
from monitor.history.report.summary import summarize
from monitor.history.walk import GroupWalk
from monitor.model import CommitPoint, CommitRun, Entity, GroupKind, Phase, TopicPartition
from monitor.model.findings import Severity
from tests.history.incidents import Made, end, hung, killed, ms
from tests.history.memory import MemoryRecording

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


def report_on(made: Made, since: int = 10, until: int = 200) -> IncidentReport:
    found = group_report(made.recording(), "c", "g", ms(since), ms(until))
    assert found is not None
    return found


# --- a member is killed -----------------------------------------------------------------------------------------------


def test_a_killed_member_is_named_with_its_last_commit_and_what_it_left_behind():
    """Nobody commits partition 1 from 60 to 75: 15 records of it, one a second."""
    report = report_on(killed())
    [left] = report.left
    assert (left.at_ms, left.member.member_id, left.member.host) == (ms(72), "b", "/10.0.0.2")
    assert (left.departure, left.last_commit_ms, left.partitions) == (Departure.LIKELY_TIMED_OUT, ms(60), (T1,))
    assert (left.members, left.back_ms) == (2, None)
    assert report.not_committed == (NotCommitted((T1,), ms(60), ms(75), 15_000, records=15),)
    assert (report.hung, report.unowned, report.rewinds, report.lost, report.joined) == ((), (), (), (), ())


def test_the_lag_of_a_killed_member_is_told_from_before_to_its_end():
    """At 70, 10 records wait in partition 1. At 75, both partitions are committed beyond the ends that are known."""
    lag = report_on(killed()).lag
    assert (lag.before, lag.peak, lag.peak_ms, lag.caught_up_ms, lag.caught_up_lag) == (0, 10, ms(70), ms(75), 0)


def test_the_summary_of_a_killed_member_is_cause_effect_and_end():
    """Its session of 10 s was over 2 s before it was gone, 12 s after its last commit; a is left."""
    assert report_on(killed()).summary == (
        "1 member of 2 was lost: b at /10.0.0.2 most likely timed out at 02:15:12.0 (last commit at 02:15:00.0).",
        "1 partition of t (1) had no commits for up to 15 s. 1 rebalance moved 1 partition. Peak lag: about 10 "
        "records at 02:15:10.0 (before: 0).",
        "Over. The member did not rejoin. The group went from 2 members to 1. The lag rose at 02:15:10.0, and the "
        "group had caught up by 02:15:15.0, 15 s after the incident began.",
    )


def test_the_timeline_of_a_killed_member_has_its_session_timeout():
    """A commit every 5 s is usual: 15 s without one are a delay of 10 s."""
    lines = [(line.at_ms, line.sentence) for line in report_on(killed()).timeline]
    assert lines == [
        (
            ms(60),
            "1 partition of t (1) had no commits from 02:15:00.0 to 02:15:15.0 (15 s); the backlog reached 15 records.",
        ),
        (ms(70), "Peak lag: about 10 records in the whole group; its oldest record was 10 s old."),
        (
            ms(72),
            "b at /10.0.0.2 most likely timed out. It had 1 partition of t (1). Its last commit was 12 s earlier, at "
            "02:15:00.0; its session timeout is 10 s. It did not rejoin by 02:17:20.0.",
        ),
        (
            ms(72),
            "Rebalance to generation 2: 1 member gone. It moved 1 partition. Commits of 1 partition were delayed by 10 "
            "partition-seconds (estimate), and the backlog reached 15 records.",
        ),
        (ms(75), "The group had caught up: its lag was 0 records."),
    ]


@pytest.mark.parametrize(
    ("gone", "fields", "departure"),
    [
        pytest.param(69, {}, Departure.LEFT, id="9 s after its last commit, its session of 10 s is not over"),
        pytest.param(71, {}, Departure.LIKELY_TIMED_OUT, id="its session has just ended"),
        pytest.param(79, {}, Departure.LIKELY_TIMED_OUT, id="it may have died 5 s after its last commit"),
        pytest.param(85, {}, Departure.LEFT_OR_TIMED_OUT, id="25 s later, it had lived on without commits"),
        pytest.param(
            75,
            {"rebalance_timeout_ms": 14_000},
            Departure.LEFT_OR_TIMED_OUT,
            id="it may also have left since it did not poll for 14 s",
        ),
    ],
)
def test_a_member_has_most_likely_timed_out_when_it_is_gone_about_at_the_end_of_its_session(
    gone: int, fields: dict[str, object], departure: Departure
):
    """Its last commit was at 60. Generation 2, in which the others rejoin, took a second before generation 3."""
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0], "b": [1]}, **fields)
    made.assign(gone - 1, 2, {"a": [0], "b": [1]}, **fields)
    made.commits(range(10, 201, 5), 0)
    made.commits(range(10, 61, 5), 1)
    made.assign(gone, 3, {"a": [0, 1]}, **fields)
    made.commits(range(95, 201, 5), 1)
    [left] = report_on(made).left
    assert (left.last_commit_ms, left.departure) == (ms(60), departure)


def test_a_member_without_records_to_commit_is_not_said_to_have_timed_out():
    """It is gone 12 s after its last commit, but nothing was written to its partition since: it may have left."""
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0], "b": [1]})
    made.commits(range(10, 201, 5), 0)
    for second in range(10, 61, 5):
        made.commit(second, 1, 1_000)
    made.assign(72, 2, {"a": [0, 1]})
    for second in range(75, 201, 5):
        made.commit(second, 1, 1_000)
    [left] = report_on(made).left
    assert (left.last_commit_ms, left.departure) == (ms(60), Departure.LEFT_OR_TIMED_OUT)


def test_offsets_are_those_of_the_start_the_peak_and_the_end():
    rows = [(row.partition, row.at_ms, row.committed, row.end, row.owner) for row in report_on(killed()).offsets]
    assert rows == [
        (1, ms(10), 110, 110, "b"),
        (1, ms(70), 160, 170, "b"),
        (1, ms(200), 300, 300, "a"),
    ]


def test_the_lags_of_the_listed_and_of_the_other_partitions_add_up():
    """At 70, 24 partitions have 10 records of lag each, and 20 of them are listed; partition 24 has none."""
    made = Made(200)
    made.poll(partitions=lambda _: 25)
    made.assign(5, 1, {"a": [24], "b": list(range(24))})
    made.commits(range(10, 201, 5), 24)
    made.commits(range(10, 61, 5), *range(24))
    made.assign(72, 2, {"a": list(range(25))})
    made.commits(range(75, 201, 5), *range(24))
    report = report_on(made)
    assert (len({row.partition for row in report.offsets}), report.more_offsets, report.calm) == (20, 4, 1)
    assert [(each.at_ms, each.lag, each.more_lag) for each in report.instants] == [
        (ms(10), 0, 0),
        (ms(70), 240, 40),
        (ms(200), 0, 0),
    ]
    assert sum(row.lag or 0 for row in report.offsets if row.at_ms == ms(70)) == 200


def test_an_incident_that_goes_on_has_not_ended():
    """Until 74, nobody has committed partition 1 since 60."""
    report = report_on(killed(), until=74)
    assert report.not_committed == (NotCommitted((T1,), ms(60), None, 14_000),)
    assert report.summary[2] == (
        "Ongoing at 02:15:14.0. The member did not rejoin. The group went from 2 members to 1. The lag rose at "
        "02:15:10.0, and the group has not caught up: its lag was 10 records at 02:15:14.0."
    )


def test_a_static_member_that_is_missed_has_timed_out():
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"b": [0, 1]}, instance_id="i")
    made.commits(range(10, 61, 5), 0, 1)
    made.assign(72, 2, {})
    [left] = report_on(made).left
    assert left.departure is Departure.TIMED_OUT


# --- a member hangs ---------------------------------------------------------------------------------------------------


def test_a_member_that_hangs_is_named_from_its_last_commit_to_its_next():
    [found] = report_on(hung()).hung
    assert (found.member.member_id, found.reason, found.partitions) == ("b", "silent", (T1,))
    assert (found.from_ms, found.until_ms, found.is_over) == (ms(60), ms(150), True)


def test_the_summary_of_a_member_that_hangs():
    """At 140, 80 records wait: those since 60."""
    assert report_on(hung()).summary == (
        "1 member of 2 hung or stopped committing for 1 min 30 s: b at /10.0.0.2, from 02:15:00.0 to 02:16:30.0.",
        "1 partition of t (1) had no commits for up to 1 min 30 s. Peak lag: about 80 records at 02:16:20.0 "
        "(before: 0).",
        "Over. b at /10.0.0.2 committed again at 02:16:30.0, without a rebalance. The group has 2 members, as before. "
        "The lag rose at 02:15:10.0, and the group had caught up by 02:16:30.0, 1 min 30 s after the incident began.",
    )


def test_a_member_that_hangs_twice_is_not_said_to_hang_in_between():
    """From 60 to 150 and from 250 to 340; between them it commits every 5 s."""
    made = Made(500)
    made.poll()
    made.assign(5, 1, {"a": [0], "b": [1]})
    made.commits(range(10, 501, 5), 0)
    for seconds in (range(10, 61, 5), range(150, 251, 5), range(340, 501, 5)):
        made.commits(seconds, 1)
    first, _, last = report_on(made, until=500).summary
    assert first == (
        "1 member of 2 hung or stopped committing 2 times, for up to 1 min 30 s each: b at /10.0.0.2, the first time "
        "at 02:15:00.0, the last time from 02:18:10.0 to 02:19:40.0."
    )
    assert last.startswith(
        "Over. b at /10.0.0.2 committed again 2 times, the last time at 02:19:40.0, without a rebalance."
    )


def test_incidents_that_are_far_apart_have_their_own_times_and_causes():
    """b hangs from 60 to 150. At 1,500 a is gone, which has nothing to do with that.

    Its last commit was at 1,490, and b commits its partition from 1,505 on.
    """
    made = Made(1_800)
    made.poll()
    made.assign(5, 1, {"a": [0], "b": [1]})
    made.commits(range(10, 1_491, 5), 0)
    for seconds in (range(10, 61, 5), range(150, 1_801, 5)):
        made.commits(seconds, 1)
    made.assign(1_500, 2, {"b": [0, 1]})
    made.commits(range(1_505, 1_801, 5), 0)
    head, first, second, last = report_on(made, until=1_800).summary
    assert head == "2 incidents, at least 10 min apart. Facts are listed by incident; one cause may be behind several."
    assert first.startswith("Incident 1 of 2, from 02:15:00.0 to 02:16:30.0: 1 member of 2 hung or stopped committing")
    assert " a at " not in first
    assert second.startswith("Incident 2 of 2, from 02:38:50.0 to 02:39:05.0: 1 member of 2 was lost: a at /10.0.0.1 ")
    assert " b at " not in second
    assert last.startswith("Over. The lag was ")


def two_departures(**facts: object) -> list[str]:
    """The summary of an hour in which b is gone at 600 and again at 2,400, with these facts."""
    made = report_on(killed())
    left = tuple([replace(made.left[0], at_ms=ms(second)) for second in (600, 2_400)])
    nothing = {"not_committed": (), "rebalances": (), "points": (), "lag": LagCourse()}
    report = replace(made, since_ms=ms(0), until_ms=ms(3_600), left=left, **(nothing | facts))
    chronicle = Chronicle("c", "g", GroupKind.CLASSIC, report.since_ms, report.until_ms)
    return list(summarize(report, Wording(report, chronicle)))


def long_finding(kind: str, reason: str, since: int, until: int, sentence: str) -> FindingThen:
    return FindingThen(
        kind, reason, Severity.CRITICAL, ms(since), ms(since), ms(until), is_over=True, sentence=sentence
    )


def test_a_fault_of_the_cluster_that_outlasts_two_incidents_is_named_in_both():
    fault = long_finding("topics", "no_leader", 595, 2_600, "3 partitions of topic t have no leader.")
    _, *both, _ = two_departures(cluster_findings=(fault,))
    text = "A fault of the cluster, from 02:23:55.0 to 02:57:20.0: 3 partitions of topic t have no leader."
    assert [text in each for each in both] == [True, True]
    _, *three, _ = two_departures(cluster_findings=(replace(fault, since_ms=ms(1_250), until_ms=ms(1_700)),))
    assert ["no leader" in each for each in three] == [False, True, False]


def test_a_long_finding_of_the_group_has_a_sentence_of_its_own_beside_two_incidents():
    orphaned = long_finding("orphaned", "grew", 300, 3_400, "No member consumes 12 partitions of t.")
    assert two_departures(findings=(orphaned,))[1] == (
        "For most of the time, from 02:19:00.0 to 03:10:40.0: No member consumes 12 partitions of t."
    )


def test_a_topic_that_grew_shortly_before_one_of_two_incidents_may_be_its_cause():
    _, first, second, _ = two_departures(topics=(TopicChanged(ms(590), "t", 3, 6),))
    assert "Topic t grew from 3 to 6 partitions" in first
    assert "Topic t" not in second


def test_lost_and_redelivered_records_are_there_with_two_incidents_as_with_one():
    _, first, second, again, _ = two_departures(lost=(Lost(ms(650), 5_000, (T0,)),), redelivered=70_000)
    assert first.endswith("Up to 5,000 records were lost.")
    assert "lost." not in second
    assert again == "In the whole time, 70,000 records were delivered again."


def test_a_member_that_still_hangs_is_said_to():
    report = report_on(hung(), until=140)
    [found] = report.hung
    assert (found.until_ms, found.is_over) == (ms(140), False)
    assert report.summary[0] == (
        "1 member of 2 hung or stopped committing for at least 1 min 20 s: b at /10.0.0.2, from 02:15:00.0 until at "
        "least 02:16:20.0."
    )
    assert report.summary[2] == (
        "Ongoing at 02:16:20.0. The group has 2 members, as before. The lag rose at 02:15:10.0, and the "
        "group has not caught up: its lag was 80 records at 02:16:20.0. 1 finding is still open (Dead member: silent)."
    )


def test_a_commit_of_the_owner_before_is_no_sign_of_the_one_that_left():
    """a takes over at 60 and is gone at 64: the commit at 60 was b's."""
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"b": [0, 1]})
    made.commits(range(10, 60, 5), 0, 1)
    made.assign(60, 2, {"a": [0], "b": [1]})
    made.assign(64, 3, {"b": [0, 1]})
    made.commits(range(65, 201, 5), 0, 1)
    [left] = report_on(made).left
    assert (left.member.member_id, left.last_commit_ms) == ("a", None)


# --- a rolling restart ------------------------------------------------------------------------------------------------


def rolling() -> Made:
    """a, b and c leave one after the other and are back ten seconds later."""
    made = Made(200)
    made.poll(partitions=lambda _: 3)
    made.assign(5, 1, {"a": [0], "b": [1], "c": [2]})
    made.assign(60, 2, {"b": [0, 1], "c": [2]})
    made.assign(70, 3, {"a-2": [0], "b": [1], "c": [2]})
    made.assign(80, 4, {"a-2": [0, 1], "c": [2]})
    made.assign(90, 5, {"a-2": [0], "b-2": [1], "c": [2]})
    made.assign(100, 6, {"a-2": [0, 1], "b-2": [2]})
    made.assign(110, 7, {"a-2": [0], "b-2": [1], "c-2": [2]})
    made.commits(range(10, 201, 5), 0, 1, 2)
    return made


def test_members_that_restart_have_left_and_are_back():
    """Each had committed 5 s before, within its session; the generation before was not as old as a rebalance waits."""
    report = report_on(rolling(), since=0)
    assert [(each.member.member_id, each.at_ms, each.back_ms) for each in report.left] == [
        ("a", ms(60), ms(70)),
        ("b", ms(80), ms(90)),
        ("c", ms(100), ms(110)),
    ]
    assert {each.departure for each in report.left} == {Departure.LEFT}
    back = [each.member.member_id for each in report.joined if each.is_back]
    assert back == ["a-2", "b-2", "c-2"]


def test_the_summary_of_a_rolling_restart_has_the_moves():
    """0 moves to b and back, 1 to a and back, 2 to b and 1 to a, and both back. Without c, 1 could have stayed."""
    report = report_on(rolling())
    assert report.summary == (
        "Rolling restart of all 3 members, one at a time, from 02:15:00.0 to 02:15:50.0: a at /10.0.0.1, b at "
        "/10.0.0.2, c at /10.0.0.3.",
        "6 rebalances moved 8 partitions (2 avoidable). No lag was seen.",
        "Over. All 3 members rejoined. The group has 3 members, as before. The lag was 0 records at 02:17:20.0.",
    )


def test_the_timeline_of_a_rolling_restart_has_a_line_for_each_member():
    lines = [(line.at_ms, line.sentence) for line in report_on(rolling(), since=0).timeline if line.at_ms >= ms(60)]
    assert lines == [
        (
            ms(60),
            "a at /10.0.0.1 left, and rejoined 10 s later. It had 1 partition of t (0). 2 rebalances (generations 2 to "
            "3) moved 2 partitions.",
        ),
        (
            ms(80),
            "b at /10.0.0.2 left, and rejoined 10 s later. It had 1 partition of t (1). 2 rebalances (generations 4 to "
            "5) moved 2 partitions.",
        ),
        (
            ms(100),
            "c at /10.0.0.3 left, and rejoined 10 s later. It had 1 partition of t (2). 2 rebalances (generations 6 to "
            "7) moved 4 partitions (2 avoidable).",
        ),
    ]


def test_members_that_are_away_at_the_same_time_are_no_rolling_restart():
    """b goes before a is back."""
    made = Made(200)
    made.poll(partitions=lambda _: 3)
    made.assign(5, 1, {"a": [0], "b": [1], "c": [2]})
    made.assign(60, 2, {"b": [0, 1], "c": [2]})
    made.assign(65, 3, {"c": [0, 1, 2]})
    made.assign(75, 4, {"a-2": [0], "b-2": [1], "c": [2]})
    made.commits(range(10, 201, 5), 0, 1, 2)
    assert report_on(made, since=0).summary[0] == (
        "2 members left and rejoined from 02:15:00.0 to 02:15:15.0: a at /10.0.0.1, b at /10.0.0.2."
    )


def test_rebalances_that_moved_nothing_and_follow_one_another_are_one_line():
    """c and d join without partitions at 60 and 70; at 80, c gets one."""
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0, 1]})
    made.assign(60, 2, {"a": [0, 1], "c": []})
    made.assign(70, 3, {"a": [0, 1], "c": [], "d": []})
    made.assign(80, 4, {"a": [0], "c": [1], "d": []})
    made.commits(range(10, 201, 5), 0, 1)
    lines = [line.sentence for line in report_on(made).timeline if "ebalance" in line.sentence]
    assert lines[0] == (
        "2 rebalances (generations 2 to 3) until 02:15:10.0: 2 members joined. They moved no partitions."
    )
    assert lines[1].startswith("Rebalance to generation 4: ")
    assert lines[1].endswith(" It moved 1 partition.")


def test_a_lag_that_was_there_before_is_at_its_usual_level():
    """a is 20 records behind in each partition all the time, and b joins; the log ends are polled every 10 s."""
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0, 1]})
    for second in range(10, 201, 10):
        for partition in range(2):
            made.commit(second, partition, 100 + second - 20)
    made.assign(105, 2, {"a": [0], "b": [1]})
    report = report_on(made)
    assert (report.lag.before, report.lag.peak, report.lag.rose) == (40, 40, False)
    assert "Peak lag: about 40 records; it stayed at its usual level (before: at most 40)." in report.summary[1]


def test_a_lag_that_rises_again_later_is_told_from_the_recovery_of_the_incident():
    """b is killed as ever, and caught up for at 75. From 120 to 155 nobody commits: at 150, 30 records wait in each."""
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0], "b": [1]})
    made.commits(range(10, 75, 5), 0)
    made.commits(range(10, 61, 5), 1)
    made.assign(72, 2, {"a": [0, 1]})
    made.commits(range(75, 121, 5), 0, 1)
    made.commits(range(155, 201, 5), 0, 1)
    report = report_on(made)
    lag = report.lag
    assert (lag.rose_ms, lag.recovered_ms, lag.peak, lag.peak_ms, lag.caught_up_ms) == (
        ms(70),
        ms(75),
        60,
        ms(150),
        ms(155),
    )
    recovered = [line.at_ms for line in report.timeline if line.sentence.startswith("The group had caught up")]
    assert recovered == [ms(75), ms(155)]
    assert report.summary[2].endswith(
        " The lag rose at 02:15:10.0, and the group had caught up by 02:15:15.0, 15 s after the incident began. It "
        "rose again to its peak at 02:16:30.0, and the group had caught up by 02:16:35.0."
    )


def test_durations_are_those_between_the_instants_that_are_shown():
    """From 59.96 to 72.04 it is 12.08 s, but 02:14:59.9 and 02:15:12.0 are 12.1 s apart."""
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0], "b": [1]})
    made.commits(range(10, 201, 5), 0)
    made.commits(range(10, 59, 5), 1)
    made.commit(59.96, 1, 159)
    made.assign(72.04, 2, {"a": [0, 1]})
    made.commits(range(75, 201, 5), 1)
    [line] = [line.sentence for line in report_on(made).timeline if "timed out" in line.sentence]
    assert "Its last commit was 12.1 s earlier, at 02:14:59.9;" in line


def test_members_with_the_same_client_id_and_host_are_not_taken_for_one_that_restarts():
    """Both are "b" at the same host at the same time; a third one that joins may be either, or neither."""
    made = Made(200)
    made.poll(partitions=lambda _: 3)
    made.assign(5, 1, {"a": [0], "b-1": [1], "b-2": [2]})
    made.assign(60, 2, {"a": [0, 1, 2]})
    made.assign(90, 3, {"a": [0, 1], "b-3": [2]})
    made.commits(range(10, 201, 5), 0, 1, 2)
    report = report_on(made, since=0)
    assert [(each.member.member_id, each.back_ms) for each in report.left] == [("b-1", None), ("b-2", None)]
    assert report.summary[0] == (
        "2 members of 3 left at 02:15:00.0, and none of them rejoined: b (b-1) at /10.0.0.2, b (b-2) at /10.0.0.2."
    )


# --- a group is deleted -----------------------------------------------------------------------------------------------


def test_a_group_that_all_leave_and_that_is_deleted():
    """Nobody owns the partitions from 60 on, and at 120 the group is gone: 6 x 10 records waited in each of two."""
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0, 1]})
    made.commits(range(10, 61, 5), 0, 1)
    made.assign(60, 2, {})
    made.delete(120)
    report = report_on(made)
    assert report.deleted_ms == ms(120)
    assert report.unowned == (Unowned((T0, T1), ms(60), ms(120), is_over=True, reason="no_members"),)
    assert report.not_committed == (NotCommitted((T0, T1), ms(60), None, 60_000),)
    assert report.summary[0].endswith(" The group was deleted at 02:16:00.0.")
    assert report.summary[2] == "The group no longer exists."


# --- offsets and topics -----------------------------------------------------------------------------------------------


def test_a_commit_that_goes_back_is_told_with_the_offsets_that_are_delivered_again():
    """How far behind it is then, the poll at 70 shows: until then the log may have gone back with the commit."""
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0, 1]})
    made.commits(range(10, 201, 5), 1)
    made.commits(range(10, 61, 5), 0)
    made.commit(62, 0, 100)
    made.commit(67, 0, 120)
    made.commits(range(75, 201, 5), 0)
    report = report_on(made)
    assert [(each.at_ms, each.topic, each.partition, each.before, each.after) for each in report.rewinds] == [
        (ms(62), "t", 0, 160, 100)
    ]
    assert report.redelivered == 60
    assert report.timeline[0].sentence == (
        "The committed offset of partition 0 of t went back from 160 to 100: 60 records (offsets 100 to 159) are "
        "delivered again."
    )
    assert report.summary[:2] == (
        "Committed offsets of 1 partition of t (0) went back at 02:15:02.0.",
        "Peak lag: about 50 records at 02:15:10.0 (before: 0). 60 records were delivered again.",
    )


def went_back(at_s: float, *, is_empty: bool = False) -> IncidentReport:
    """Partition 0 is committed at 160 at second 60, and then at 100."""
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0, 1]})
    made.commits(range(10, 61, 5), 0, 1)
    if is_empty:
        made.assign(61, 2, {})
    made.commit(at_s, 0, 100)
    made.assign(90, 3, {"a": [0, 1]})
    made.commits(range(95, 201, 5), 0, 1)
    return report_on(made)


def test_a_reset_is_told_as_the_cause_of_what_is_delivered_again():
    report = went_back(70, is_empty=True)
    assert report.redelivered == 60
    assert [line.sentence for line in report.timeline if "went back" in line.sentence] == [
        "The committed offset of partition 0 of t went back from 160 to 100 by a reset while the group had no members: "
        "60 records (offsets 100 to 159) are delivered again."
    ]


def test_commits_that_may_have_arrived_out_of_order_are_told_as_such():
    report = went_back(60.02)
    assert report.redelivered == 60
    assert [line.sentence for line in report.timeline if "went back" in line.sentence] == [
        "The committed offset of partition 0 of t went back from 160 to 100 by two commits of its owner within "
        "a second: 60 records (offsets 100 to 159) are delivered again, unless the commits arrived out of order."
    ]


def test_a_log_that_went_back_is_told_with_what_is_gone_and_no_record_of_it_as_delivered_again():
    """Partition 0 is truncated by 120 records at 65; its consumer is reset to 46 at 67. The poll at 70 sees 50."""
    made = Made(200)
    made.poll(ends=lambda second, partition: end(second) if partition or second < 65 else end(second) - 120)
    made.assign(5, 1, {"a": [0, 1]})
    made.commits(range(10, 201, 5), 1)
    made.commits(range(10, 65, 5), 0)
    made.commit(64, 0)
    made.commit(67, 0, 46)
    for second in range(70, 201, 5):
        made.commit(second, 0, end(second) - 120)
    report = report_on(made)
    assert report.truncations == (LogTruncated(ms(70), "t", 0, 160, 50, ms(60)),)
    assert report.redelivered == 0
    assert [line.sentence for line in report.timeline[:2]] == [
        "The committed offset of partition 0 of t went back from 164 to 46, as its log did: the records there before "
        "are gone.",
        "The log of partition 0 of t went back from 160 to 50: at least 110 records are gone. An unclean leader "
        "election does this, and so does a restored log.",
    ]
    assert report.summary[0].startswith(
        "The end of 1 partition of t (0) went back, found at 02:15:10.0: at least 110 records are gone. "
    )


def test_a_topic_that_grows_has_a_partition_without_an_owner_until_the_next_generation():
    """The poll at 60 sees the third partition, generation 2 at 95 assigns it."""
    made = Made(200)
    made.poll(partitions=lambda second: 2 if second < 60 else 3)
    made.assign(5, 1, {"a": [0], "b": [1]})
    made.assign(95, 2, {"a": [0, 2], "b": [1]})
    made.commits(range(10, 201, 5), 0, 1)
    made.commits(range(100, 201, 5), 2)
    report = report_on(made)
    assert [(each.at_ms, each.topic, each.before, each.after) for each in report.topics] == [(ms(60), "t", 2, 3)]
    assert report.unowned == (Unowned((T2,), ms(60), ms(95), is_over=True, reason="grew"),)
    assert report.summary[0] == "Topic t grew from 2 to 3 partitions (seen at 02:15:00.0)."
    assert report.summary[1].startswith("1 partition of t (2) had no owner for up to 35 s. ")


@pytest.mark.parametrize(
    ("after", "words"),
    [(3, "was found with fewer partitions: from 5 to 3 partitions"), (0, "was no longer there")],
)
def test_a_topic_that_was_made_again_smaller_or_deleted_did_not_grow(after: int, words: str):
    points = (GroupPoint(ms(0), Phase.STABLE, 1, 1, 5, 0, None, None),)
    changed = TopicChanged(ms(60), "t", 5, after)
    report = report_of(Chronicle("c", "g", GroupKind.CLASSIC, ms(0), ms(90), points, topics=(changed,)), ms(90), 1_000)
    assert report.summary[0] == f"Topic t {words} (seen at 02:15:00.0)."
    assert [line.sentence for line in report.timeline] == [f"Topic t {words}."]


def test_a_partition_with_two_owners_is_told_with_both():
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0], "b": [1]})
    made.assign(60, 2, {"a": [0, 1], "b": [1]})
    made.assign(90, 3, {"a": [0], "b": [1]})
    made.commits(range(10, 201, 5), 0, 1)
    [twice] = report_on(made).owned_twice
    assert (twice.partitions, twice.owners, twice.from_ms, twice.until_ms) == ((T1,), ("a", "b"), ms(60), ms(90))


def test_what_retention_removed_is_lost_at_most():
    """At 100, the log of both partitions begins at 190; the group has committed 160."""
    made = Made(200)
    made.poll(earliest=lambda second: 0 if second < 100 else 190)
    made.assign(5, 1, {"a": [0, 1]})
    made.commits(range(10, 61, 5), 0, 1)
    report = report_on(made)
    assert [(each.records, each.partitions) for each in report.lost] == [(2 * (190 - 160), (T0, T1))]
    assert "Up to 60 records were lost." in report.summary[1]


# --- nothing, and less ------------------------------------------------------------------------------------------------


def test_of_a_healthy_group_nothing_is_told():
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0, 1]})
    made.commits(range(10, 201, 5), 0, 1)
    report = report_on(made)
    assert report.began_ms is None
    assert report.timeline == ()
    assert report.summary[0] == "Nothing happened to group g from 02:14:10.0 to 02:17:20.0."


def test_a_group_that_was_not_there_has_no_report_and_the_future_is_not_recorded():
    recording = killed().recording()
    assert group_report(recording, "c", "other", ms(10), ms(100)) is None
    with pytest.raises(NotRecordedError, match="reaches until"):
        group_report(recording, "c", "g", ms(1_000), ms(1_100))


def gaps_of(run: CommitRun, moment: int) -> tuple[CommitGap, ...]:
    row = RecordedRow(ms(240), Entity.GROUP, "g", 0, encode_events([RecordedEvent(ms(200), run)]))
    walk = GroupWalk(MemoryRecording([row]), "c", "g", ms(0), ms(200))
    return commit_gaps(walk, {T0: [ms(moment)]}, ms(200))


@pytest.mark.parametrize(
    ("commits", "found"),
    [
        pytest.param(12, [], id="a commit may have been left out between the first and the newest ten"),
        pytest.param(11, [(ms(0), ms(100))], id="there was none between the first and the newest ten"),
    ],
)
def test_where_the_recording_left_commits_out_nothing_is_said_to_have_stopped(commits: int, found: list):
    points = tuple(CommitPoint(ms(100 + n), 200 + n) for n in range(10))
    run = CommitRun("g", "t", 0, first=CommitPoint(ms(0), 100), points=points, commits=commits)
    assert [(gap.from_ms, gap.until_ms) for gap in gaps_of(run, 50)] == found


# --- a whole cluster --------------------------------------------------------------------------------------------------


class Held(MemoryRecording):
    """Holds all that it has."""

    def groups(self, _cluster: str, _since_ms: int, _until_ms: int) -> list[str]:
        return sorted({row.name for row in self.every_row if row.entity is Entity.GROUP})

    def hold(self, *_: object) -> MemoryRecording:
        return self


def test_the_groups_of_a_cluster_come_worst_first_with_what_they_have_in_common():
    """b's host has members of g and h. Both go at 72; h is left without members. Nothing happens to i."""
    made = killed()
    made.assign(5, 1, {"b": [0, 1]}, group="h")
    made.commits(range(10, 61, 5), 0, 1, group="h")
    made.assign(72, 2, {}, group="h")
    made.assign(5, 1, {"c": [0, 1]}, group="i")
    made.commits(range(10, 201, 5), 0, 1, group="i")
    made.assign(5, 1, {"a": [0, 1]}, group="j")
    made.commits(range(10, 201, 5), 0, 1, group="j")
    report = recorded_cluster_report(Held(made.recording().every_row), "c", ms(10), ms(200))
    assert (report.groups, [each.group for each in report.hit]) == (4, ["h", "g"])
    assert report.hit[0].finding == "unattended/no_members"
    assert report.hit[1].sentence.startswith("1 member of 2 was lost: b at /10.0.0.2 ")
    assert report.common == (Common("host", "/10.0.0.2", hit=2, groups=2), Common("topic", "t", hit=2, groups=4))


def found(group: str, finding: str, until: int, lag: int = 0) -> IncidentReport:
    """A report with one finding, which lasted from 0 on, and partitions without an owner for as long."""
    kind, reason = finding.split("/")
    return IncidentReport(
        cluster="c",
        group=group,
        kind=GroupKind.CLASSIC,
        since_ms=0,
        until_ms=100,
        asked_until_ms=100,
        step_ms=1,
        began_ms=0,
        findings=(FindingThen(kind, reason, Severity.CRITICAL, 0, 0, until, is_over=True, sentence="A finding."),),
        unowned=(Unowned((T0,), 0, until, is_over=True),),
        lag=LagCourse(peak=lag, rose=True),
    )


def test_the_worst_group_is_that_of_the_worst_finding_then_of_the_longest_then_of_the_most_lag():
    """The order of findings is that of docs/findings.md."""
    reports = [
        found("short", "orphaned/grew", 10),
        found("long", "orphaned/grew", 50),
        found("far behind", "orphaned/grew", 50, lag=9),
        found("lost", "retention/records_lost", 1),
    ]
    hit = cluster_report("c", 0, 100, reports).hit
    assert [each.group for each in hit] == ["lost", "far behind", "long", "short"]


def test_an_incident_is_not_usual_because_there_was_one_like_it_before():
    """The only member stands still for 70 s, twice; it takes a minute to catch up. The span starts while it does so the
    first time, and its commits are then 70 behind, 60, ...: the second time counts as higher than usual. By 150, when
    the poll sees 250 and 210 is committed, that is nearly over.
    """
    made = Made(400)
    made.poll(partitions=lambda _: 1)
    made.assign(1, 1, {"a": [0]})
    behind = {101 + 10 * n: 70 - 10 * n for n in range(8)} | {331 + 10 * n: 70 - 10 * n for n in range(8)}
    for second in range(11, 400, 10):
        if not (31 <= second < 101 or 261 <= second < 331):
            made.commit(second, 0, 99 + second - behind.get(second, 0))
    found = group_report(made.recording(), "c", "g", ms(105), ms(395))
    assert found is not None
    assert found.lag.rose
    assert (found.lag.peak, found.lag.before) == (80, 250 - 210)
    assert "usual level" not in " ".join(found.summary)
