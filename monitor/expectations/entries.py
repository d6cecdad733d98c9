"""Whether an entry of a file is met, which may be about several groups, or about none that there is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from monitor.expectations.expectation import Expectation, Expectations
from monitor.expectations.outcome import combine
from monitor.expectations.verification import verify_group
from monitor.model.expectations import Met
from monitor.model.patterns import name_pattern


class EntriesOfCluster:
    """The entries about a cluster, by their expressions. Entries with the same expression are one.

    It remembers which groups they match: a cluster has many, and the question is repeated.

    Raises:
        PatternError: an expression cannot be read.
    """

    def __init__(self, expectations: Expectations, cluster: str) -> None:
        self._cluster = cluster
        alike: dict[str, list[Expectation]] = defaultdict(list)
        for each in expectations.entries:
            if each.cluster in {None, cluster}:
                alike[each.groups].append(each)
        self._entries = {expression: _one_entry(entries) for expression, entries in alike.items()}
        self._matching: dict[str, tuple[str, ...]] = {}

    @property
    def entries(self) -> Mapping[str, Expectation]:
        """By their expressions, in the order of the file."""
        return self._entries

    def of(self, group: str) -> tuple[str, ...]:
        """The expressions that match a group."""
        found = self._matching.get(group)
        if found is None:
            found = tuple([each for each in self._entries if name_pattern(each).matches(group)])
            self._matching[group] = found
        return found

    def outcomes(self, groups: Mapping[str, Met], missing: str | None) -> dict[str, Met]:
        """Whether each is met: not if one of its groups is not, else unknown if one of them is.

        Without a group, it goes by ``exists``; without that, it is unknown, as its name may be misspelt.

        Args:
            groups: what was found of each group that the source has.
            missing: why the source may lack groups, as a sentence; None: it lacks none.
        """
        found: dict[str, set[Met]] = {each: set() for each in self._entries}
        for group, met in groups.items():
            for expression in self.of(group):
                found[expression].add(met)
        return {
            expression: combine(found[expression]) if found[expression] else self._without_group(expression, missing)
            for expression in self._entries
        }

    def _without_group(self, expression: str, missing: str | None) -> Met:
        return verify_group(self._entries[expression], self._cluster, expression, None, missing).met


def _one_entry(entries: Sequence[Expectation]) -> Expectation:
    """Entries with the same expression as one: of each of these keys, the first that has it counts."""
    exists = next((each.exists for each in entries if each.exists is not None), None)
    team = next((each.team for each in entries if each.team is not None), None)
    slo = next((each.slo for each in entries if each.slo is not None), None)
    return replace(entries[0], exists=exists, team=team, slo=slo)
