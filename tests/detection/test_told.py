"""Every finding's text says where, who, since when and what to do. All of them are in told.txt, to be read by a person.

To renew that file after a change of words: ``python -m tests.detection.test_told``. Then read what has changed, as
somebody who was woken by it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from textwrap import fill

import msgspec
import pytest
from msgspec.structs import replace
from rich.console import Console

from monitor.cli.render_answer import explanation_shown
from monitor.detection import evaluate
from monitor.detection.evaluate import facts_of, judge_until
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.ownership.context import Facts
from monitor.detection.rules.registry import RULES
from monitor.expectations.verdicts import expectation_findings, expected_verdict
from monitor.explain.group import explain_group
from monitor.findings.notification import finding_text
from monitor.findings.table import FINDINGS
from monitor.messages.names import LISTED
from monitor.model import CONNECT, Finding, GroupVerdict, traits_of
from monitor.model.scaling import ScaleMemory, ScaleTarget
from monitor.scaling.verdicts import Scaler, scale_findings
from monitor.web.page.group import group_page
from monitor.web.page.options import PageOptions
from monitor.web.page.render import Pages
from monitor.web.views.overview import ClusterLine
from monitor.web.views.summary import verdict_json
from tests.detection.told_examples import NOW, Example, at, examples
from tests.scaling.fleet import notes_on

TEXTS = Path(__file__).with_name("told.txt")
EXAMPLES = examples()
PAGES = Pages()
WIDE = 10_000
"""Columns, so that no line is broken. Each line is as long for rich, so that more of them cost time."""

HOSTILE = ("\nSince yesterday. Nothing to do.\n", "<script>alert(1)</script>", "x" * 200, "\u202eevif ytnewt\u202c")


def title(example: Example) -> str:
    return f"{example.kind.value}/{example.reason}: {example.title}"


def scaled(example: Example, memory: ScaleMemory, target: ScaleTarget) -> GroupVerdict:
    """The verdict with the number of members that the group needs."""
    scaler, topics = Scaler(), Topics(example.catalog)
    scaler.begin_again(notes_on({example.group.group: memory}))
    view = view_assignment(example.group, example.catalog)
    judged = judge_until(example.group, topics, view, NOW, example.settings)
    return scaler.with_scaling(judged, example.group, topics, view, target).verdict


@cache
def verdict_on(example: Example) -> GroupVerdict:
    if example.memory is not None and example.settings.scale is not None:
        return scaled(example, example.memory, example.settings.scale)
    verdict = evaluate(example.group, example.catalog, NOW, example.settings)
    return verdict if example.expectations is None else expected_verdict(verdict, example.expectations, example.group)


def finding_of(example: Example) -> Finding:
    found = [f for f in verdict_on(example).findings if (f.kind, f.reason) == (example.kind, example.reason)]
    assert len(found) == 1, f"{example.title}: {found}"
    return found[0]


def text_of(example: Example) -> str:
    is_connect = example.group.protocol_type == CONNECT
    return finding_text(example.group.group, finding_of(example), example.group.kind, is_connect=is_connect)


def paragraphs() -> str:
    """As told.txt has them."""
    return "\n".join(f"{title(each)}\n{fill(text_of(each), 118, break_on_hyphens=False)}\n" for each in EXAMPLES)


# --- every finding has an example ----------------------------------------------------------------------------------


def test_every_finding_of_the_table_has_an_example_that_the_rules_find():
    """What is new has to be read in told.txt first. What has no row cannot be found: see test_evaluate."""
    found = {(finding.kind.value, str(finding.reason)) for finding in map(finding_of, EXAMPLES)}
    assert [(spec.kind.value, spec.reason) for spec in FINDINGS if (spec.kind.value, spec.reason) not in found] == []


def test_the_texts_are_those_that_a_person_has_read():
    assert paragraphs() == TEXTS.read_text(encoding="utf-8")


@cache
def facts_on(example: Example) -> Facts:
    view = view_assignment(example.group, example.catalog)
    return facts_of(example.group, Topics(example.catalog), view, NOW, example.settings)


def test_a_rule_that_needs_lag_finds_nothing_where_no_records_wait():
    """Such rules are left out there."""
    needing = [rule for rule in RULES if rule.needs_lag]
    for example in EXAMPLES:
        without = replace(facts_on(example), waiting=())
        assert [rule.find.__name__ for rule in needing if [*rule.find(without)]] == [], title(example)


def test_a_rule_for_some_kinds_finds_nothing_of_groups_of_others():
    """Such rules are left out there."""
    for example in EXAMPLES:
        others = [rule for rule in RULES if example.group.kind not in rule.kinds]
        assert others
        assert [rule.find.__name__ for rule in others if [*rule.find(facts_on(example))]] == [], title(example)


def test_a_rule_that_needs_tasks_finds_nothing_of_groups_without_any():
    """Such rules are left out there."""
    of_tasks = [rule for rule in RULES if rule.needs_tasks]
    assert len(of_tasks) > 5
    for example in [each for each in EXAMPLES if not traits_of(each.group).runs_tasks]:
        assert [rule.find.__name__ for rule in of_tasks if [*rule.find(facts_on(example))]] == [], title(example)


# --- each of them says everything ----------------------------------------------------------------------------------


@pytest.mark.parametrize("example", EXAMPLES, ids=title)
def test_a_text_names_the_group_where_who_since_when_and_what_to_do(example: Example):
    finding = finding_of(example)
    text = text_of(example)
    head, since, advice = text.partition(f" Since 2026-11-22 {example.since} UTC. ")
    assert since, text
    assert head.startswith(f"Group {example.group.group}: ")
    assert [word for word in example.words if word not in head] == []
    assert re.fullmatch(r"[A-Z].{20,}\.", advice), "what to do"
    assert len(text) < 1000
    assert_all_named(finding, head)
    hosts = {member.member_id: member.host for member in example.group.members}
    shown = [hosts[name] for name in finding.members if re.search(rf"{hosts[name]}\b", head)]
    assert len(shown) == min(len(finding.members), LISTED), (
        "each member by its host, or so many that the rest is counted"
    )
    assert len(finding.members) <= LISTED or f"and {len(finding.members) - LISTED} more" in head


RUN = r"(?:broker-a-\d+|\d+(?:-\d+)?)"
"""A queue, or numbers from one to another, or one number; a partition of MetaQ looks like the second."""


def assert_all_named(finding: Finding, text: str) -> None:
    """Every partition of the finding is among the runs of numbers behind its topic, or in the count of more."""
    for topic in {place.topic for place in finding.partitions}:
        own = {str(place.partition) for place in finding.partitions if place.topic == topic}
        runs = re.search(rf"\b{topic} \(?((?:{RUN}(?:, )?)+)(?: and (\d+) more)?", text) or re.search(
            rf"[Pp]artition (\d+)() of {topic}\b", text
        )
        assert runs is not None, f"{topic} is not named"
        named = {name for run in runs[1].split(", ") for name in ([run] if run in own else map(str, _numbers(run)))}
        assert named <= own
        assert len(own) - len(named) == int(runs[2] or 0)


def _numbers(run: str) -> range:
    first, _, last = run.partition("-")
    return range(int(first), int(last or first) + 1)


# --- and is told the same everywhere -------------------------------------------------------------------------------


def page_of(verdict: GroupVerdict) -> str:
    cluster = ClusterLine(
        "prod", "", None, ready=True, failing=False, evaluated="1 s", stale=False, groups=1, progress=None
    )
    return PAGES.group(group_page(verdict, None), cluster, PageOptions(path="/"))


def explained(example: Example) -> list[str]:
    inputs = GroupInputs(
        group=example.group,
        catalog=example.catalog,
        now_ms=NOW,
        settings=example.settings,
        expected=(
            *expectation_findings(verdict_on(example).findings),
            *scale_findings(verdict_on(example).findings),
        ),
    )
    plain = Console(width=WIDE, color_system=None, highlight=False, markup=False, emoji=False)
    with plain.capture() as captured:
        plain.print(explanation_shown(explain_group(inputs)))
    return [line.strip() for line in captured.get().splitlines()]


@pytest.mark.parametrize("example", EXAMPLES, ids=title)
def test_the_page_the_api_and_explain_say_all_of_it(example: Example):
    text, verdict = text_of(example), verdict_on(example)
    head, _, advice = text.partition(f" Since 2026-11-22 {example.since} UTC. ")
    sentence = head.removeprefix(f"Group {example.group.group}: ")
    page = page_of(verdict).replace("&#39;", "'").replace("&#34;", '"')
    shown = re.sub("</?(?:a|time)(?: [^>]*)?>", "", page)  # "What to do" leads to the runbook
    assert f'{sentence} <span class="advice"><b>What to do:</b> {advice}</span>' in shown
    assert f"Since 2026-11-22 {example.since} UTC." in shown
    (said,) = [
        each
        for each in msgspec.json.decode(verdict_json(verdict))["findings"]
        if (each["kind"], each["reason"]) == (example.kind.value, example.reason)
    ]
    assert (said["sentence"], said["since_ms"], said["advice"]) == (sentence, at(example.since), advice)
    lines = explained(example)
    index = next(
        number for number, line in enumerate(lines) if line.startswith(f"finding    {sentence} This has lasted ")
    )
    settling = r"( It is settling: its alert waits for \d+ (s|min) more\.)?"
    assert re.search(rf", since 2026-11-22 {example.since} UTC\.{settling}$", lines[index])
    assert lines[index + 1] == f"What to do: {advice}"


@pytest.mark.parametrize("suffix", HOSTILE, ids=["line breaks", "HTML", "200 characters", "right to left"])
def test_hostile_names_change_no_finding_and_break_out_of_nothing(suffix: str):
    for plain, example in zip(EXAMPLES, examples(suffix), strict=True):
        finding, text = finding_of(example), text_of(example)
        assert (finding.since_ms, len(finding.partitions)) == (at(plain.since), len(finding_of(plain).partitions))
        assert text.isprintable(), plain.title
        assert "x" * 121 not in text
        assert text.count("Since 2026-11-22") == 1
        assert page_of(verdict_on(example)).count("<script") == 1, "the page's own"
        assert all(line.isprintable() for line in explained(example)), plain.title


if __name__ == "__main__":
    TEXTS.write_text(paragraphs(), encoding="utf-8")
