"""The demo's systems without any of them: nothing runs, and nothing has to be waited for."""

from __future__ import annotations

import threading

from monitor.demo.workload.systems import DemoSystems


def test_without_a_wanted_system_nothing_runs_and_the_end_waits_for_nothing():
    with DemoSystems(frozenset()) as systems:
        systems.begin()
        assert [thread.name for thread in threading.enumerate() if thread.name == "systems"] == []
    assert systems.timeline == ()
