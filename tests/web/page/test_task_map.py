"""The tasks on the page of a group."""

from msgspec.structs import replace

from monitor.web.page.member_labels import Holders
from monitor.web.page.task_map import MOST_TASKS, task_map
from tests.web.examples import streams


def drawn(verdict):
    return task_map(verdict, Holders(verdict.members))


def test_each_task_has_its_member_its_standbys_and_what_it_consumes():
    (part,) = drawn(streams())
    running, waiting = part.lines
    assert (part.part, part.count, part.idle) == ("0", 2, 1)
    assert [(holder.number, holder.name) for holder in running.owners] == [(1, "billing-1")]
    assert [holder.name for holder in running.standbys] == ["billing-2"]
    assert (running.reads, running.why, running.since) == ("t 0", "", "")
    assert (waiting.owners, waiting.since) == ((), "5 s")
    assert waiting.why


def test_of_a_large_group_only_what_nobody_runs_is_listed():
    verdict = streams()
    many = tuple(replace(verdict.tasks[0], task=f"0_{number}", number=number) for number in range(MOST_TASKS))
    (part,) = drawn(replace(verdict, tasks=(*many, verdict.tasks[1])))
    assert (part.count, len(part.lines)) == (MOST_TASKS + 1, 1)


def test_other_groups_have_no_tasks():
    assert drawn(replace(streams(), tasks=())) == ()
