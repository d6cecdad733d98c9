"""Whether an entry of a file is met, which may be about several groups, or about none that there is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from monitor.expectations.checks import absent_or_unknown
from monitor.expectations.expectation import Expectation, Expectations
from monitor.expectations.outcome import combine
from monitor.model.expectations import Met
from monitor.model.patterns import name_pattern

_PATTERN: Final = re.compile(r"[*+?|^$()\[\]{}]|\\[0-9A-Za-z]")
"""What an expression for several names has. A dot is in many names, so it makes none."""


class Unread(str):
    """Why groups cannot be seen now that are there, as a sentence. A pattern may match some of them."""

    __slots__ = ()


class EntriesOfCluster:
    """The entries about a cluster, by their expressions. Entries with the same expression are one.

    It remembers which groups they match: a cluster has many, and the question is repeated.

    Raises:
        PatternError: an expression cannot be read.
    """

    def __init__(self, expectations: Expectations, cluster: str) -> None:
        self._cluster = cluster
        self.severity = expectations.severity
        """That of the findings about groups that do not meet them."""
        alike: dict[str, list[Expectation]] = defaultdict(list)
        for each in expectations.entries:
            if each.cluster in {None, cluster}:
                alike[each.groups].append(each)
        self._entries = {expression: _one_entry(each, expectations, cluster) for expression, each in alike.items()}
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
        for group, expressions in self._match(groups):
            for expression in expressions:
                found[expression].add(groups[group])
        for expression, own in found.items():
            if not own:
                own.add(absent_or_unknown(self._entries[expression], self._cluster, expression, missing).met)
        for expression in self.patterns if isinstance(missing, Unread) else ():
            found[expression].add(Met.UNKNOWN)
        return {expression: combine(each) for expression, each in found.items()}

    def missing(self, known: Iterable[str]) -> Mapping[str, Expectation]:
        """The entries that none of the known groups matches, by their expressions: a name may be misspelt."""
        found = {expression for _, expressions in self._match(known) for expression in expressions}
        return {expression: entry for expression, entry in self._entries.items() if expression not in found}

    @property
    def patterns(self) -> Mapping[str, Expectation]:
        """The entries that may be about several groups, by their expressions."""
        return {expression: entry for expression, entry in self._entries.items() if _PATTERN.search(expression)}

    def _match(self, known: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
        """The known groups with the expressions that match them. Other groups are forgotten."""
        self._matching = {group: self.of(group) for group in known}
        return list(self._matching.items())


def _one_entry(entries: Sequence[Expectation], expectations: Expectations, cluster: str) -> Expectation:
    """Entries with the same expression as one: of each of these keys, the first that has it counts.

    An earlier entry for several groups may also decide whether a group of this name exists.
    """
    exists = next((each.exists for each in entries if each.exists is not None), None)
    if exists is not None and not _PATTERN.search(entries[0].groups):
        first = expectations.of(cluster, entries[0].groups)
        exists = exists if first is None else first.exists
    team = next((each.team for each in entries if each.team is not None), None)
    slo = next((each.slo for each in entries if each.slo is not None), None)
    return replace(entries[0], exists=exists, team=team, slo=slo)
