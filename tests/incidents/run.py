"""Incidents on real brokers beside a real job: ``python -m tests.incidents.run FOLDER``.

Two clusters have healthy groups, and others to which something happens. A folder in FOLDER for each incident has what a
person sees of it: the pages of all groups and of the group, as picture and text, and ``groupwatch explain``. Does a
person who sees nothing else name the cause and what to do? It takes about eight minutes, and needs chromium.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from monitor.demo.servers.broker import EmbeddedKafka
from tests.incidents import east, west
from tests.incidents.crew import Crew
from tests.incidents.incident import Incident
from tests.incidents.photographs import browser, photograph
from tests.scenarios.stage import Load
from tests.support.job_process import JobProcess, eventually, running
from tests.support.progress import exit_code, say

NO_LEADER: Final = "no_leader"
"""The reason of a finding of the cluster."""
DETECTION: Final = {"commit_silence_s": 20}
SECONDS: Final = 360
"""For all of them to be found: MirrorMaker 2 may be silent for three minutes."""


def run(folder: Path, logs: Path) -> list[str]:
    """The incidents that were not found, and what failed."""
    with ExitStack() as stack:
        single = stack.enter_context(EmbeddedKafka(west.SETTINGS))
        first, second = stack.enter_context(east.brokers())
        crews = {
            "west": stack.enter_context(Crew(single.bootstrap_servers)),
            "east": stack.enter_context(Crew(first.bootstrap_servers)),
        }
        west.prepare(crews["west"])
        east.prepare(crews["east"])
        for name, topics in (("west", tuple(west.TOPICS)), ("east", east.LOADED)):
            stack.enter_context(Load(crews[name].bootstrap)).add(*topics)
        clusters = {
            "west": {"bootstrap_servers": single.bootstrap_servers, "collect_interval_s": 1.0},
            "east": {"bootstrap_servers": first.bootstrap_servers, "collect_interval_s": 1.0},
        }
        job = stack.enter_context(running(JobProcess(logs, clusters, detection=DETECTION)))
        say("the job is ready")
        incidents = (*west.INCIDENTS, *east.INCIDENTS)
        for incident in incidents:
            incident.stage(crews[incident.cluster])
        missing = _missing(job, incidents)
        with browser() as chromium:
            for incident in incidents:
                photograph(chromium, job, incident, folder / incident.group)
            second.kill()
            eventually(lambda: NO_LEADER in job.get_any("/api/v1/clusters"), "the finding of the cluster")
            photograph(chromium, job, east.AWAY, folder / east.AWAY.group)
        errors = [error for crew in crews.values() for error in crew.errors]
        return [*(f"{each.group}: {each.finding} was not found" for each in missing), *errors]


def _missing(job: JobProcess, incidents: Iterable[Incident]) -> set[Incident]:
    """Those that are not found in time."""
    missing = set(incidents)

    def look() -> bool:
        for incident in [each for each in missing if each.finding in _findings(job, each)]:
            missing.remove(incident)
            say(f"{incident.group}: {incident.finding}")
        return not missing

    with suppress(AssertionError):
        eventually(look, "all incidents", SECONDS, pause_s=2)
    return missing


def _findings(job: JobProcess, incident: Incident) -> set[str]:
    group = json.loads(job.get_any(f"/api/v1/groups/{incident.cluster}/{incident.group}"))
    return {f"{each['kind']}/{each['reason']}" for each in group.get("findings", ())}


def main() -> int:
    """1 if an incident was not found."""
    parser = argparse.ArgumentParser(prog="python -m tests.incidents.run", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the folders of the incidents will be")
    options = parser.parse_args()
    logs = Path(tempfile.mkdtemp(prefix="groupwatch-incidents-"))
    say(f"logs in {logs}")
    wrong = run(options.folder, logs)
    for line in wrong:
        say(f"WRONG {line}")
    return exit_code(logs, wrong)


if __name__ == "__main__":
    sys.exit(main())
