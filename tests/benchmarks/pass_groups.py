"""One full pass over 10,000 groups of 100 partitions: see passes.py."""

from tests.benchmarks.offsets_log import Crowd
from tests.benchmarks.passes import measure

if __name__ == "__main__":
    measure("pass-groups", Crowd(groups=10_000, partitions=100, members=4))
