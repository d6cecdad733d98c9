"""Which group stands where on the overview."""

import msgspec

from monitor.model import CollectorHealth, Finding, FindingKind, GroupVerdict, ShortLife, Snapshot
from monitor.web.api.lists import condition
from monitor.web.page.options import PageOptions
from monitor.web.page.render import Pages
from monitor.web.views.group_list import Listing, Wish
from monitor.web.views.overview import overview
from tests.web.examples import NOW_MS, offsets_only, ready_cluster, snapshot


def troubled(group: str, kind: FindingKind, reason: str, age_ms: int) -> GroupVerdict:
    finding = Finding(kind=kind, reason=reason, since_ms=NOW_MS - age_ms, sentence="Something is wrong.")
    return msgspec.structs.replace(offsets_only(group), findings=(finding,))


def example() -> Snapshot:
    """Groups in an order that is neither by name nor by age nor by kind."""
    return snapshot(
        ready_cluster(
            offsets_only("a calm one"),
            troubled("b lags long", FindingKind.LAG, "behind", 9_000_000),
            troubled("d orphaned lately", FindingKind.ORPHANED, "assignor_gap", 600_000),
            troubled("c orphaned long", FindingKind.ORPHANED, "assignor_gap", 660_000),
            troubled("a ties", FindingKind.DRIFT, "tie", 99_000_000),
            troubled("a drifts", FindingKind.DRIFT, "replayed", 5_000_000),
            troubled("b orphaned long", FindingKind.ORPHANED, "assignor_gap", 660_000),
            troubled("z lost records", FindingKind.RETENTION, "records_lost", 500),
            troubled("a waits for a refresh", FindingKind.ORPHANED, "grew", 90_000_000),
        )
    )


def test_the_worst_finding_comes_first_then_the_longest_then_the_name():
    page = overview(Listing(example()), NOW_MS, Wish(), None)
    assert [line.summary.group for line in page.groups] == [
        "z lost records",
        "b orphaned long",
        "c orphaned long",
        "d orphaned lately",
        "a waits for a refresh",
        "b lags long",
        "a drifts",
        "a ties",
        "a calm one",
    ]


def test_findings_that_are_too_young_for_their_alerts_come_after_all_but_information():
    """The ages of the shipped alerts: ten minutes for an orphan, 15 for a drift, five for too much lag."""
    shown = overview(
        Listing(
            snapshot(
                ready_cluster(
                    troubled("orphaned for a second", FindingKind.ORPHANED, "assignor_gap", 1_000),
                    troubled("orphaned for ten minutes but a second", FindingKind.ORPHANED, "assignor_gap", 599_000),
                    troubled("orphaned for ten minutes", FindingKind.ORPHANED, "assignor_gap", 600_000),
                    troubled("drifts for a minute", FindingKind.DRIFT, "replayed", 60_000),
                    troubled("lags for five minutes", FindingKind.LAG, "behind", 300_000),
                    troubled("ties", FindingKind.DRIFT, "tie", 1_000),
                )
            )
        ),
        NOW_MS,
        Wish(),
        None,
    )
    assert [(line.summary.group, *(each.settling for each in line.findings)) for line in shown.groups] == [
        ("orphaned for ten minutes", ""),
        ("lags for five minutes", ""),
        ("orphaned for ten minutes but a second", "1 s"),
        ("orphaned for a second", "10 min"),
        ("drifts for a minute", "14 min"),
        ("ties", ""),
    ]


def test_a_cut_list_keeps_the_worst_and_counts_the_rest():
    page = overview(Listing(example()), NOW_MS, Wish(), 3)
    assert [line.summary.group[2:] for line in page.groups] == ["lost records", "orphaned long", "orphaned long"]
    assert (page.troubled, page.total, page.shown, page.hidden) == (8, 9, 9, 6)


def test_an_evaluation_is_as_old_as_the_machines_clock_says():
    """The job's own clock is an hour behind, because the machine's was set lately."""
    cluster = msgspec.structs.replace(ready_cluster(), clock_behind_ms=3_600_000)
    (line,) = overview(Listing(snapshot(cluster)), NOW_MS + 3_600_000 + 3_000, Wish(), None).clusters
    assert (line.evaluated, line.stale) == ("3 s", False)


def test_a_collector_that_tells_of_more_groups_is_a_warning_and_one_that_reads_the_cluster_is_told_once():
    """A query's checkpoint that cannot be read is no reason to call the Kafka that it reads away."""
    away = CollectorHealth("main", "kafka", "main", problem="Nobody answers.")
    beside = CollectorHealth("main", "spark", "etl", problem="One folder is empty.")
    shown = msgspec.structs.replace(ready_cluster(), problem="Nobody answers.", collectors=(away, beside))
    (line,) = overview(Listing(snapshot(shown)), NOW_MS, Wish(), None).clusters
    assert (line.sentence, line.warning) == ("Nobody answers.", "One folder is empty.")
    told = msgspec.structs.replace(shown, problem=None, collectors=(beside,), findings_problem="No topic.")
    (line,) = overview(Listing(snapshot(told)), NOW_MS, Wish(), None).clusters
    assert (line.failing, line.warning) == (False, "No topic. One folder is empty.")


def test_what_a_complete_pass_warns_of_is_shown_and_the_cluster_is_up():
    warned = CollectorHealth("main", "zookeeper", "main", complete=1, warning="One node is out of date.")
    shown = msgspec.structs.replace(ready_cluster(), collectors=(warned,))
    (line,) = overview(Listing(snapshot(shown)), NOW_MS, Wish(), None).clusters
    assert (line.failing, line.ready, line.warning) == (False, True, "One node is out of date.")


def throwaway(group: str, lag: int) -> GroupVerdict:
    finding = Finding(kind=FindingKind.UNATTENDED, reason="one_off", since_ms=NOW_MS - 60_000, sentence="Waits.")
    life = ShortLife("anonymous.*", 0, 1_000)
    return msgspec.structs.replace(offsets_only(group), findings=(finding,), lag=lag, short_life=life)


def test_groups_that_are_alike_have_one_line_and_are_listed_on_request():
    """Thirty of them, and one real group: of a cut list, the line stands for all of its groups."""
    alike = [throwaway(f"anonymous.{number}", number) for number in range(30)]
    real = troubled("billing", FindingKind.UNATTENDED, "no_members", 1_000)
    listing = Listing(snapshot(ready_cluster(offsets_only("calm"), *alike, real)))
    page = overview(listing, NOW_MS, Wish(), None)
    assert [(line.groups, line.pattern, line.lag) for line in page.groups] == [
        (1, "", None),
        (30, "anonymous.*", 435),
        (1, "", None),
    ]
    assert [line.summary.group for line in page.groups][::2] == ["billing", "calm"]
    assert page.groups[1].href == "/?cluster=main&kind=unattended&q=anonymous."
    assert page.groups[1].findings[0].age == "1 min"
    cut = overview(listing, NOW_MS, Wish(), 2)
    assert (len(cut.groups), cut.shown, cut.hidden) == (2, 32, 1)
    each = overview(listing, NOW_MS, Wish(search="anonymous.", kind=FindingKind.UNATTENDED), None)
    assert [line.groups for line in each.groups] == [1] * 30


def test_the_page_and_the_api_have_the_line_of_groups_that_are_alike():
    alike = [throwaway(f"anonymous.<{number}>", 1_000) for number in range(4)]
    cluster = ready_cluster(*alike)
    page = Pages().overview(overview(Listing(snapshot(cluster)), NOW_MS, Wish(), None), PageOptions(path="/"))
    assert '4 groups <bdi class="name">anonymous.*</bdi></a>' in page
    assert "4,000</td>" in page
    assert "Waits." not in page
    (told,) = condition(cluster, NOW_MS).alike
    assert (told.groups, told.lag, told.reason) == (4, 4_000, "one_off")
