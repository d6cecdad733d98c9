"""One full pass over 65,000 groups of 4 partitions: see passes.py."""

from tests.benchmarks.offsets_log import Crowd
from tests.benchmarks.passes import measure

if __name__ == "__main__":
    measure("pass-wide", Crowd(groups=65_000, partitions=4, members=2))
