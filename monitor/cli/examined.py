"""A cluster as one look of the doctor shows it, for verify. It is apart from the sources, which know no collector."""

from __future__ import annotations

from typing import NamedTuple

from monitor.detection.evaluation_input import GroupInputs
from monitor.doctor.diagnosis import Diagnosis
from monitor.doctor.examination import Examination
from monitor.expectations.look import UnknownGroup
from monitor.expectations.verification import KnownGroups


class ExaminedCluster(NamedTuple):
    """A cluster as one look at its brokers shows it."""

    examination: Examination
    diagnosis: Diagnosis

    def known_groups(self) -> KnownGroups:
        """The names of the groups that the brokers list."""
        problems = self.diagnosis.problems
        return KnownGroups(self.examination.state.listed, problems[0] if problems else None)

    def read(self, group: str) -> GroupInputs | UnknownGroup | None:
        """One of them. What only time can show is unknown: a member may be stuck that has lag now."""
        found = self.examination.inputs(group)
        if found is None:
            reason = next((each.reason for each in self.diagnosis.not_judged if each.group == group), None)
            return UnknownGroup(f"It was not read: {reason or 'the brokers did not describe it'}.")
        expected = next((each for each in self.diagnosis.findings if each.group == group and each.opens_in_ms), None)
        if expected is not None:
            return UnknownGroup(f"If nothing changes, it has a finding soon: {expected.sentence}")
        if group in self.diagnosis.unconfirmed_groups:
            return UnknownGroup("Its lag did not fall between two looks. A job can say whether a member is stuck.")
        return found
