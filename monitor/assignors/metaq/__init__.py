"""The strategies by which MetaQ's consumers share a topic's partitions; each consumer works out its own part.

A partition is a string, ``broker id-number``. Both lists reach a strategy sorted as strings: ``0-10`` before ``0-2``.
"""
