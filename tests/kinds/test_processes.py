"""Tasks of Kafka Streams are balanced over application instances, by their threads."""

from monitor.kinds.processes import IdleThreads, MemberLoad, idle_threads, process_balance, process_loads
from monitor.model import ProcessLoad
from monitor.model.evidence import TaskBalance


def load(name, process, active=0, standby=0):
    return MemberLoad(name, process, active, standby)


def test_a_process_runs_what_its_threads_run():
    assert process_loads([load("a", "p1", 3, 1), load("b", "p2", 1), load("c", "p2", 0, 2)]) == (
        ProcessLoad("p1", ("a",), active=3, standby=1),
        ProcessLoad("p2", ("b", "c"), active=1, standby=2),
    )


def test_the_busiest_process_is_the_one_with_most_active_tasks_by_thread():
    """Ten tasks on four threads: three for the busiest thread are enough."""
    loads = process_loads([load("a", "p1", 4), load("b", "p2", 2), load("c", "p2", 2), load("d", "p2", 2)])
    balance = process_balance(loads)
    assert balance == TaskBalance(process="p1", members=("a",), tasks=4, fair=3)
    assert balance.ratio == 4 / 3


def test_a_thread_with_two_tasks_beside_one_with_standby_tasks_is_even():
    balance = process_balance(process_loads([load("a", "p", 2), load("b", "p", 0, 2), load("c", "q", 2)]))
    assert balance is not None
    assert balance.ratio <= 1


def test_threads_are_idle_only_where_another_could_give_them_a_task():
    assert idle_threads([load("a", "p", 2), load("b", "q")]) == IdleThreads(("b",), "a", 2)
    assert idle_threads([load("a", "p", 2), load("b", "q", standby=1)]) is None
    assert idle_threads([load("a", "p", 1), load("b", "q")]) is None
    assert idle_threads([]) is None
