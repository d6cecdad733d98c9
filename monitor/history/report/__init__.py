"""Reports on incidents, from what was recorded: of one group (``group_report``), or of a whole cluster.

``facts`` are values, which ``assemble`` takes from a chronicle, ``sentences`` and ``summary`` tell, and ``markdown``
writes down. monitor.history.report_html writes the same as a page of its own.
"""
