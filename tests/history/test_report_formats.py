"""A report as Markdown, HTML and JSON: the same facts, and no name that starts markup, a link or a script."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from monitor.detection.finding_changes import opened
from monitor.history.chronicle.values import Chronicle, FindingSpan, GroupPoint
from monitor.history.recorded import decode_events
from monitor.history.report.assemble import group_report, report_of
from monitor.history.report.charts import draw_lag
from monitor.history.report.document import Section, document_of, report_document
from monitor.history.report.facts import FindingThen, IncidentReport, LagCourse
from monitor.history.report.markdown import markdown_text, write_markdown
from monitor.history.report_html import write_html
from monitor.model import Entity, Finding, FindingKind, GroupKind, GroupSummary, Phase
from monitor.model.findings import Severity
from tests.history.incidents import Made, hung, killed, ms
from tests.history.memory import MemoryRecording

HOSTILE = (
    "[x](http://evil.example)",
    "![x](https://evil.example/x.png)",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "www.evil.example",
    "https://evil.example",
    "a@evil.example",
    "@everybody",
    "#1 and owner/name#12",
    "`code` **bold** _it_ ~~no~~",
    "a | b | c",
    "- item",
    "1. item",
    "# head",
    "&lt;b&gt; &amp;",
    "$x$ :tada:",
    "\\",
    "line\nbreak\n\n# head",
    "\u202egnp.x",
    '"><b>',
    "{{ 7 * 7 }}",
)


def report_on(made: Made) -> IncidentReport:
    found = group_report(made.recording(), "c", "g", ms(10), ms(200))
    assert found is not None
    return found


def tokens(text: str) -> list[Token]:
    """Everything in it, in the order of reading, with what GitHub makes links of."""
    return [each for block in blocks(text) for each in (block, *(block.children or []))]


def blocks(text: str) -> list[Token]:
    """Its headings, lists and tables."""
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def shown(text: str) -> str:
    """What a reader sees."""
    return "".join(each.content for each in tokens(text) if each.type in ("text", "text_special", "code_inline"))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_in_markdown_is_what_it_was_and_nothing_more(name: str):
    text = markdown_text(name)
    allowed = {"paragraph_open", "inline", "text", "text_special", "paragraph_close", "html_inline"}
    assert {each.type for each in tokens(text)} <= allowed
    assert {each.content for each in tokens(text) if each.type == "html_inline"} <= {"<!-- -->"}
    assert shown(text) == name.replace("\n", "\\n").replace("\u202e", "\\u202e")


@pytest.mark.parametrize("start", ["", "- ", "1. "], ids=["a paragraph", "a list item", "a numbered item"])
@pytest.mark.parametrize("blanks", [1, 3, 4, 5, 9])
def test_a_name_that_begins_with_blanks_is_no_block_of_code(start: str, blanks: int):
    name = " " * blanks + "- *x*"
    text = start + markdown_text(name)
    assert not {"code_block", "em_open"} & {each.type for each in tokens(text)}
    assert [each.type for each in blocks(text)].count("list_item_open") == (1 if start else 0)
    assert shown(text) == name


@pytest.mark.parametrize(
    ("name", "apart"),
    [
        ("https://x.example", "https:<!-- -->//x.example"),
        ("www.x.example", "www<!-- -->.x.example"),
        ("a@x.example", "a@<!-- -->x.example"),
        ("#12", "\\#<!-- -->12"),
        ("GH-12 and gh-1", "GH<!-- -->-12 and gh<!-- -->-1"),
        (":tada:", ":<!-- -->tada:"),
    ],
)
def test_what_github_makes_a_link_or_a_picture_of_is_kept_apart(name: str, apart: str):
    """GitHub looks for these in the text that is left after markup, where escapes are gone."""
    assert markdown_text(name) == apart


@pytest.mark.parametrize("name", HOSTILE)
def test_a_report_with_hostile_names_has_only_its_own_markup(name: str):
    """A client id and a host may be any text."""
    report = report_on(killed(client_id=name, host=name))
    text, ordinary = write_markdown(document_of(report)), write_markdown(document_of(report_on(killed())))
    kinds = {each.type for each in tokens(text)}
    assert not {"link_open", "image", "html_block", "em_open", "strong_open", "s_open"} & kinds
    assert {each.content for each in tokens(text) if each.type == "html_inline"} <= {"<!-- -->"}
    assert [each.type for each in blocks(text)] == [each.type for each in blocks(ordinary)]


class Seen(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, frozenset[str]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, frozenset(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("name", HOSTILE)
def test_html_with_hostile_names_has_the_elements_of_any_other(name: str):
    page, ordinary = (Seen(write_html(document_of(report_on(made)))) for made in (killed(client_id=name), killed()))
    assert page.tags == ordinary.tags
    assert name.replace("\n", "\\n").replace("\u202e", "\\u202e") in page.text


def test_html_stands_alone_with_its_diagrams():
    page = Seen(write_html(document_of(report_on(killed()))))
    names = [tag for tag, _ in page.tags]
    assert names.count("svg") >= 2
    assert not {"script", "link", "img", "iframe"} & set(names)
    assert not {"src", "href", "onclick", "onload"} & {name for _, attributes in page.tags for name in attributes}
    assert "prefers-color-scheme: dark" in write_html(document_of(report_on(killed())))


def test_the_diagram_of_the_lag_has_the_peak_also_between_two_steps():
    """The lag of the steps is 0; a poll between them saw 77."""
    report = report_on(killed())
    points = tuple(msgspec.structs.replace(point, lag=0) for point in report.points)
    lag = LagCourse(peak=77, peak_ms=ms(70) + 500, rose=True)
    drawn = Seen(draw_lag(msgspec.structs.replace(report, points=points, lag=lag)))
    assert "The lag was 0 records at first, at most 77 records, and 0 records at last." in drawn.text


def test_all_formats_have_the_summary_and_the_timeline():
    report = report_on(killed())
    page, text = Seen(write_html(document_of(report))).text, shown(write_markdown(document_of(report)))
    sentences = [*report.summary, *(line.sentence for line in report.timeline)]
    assert [each for each in sentences if each not in page] == []
    assert [each for each in sentences if each not in text] == []


def test_the_guide_has_the_head_of_this_report():
    """There, the group is orders of prod, and lines are folded."""
    guide = (Path(__file__).parents[2] / "docs" / "history.md").read_text(encoding="utf-8")
    [example] = [block for block in guide.split("```") if block.strip().startswith("# Incident report")]
    head = write_markdown(document_of(report_on(killed()))).partition("## Timeline")[0]
    assert example.split() == head.replace("group g of cluster c", "group orders of cluster prod").split()


def sections(made: Made) -> dict[str, Section]:
    return {each.heading: each for each in report_document(report_on(made)).sections}


def test_offsets_have_a_row_for_each_partition_with_its_values_at_each_instant():
    """b has committed 160 of partition 1, which ends at 170 at the peak; a has committed all at the end."""
    found = sections(killed())["Offsets"]
    assert found.rows == (("t 1", "110 → 160 → 300", "110 → 170 → 300", "0 → 10 → 0", "b → a"),)
    assert found.text == (
        "At the start (02:14:10.0, lag 0), at the highest lag (02:15:10.0, lag 10) and at the end (02:17:20.0, lag 0). "
        "1 partition without lag at these instants is not listed."
    )


def test_members_have_a_row_each_and_no_empty_columns():
    found = sections(killed())["Members"]
    assert found.text == "The group had 2 members at the start and 1 at the end. Its generation rose from 1 to 2."
    assert found.headings == ("client id", "host", "what happened", "partitions", "member id")
    assert found.rows == (("b", "/10.0.0.2", "most likely timed out 02:15:12.0", "1 partition of t (1)", "b"),)


def test_findings_are_named_in_words_with_their_advice():
    """b hangs from 60 to 150, and the finding about that has opened and closed."""
    found = sections(hung())
    [row] = found["Findings"].rows
    assert row[:2] == ("Dead member: silent", "critical")
    assert found["Recommended action"].rows == (
        (
            "Dead member: silent",
            "closed: if it recurs",
            "Find out where it hangs (take a thread dump), then restart it.",
        ),
    )


def test_no_findings_are_none_and_need_no_action():
    found = sections(killed())
    assert (found["Findings"].text, found["Findings"].rows) == ("None.", ())
    assert "Recommended action" not in found


def test_of_findings_of_the_same_kind_the_longest_three_are_listed():
    """Five findings, which last 1 to 5 s; those of 5, 4 and 3 s are listed in the order of time."""
    made = report_on(killed())
    alike = [
        FindingThen(
            "lag", "behind", Severity.WARNING, ms(n * 10), ms(n * 10), ms(n * 10 + n), is_over=True, sentence=f"{n}."
        )
        for n in range(1, 6)
    ]
    many = msgspec.structs.replace(made, findings=tuple(alike))
    [found] = [each for each in report_document(many).sections if each.heading == "Findings"]
    assert [(row[1], row[-1]) for row in found.rows] == [("warning, brief", f"{n}.") for n in (3, 4, 5)]
    assert found.text.endswith(" 2 shorter findings of the same kinds are not listed.")


def test_json_has_all_facts_of_a_report():
    report = report_on(killed())
    assert msgspec.json.decode(msgspec.json.encode(report), type=IncidentReport) == report


def test_a_lag_that_no_poll_had_seen_yet_is_unknown_and_not_zero():
    """The recording begins with a backlog: the first poll is that of second 30, 02:14:30."""
    rows = killed().recording().every_row
    polled = {Entity.TOPIC, Entity.PASS}
    late = [row for row in rows if row.entity not in polled or decode_events(row)[0].at_ms >= ms(30)]
    report = group_report(MemoryRecording(late), "c", "g", ms(12), ms(200))
    assert report is not None
    text = write_markdown(report_document(report))
    assert "Before 02:14:30.0, it is not known." in text
    assert "(02:14:12.0, lag unknown)" in text


def test_the_report_on_a_connect_cluster_has_no_unknown_lag_and_the_advice_for_workers():
    """A rebalance takes too long."""
    connect = GroupSummary("c", "g", GroupKind.CLASSIC, Phase.STABLE, None, 1, None, (), is_connect=True)
    told = opened(connect, Finding(FindingKind.REBALANCE, "long", ms(20), "The group rebalances."), ms(20))
    rebalancing = FindingSpan(told, "The group rebalances.", Severity.WARNING, ms(100))
    points = tuple(GroupPoint(ms(at), Phase.STABLE, 1, 1, 0, 0, None, None) for at in (10, 100))
    chronicle = Chronicle(
        "c", "g", GroupKind.CLASSIC, ms(10), ms(100), points=points, findings=(rebalancing,), is_connect=True
    )
    report = report_of(chronicle, ms(100), 10_000)
    text = " ".join(write_markdown(document_of(report)).split())
    assert "A Connect cluster has no lag of its own: the consumer groups of its sinks have." in text
    assert "The lag is not known" not in text
    assert "find the one that is slow to stop its tasks" in text
    assert "max.poll.records" not in text
    other = write_markdown(
        document_of(report_of(msgspec.structs.replace(chronicle, is_connect=False), ms(100), 10_000))
    )
    assert "The lag is not known" in other
    assert "max.poll.records" in other
