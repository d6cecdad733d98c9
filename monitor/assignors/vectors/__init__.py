"""The command ``python -m monitor.assignors``: one case a line, answered by the assignor that it names."""
