"""Why a group, a partition or an owner is judged as it is, and what would be if members or partitions changed."""
