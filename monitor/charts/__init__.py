"""Charts of a group through time, as SVG text: pure functions from values (monitor.charts.values) to text.

The page of a group and reports draw with them. A chart is as wide as its place, its text keeps its size, and its
colors are those of the page around it (the variables of monitor/web/page/templates/style.css). Where there are none,
for example in a file of its own, it brings its own, light or dark.
"""
