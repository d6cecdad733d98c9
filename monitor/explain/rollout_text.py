"""What the forecast of a rollout says in words, wherever it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from monitor.explain.rollout_cost import RolloutForecast, RolloutWay, Spread
from monitor.messages.formatting import counted
from monitor.messages.names import listed, shown, shown_group

UNKNOWN: Final = "unknown"


def forecast_heading(forecast: RolloutForecast) -> str:
    """Whose rollout it is, and how it goes."""
    size = f"{counted(forecast.members, 'member')} and {counted(forecast.partitions, 'partition')}"
    name = f"{shown_group(forecast.group)} of cluster {shown(forecast.cluster)}"
    return f"A rollout of {name}, with {size}. {forecast.rollout.sentence()}"


def way_name(way: RolloutWay) -> str:
    """A way in a few words.

    >>> way_name(RolloutWay("uniform", "consumer", is_static=True))
    'uniform (KIP-848), static members'
    """
    protocol = " (KIP-848)" if way.protocol == "consumer" else ""
    return f"{shown(way.assignor)}{protocol}{', static members' if way.is_static else ''}"


def spread_text(spread: Spread | None) -> str:
    """The least, the median and the most.

    >>> spread_text(Spread(6, 8, 12)), spread_text(Spread(3, 3, 3)), spread_text(None)
    ('6 / 8 / 12', '3', 'unknown')
    """
    if spread is None:
        return UNKNOWN
    values = (spread.least, spread.median, spread.most)
    return f"{values[0]:,}" if len(set(values)) == 1 else " / ".join(f"{value:,}" for value in values)


def pause_text(spread: Spread | None) -> str:
    """The same of pauses, in seconds.

    >>> pause_text(Spread(0, 1_240, 3_000)), pause_text(Spread(0, 0, 0))
    ('0.0 / 1.2 / 3.0 s', '0.0 s')
    """
    if spread is None:
        return UNKNOWN
    values = [f"{value / 1000:.1f}" for value in (spread.least, spread.median, spread.most)]
    return f"{values[0] if len(set(values)) == 1 else ' / '.join(values)} s"


class CostLine(NamedTuple):
    """A way to replace the pods with its costs, as texts."""

    way: str
    rebalances: str
    moves: str
    pause: str
    whole_pause: str


def cost_line(way: RolloutWay) -> CostLine:
    """A way as a line of a table."""
    return CostLine(
        way=way_name(way),
        rebalances=spread_text(way.rebalances),
        moves=spread_text(way.moves),
        pause=pause_text(way.pause_ms),
        whole_pause=pause_text(way.whole_pause_ms),
    )


def comparison(forecast: RolloutForecast, measured: tuple[int, int], *, is_whole: bool) -> str:
    """What a rollout came to, beside its forecast.

    Args:
        forecast: of the group at its start.
        measured: the number of rebalances, and of moves.
        is_whole: whether it is over and all of it is known; else these are the least that it came to.
    """
    way, (rebalances, moves) = forecast.ways[0], measured
    if not rebalances:
        return "No rebalance since the start, so there is nothing to compare with the forecast."
    parts = (
        _beside("rebalances", way.rebalances, rebalances, is_whole=is_whole),
        _beside("moves", way.moves, moves, is_whole=is_whole),
    )
    return f"Forecast for {way_name(way)}: {'; '.join(parts)}."


def _beside(what: str, spread: Spread | None, measured: int, *, is_whole: bool) -> str:
    """A number beside the range that it was to be in.

    >>> _beside("moves", Spread(6, 8, 12), 14, is_whole=True)
    'moves 6 / 8 / 12, measured 14 (more than forecast)'
    >>> _beside("moves", Spread(6, 8, 12), 4, is_whole=False)
    'moves 6 / 8 / 12, measured at least 4'
    """
    text = f"{what} {spread_text(spread)}, measured {'' if is_whole else 'at least '}{measured:,}"
    if spread is not None and measured > spread.most:
        return f"{text} (more than forecast)"
    if spread is not None and measured < spread.least and is_whole:
        return f"{text} (less than forecast)"
    return text


def remarks(forecast: RolloutForecast) -> list[str]:
    """How the numbers were found, and why some are unknown."""
    return [*_methods(forecast), *(f"{way_name(way)}: {each}" for way in forecast.ways for each in way.unknown)]


def _methods(forecast: RolloutForecast) -> Iterator[str]:
    ways: dict[tuple[bool, int], list[str]] = {}
    for way in forecast.ways:
        if way.replayed:
            ways.setdefault((way.is_exact, way.replayed), []).append(way_name(way))
    for (is_exact, replayed), names in ways.items():
        which = "all that are possible" if is_exact else "a fixed sample of what is possible, and extremes"
        yield f"{listed(names)}: {counted(replayed, 'rollout')} replayed, {which}."
    measured = max(way.measured for way in forecast.ways)
    if measured:
        yield f"Pauses are those of {counted(measured, 'measured rebalance')} of this group."
