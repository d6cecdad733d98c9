"""The style of charts. A page whose style comes from a file of its own adds ``STYLE`` to that file."""

from __future__ import annotations

from typing import Final

STYLE: Final = """\
.chart {
  --chart-ink: var(--ink, #1d2126); --chart-quiet: var(--quiet, #5c6570); --chart-line: var(--line, #d9dce0);
  --chart-sheet: var(--sheet, #ffffff); --chart-lag: var(--link, #0b5394);
  --chart-critical: var(--alarm, #a3160f); --chart-warning: var(--stray, #e69f00); --chart-info: var(--quiet, #5c6570);
  --chart-double: var(--double, #aa3377); --chart-on-double: var(--double-ink, #ffffff);
  display: block; max-width: 100%; overflow: hidden; background: var(--chart-sheet);
  font: 12px/1.2 system-ui, "Segoe UI", "DejaVu Sans", sans-serif;
}
@media screen and (prefers-color-scheme: dark) {
  .chart {
    --chart-ink: var(--ink, #e4e6e9); --chart-quiet: var(--quiet, #9aa4af); --chart-line: var(--line, #343a42);
    --chart-sheet: var(--sheet, #1b1f24); --chart-lag: var(--link, #8ec1f5);
    --chart-critical: var(--alarm, #ff9d94); --chart-warning: var(--stray, #f0b429);
    --chart-info: var(--quiet, #9aa4af);
    --chart-double: var(--double, #e08bc0); --chart-on-double: var(--double-ink, #22061a);
  }
}
.chart-paper { fill: var(--chart-sheet); }
.chart text { fill: var(--chart-quiet); font-variant-numeric: tabular-nums; }
.chart .chart-value, .chart .chart-name {
  fill: var(--chart-ink); paint-order: stroke; stroke: var(--chart-sheet); stroke-width: 3px; stroke-linejoin: round;
}
.chart-unrecorded { fill: var(--chart-line); fill-opacity: 0.55; pointer-events: none; }
.chart-grid { stroke: var(--chart-line); stroke-width: 1px; }
.chart-at { stroke: var(--chart-ink); stroke-width: 1px; stroke-dasharray: 4 3; }
.chart-area { fill: var(--chart-lag); fill-opacity: 0.12; pointer-events: none; }
.chart-lag {
  fill: none; stroke: var(--chart-lag); stroke-width: 1.5px; vector-effect: non-scaling-stroke; pointer-events: none;
}
.chart-point { fill: var(--chart-sheet); stroke: var(--chart-lag); stroke-width: 1.5px; }
.chart-mark { stroke: var(--chart-ink); stroke-width: 2px; }
.chart-many { stroke-width: 4px; }
.chart-hit { fill: var(--chart-lag); fill-opacity: 0; stroke: none; pointer-events: all; }
.chart-critical { fill: var(--chart-critical); stroke: var(--chart-critical); }
.chart-warning { fill: var(--chart-warning); stroke: var(--chart-warning); }
.chart-info { fill: var(--chart-info); stroke: var(--chart-info); }
.chart a { cursor: pointer; }
.chart a:hover .chart-hit { fill-opacity: 0.1; }
.chart a:hover .chart-point, .chart a:focus-visible .chart-point { fill: var(--chart-lag); stroke-width: 4px; }
.chart a:focus-visible { outline: 2px solid var(--chart-ink); outline-offset: 1px; }
.chart a:focus-visible .chart-hit { stroke: var(--chart-ink); stroke-width: 2px; fill-opacity: 0.1; }
.chart-owner { stroke: var(--chart-sheet); stroke-width: 1px; }
.chart-changing { fill: var(--chart-ink); }
.chart-double { fill: var(--chart-double); }
.chart-orphan { fill: none; stroke: var(--chart-critical); stroke-width: 1.5px; stroke-dasharray: 5 3; }
.chart .chart-on { fill: #ffffff; font-size: 11px; font-weight: 600; pointer-events: none; }
.chart .chart-on-light { fill: #14171a; }
.chart .chart-on-double { fill: var(--chart-on-double); }
.chart .chart-on-orphan { fill: var(--chart-critical); }
.chart-owner-0 { fill: #0072b2; }
.chart-owner-1 { fill: #e69f00; }
.chart-owner-2 { fill: #00795a; }
.chart-owner-3 { fill: #56b4e9; }
.chart-owner-4 { fill: #b04a00; }
.chart-owner-5 { fill: #f0e442; }
.chart-owner-6 { fill: #7a5ca8; }
.chart-owner-7 { fill: #8a8f96; }
"""
"""Colors of owners after Okabe and Ito, which people who cannot tell red from green can tell apart."""

OWNER_COLORS: Final = 8

DARK_TEXT: Final = frozenset({1, 3, 5, 7})
"""The colors of owners on which text is dark."""
