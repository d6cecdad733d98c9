"""Every finding: its row, its evidence and its sentence side by side, in the module of its family.

``order`` has the ranks, worst first; ``table`` has the rows of all families in that order; ``sentences`` makes the
sentence of what a rule has found. The rules are in monitor.detection.rules: they yield the evidence, in no words.
"""
