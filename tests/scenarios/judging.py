"""Whether what was told of a group is what its scenario wants, and nothing else. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from monitor.model import Value
from tests.scenarios.scenario import Expected, Scenario, Story, Told, Within, text_of

STALLED: Final = frozenset({("lag", "not_committing"), ("dead_member", "silent")})
"""What is true of a consumer that stands still for long."""

BEGINNING: Final = "beginning"
"""The name of the step that every story begins with."""


class Spell(Value):
    """A finding from its opening to its closing (None: still open), with all partitions that it told meanwhile."""

    kind: str
    reason: str
    opened_ms: int
    closed_ms: int | None
    since_ms: int
    partitions: Mapping[str, frozenset[int]]

    def age_ms(self, now_ms: int) -> int:
        """How old it grew, by the earliest time that it had."""
        return (self.closed_ms or now_ms) - min(self.opened_ms, self.since_ms)


def differences(scenario: Scenario, story: Story) -> list[str]:
    """What is not as the scenario wants it; nothing if all is well."""
    spells = spells_in(story)
    found = []
    for expected in scenario.expected:
        opened = [spell for spell in spells if _opens(expected, spell, story)]
        if opened:
            spells.remove(opened[0])
            found += _faults(expected, opened[0], story)
        else:
            found.append(f"missing: {_wanted(expected)}")
    found += [f"must not be told: {_line(spell, story)}" for spell in spells if not _may_pass(scenario, spell, story)]
    return found + list(_counted(scenario, story))


def is_complete(scenario: Scenario, story: Story) -> bool:
    """Whether all that is expected has happened by now: then there is nothing more to wait for."""
    spells = spells_in(story)
    for expected in scenario.expected:
        opened = [spell for spell in spells if _opens(expected, spell, story)]
        if not opened or (expected.closes is not None and opened[0].closed_ms is None):
            return False
    return all(spell.closed_ms is not None or _is_expected(scenario, spell, story) for spell in spells)


def is_past(scenario: Scenario, story: Story) -> bool:
    """Whether it is too late for all that is expected; and for what may pass, in a story without expectations."""
    within = [within for each in scenario.expected for within in (each.opens, each.closes) if within is not None]
    longest_s = max((passing.most_s for passing in scenario.passing), default=0.0)
    last_ms = max(story.done_ms.values(), default=story.began_ms)
    is_calm = story.ended_ms > last_ms + (longest_s + story.late_s) * 1000
    return is_calm and all(_is_past(each, story) for each in within)


def has_opened(scenario: Scenario, story: Story, step: str) -> bool:
    """Whether all has been told that this step is to put an end to, or it is too late for that."""
    spells = spells_in(story)
    ending = [e for e in scenario.expected if e.closes is not None and e.closes.step == step != e.opens.step]
    return all(_is_past(each.opens, story) or any(_opens(each, spell, story) for spell in spells) for each in ending)


def _is_past(within: Within, story: Story) -> bool:
    done_ms = _done_ms(within.step, story)
    return done_ms is not None and story.ended_ms > done_ms + (within.most_s + story.late_s) * 1000


def spells_of(told: Iterable[Told]) -> Iterator[Spell]:
    """The findings, in the order of their openings; a record that came twice counts once."""
    under_way: dict[tuple[str, str], list[Told]] = {}
    ended: list[list[Told]] = []
    for record in told:
        key = record.kind, record.reason
        if record.event == "opened" and key not in under_way:
            under_way[key] = [record]
            ended.append(under_way[key])
        elif key in under_way:
            under_way[key].append(record)
            if record.event == "closed":
                del under_way[key]
    yield from map(_spell, ended)


def spells_in(story: Story) -> list[Spell]:
    """The findings of a story. What ended before it began is of its setting up, when members join one by one."""
    return [each for each in spells_of(story.told) if each.closed_ms is None or each.closed_ms >= story.began_ms]


def _spell(records: list[Told]) -> Spell:
    first, last = records[0], records[-1]
    return Spell(
        kind=first.kind,
        reason=first.reason,
        opened_ms=first.at_ms,
        closed_ms=last.at_ms if last.event == "closed" else None,
        since_ms=min(record.since_ms for record in records),
        partitions=_united(record.partitions for record in records),
    )


def _united(told: Iterable[Mapping[str, tuple[int, ...]]]) -> dict[str, frozenset[int]]:
    united: dict[str, frozenset[int]] = {}
    for partitions in told:
        for topic, numbers in partitions.items():
            united[topic] = united.get(topic, frozenset()).union(numbers)
    return united


def _opens(expected: Expected, spell: Spell, story: Story) -> bool:
    same = (expected.kind, expected.reason) == (spell.kind, spell.reason)
    return same and _is_within(expected.opens, spell.opened_ms, story)


def _is_expected(scenario: Scenario, spell: Spell, story: Story) -> bool:
    return any(expected.closes is None and _opens(expected, spell, story) for expected in scenario.expected)


def _faults(expected: Expected, spell: Spell, story: Story) -> Iterator[str]:
    wanted = {topic: frozenset(numbers) for topic, numbers in expected.partitions.items()}
    told_in = {topic: numbers <= wanted.get(topic, frozenset()) for topic, numbers in spell.partitions.items()}
    if spell.partitions != wanted and (expected.all_told or not all(told_in.values())):
        yield f"not the partitions {text_of(expected.partitions)}: {_line(spell, story)}"
    if expected.closes is None and spell.closed_ms is not None:
        yield f"must stay open: {_line(spell, story)}"
    if expected.closes is not None and (
        spell.closed_ms is None or not _is_within(expected.closes, spell.closed_ms, story)
    ):
        yield f"not closed {_when(expected.closes)}: {_line(spell, story)}"


def _is_within(within: Within, at_ms: int, story: Story) -> bool:
    done_ms = _done_ms(within.step, story)
    return done_ms is not None and within.least_s <= (at_ms - done_ms) / 1000 <= within.most_s + story.late_s


def _late_ms(story: Story) -> int:
    return int(story.late_s * 1000)


def _done_ms(step: str, story: Story) -> int | None:
    return story.began_ms if step == BEGINNING else story.done_ms.get(step)


def is_of_stall(kind: str, reason: str, since_ms: int, until_ms: int, story: Story) -> bool:
    """Whether a finding tells nothing but that this machine stood still: then it is so, whatever the script says."""
    return (kind, reason) in STALLED and any(each.covers(since_ms, until_ms) for each in story.stalls)


def _may_pass(scenario: Scenario, spell: Spell, story: Story) -> bool:
    closed_ms = spell.closed_ms or story.ended_ms
    lasted_ms = closed_ms - spell.opened_ms
    since_ms = min(spell.since_ms, spell.opened_ms)
    return is_of_stall(spell.kind, spell.reason, since_ms, closed_ms - _late_ms(story), story) or any(
        (passing.kind, passing.reason) == (spell.kind, spell.reason)
        and lasted_ms <= (passing.most_s + story.late_s) * 1000
        for passing in scenario.passing
    )


def _counted(scenario: Scenario, story: Story) -> Iterator[str]:
    if (story.rebalances is None) != (scenario.rebalances is None):
        yield "the group is still there" if scenario.rebalances is None else "the group is gone"
    elif story.rebalances is not None and scenario.rebalances is not None:
        fewest, most = scenario.rebalances
        if story.rebalances < fewest or (most is not None and story.rebalances > most):
            yield f"{story.rebalances} rebalances, not {fewest} to {'any' if most is None else most}"
    for each in scenario.counted:
        rose = story.counted.get(each.name, 0.0)
        late = each.per_late_s * story.late_s
        if rose < each.least - late or (each.most is not None and rose > each.most + late):
            yield f"{each.name} rose by {rose:g}, not {each.least:g} to {'any' if each.most is None else each.most}"
    for topic, wanted in scenario.owned.items():
        if story.owners.get(topic, 0) != wanted:
            yield f"{story.owners.get(topic, 0)} and not {wanted} partitions of {topic} have an owner at the end"


def timeline(story: Story) -> str:
    """All that was done and told, in its order, in seconds since the beginning."""
    lines = [(at_ms, f"-- {name}") for name, at_ms in story.done_ms.items()]
    lines += [(record.at_ms, _record(record)) for record in story.told]
    lines.append((story.ended_ms, "-- end"))
    return "\n".join(f"{_s(at_ms, story):>7}  {line}" for at_ms, line in sorted(lines, key=lambda line: line[0]))


def latencies(scenario: Scenario, story: Story) -> Iterator[str]:
    """How long after its step each expected finding opened and closed, and the counters that rose."""
    spells = spells_in(story)
    for expected in scenario.expected:
        for spell in (spell for spell in spells if _opens(expected, spell, story)):
            opened = _after(expected.opens.step, spell.opened_ms, story)
            closed = expected.closes and _after(expected.closes.step, spell.closed_ms, story)
            yield f"{spell.kind}/{spell.reason}: opened {opened}, closed {closed or 'not'}"
    rose = [f"{name} {by:g}" for name, by in sorted(story.counted.items()) if by]
    yield f"rose: {', '.join(rose) or 'nothing'}"


def _after(step: str, at_ms: int | None, story: Story) -> str | None:
    done_ms = _done_ms(step, story)
    return None if at_ms is None or done_ms is None else f"{(at_ms - done_ms) / 1000:.1f} s after {step}"


def _record(record: Told) -> str:
    age = (record.at_ms - record.since_ms) / 1000
    return f"{record.event} {record.kind}/{record.reason} {text_of(record.partitions)} (since {age:.1f} s)"


def _wanted(expected: Expected) -> str:
    closes = f", closes {_when(expected.closes)}" if expected.closes else ""
    told = text_of(expected.partitions)
    return f"{expected.kind}/{expected.reason} {told}, opens {_when(expected.opens)}{closes}"


def _when(within: Within) -> str:
    return f"{within.least_s:g} to {within.most_s:g} s after {within.step}"


def _line(spell: Spell, story: Story) -> str:
    told = text_of({topic: tuple(sorted(numbers)) for topic, numbers in spell.partitions.items()})
    until = "open at the end" if spell.closed_ms is None else f"until {_s(spell.closed_ms, story)}"
    return f"{spell.kind}/{spell.reason} {told}, from {_s(spell.opened_ms, story)} {until}"


def _s(at_ms: int, story: Story) -> str:
    return f"{(at_ms - story.began_ms) / 1000:.1f}"
