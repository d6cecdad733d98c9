"""In which partition of ``__consumer_offsets`` a group's records are."""

from __future__ import annotations

from typing import Final

_MODULUS: Final = 1 << 32
_SIGN: Final = 1 << 31


def group_partition(group: str, partitions: int) -> int:
    """The partition of a group's records: Java's hash of its name, without the sign, modulo the partitions.

    The sign is taken off by ``Utils.abs``, for which the smallest integer becomes 0 (``GroupMetadataManager``,
    ``GroupCoordinatorService.partitionFor``); a default partitioner would do something else.

    >>> group_partition("orders", 50), group_partition("polygenelubricants", 50)
    (31, 0)
    """
    hashed = 0
    units = group.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(units), 2):
        hashed = (31 * hashed + (units[index] << 8) + units[index + 1]) % _MODULUS
    signed = hashed - _MODULUS if hashed >= _SIGN else hashed
    return 0 if signed == -_SIGN else abs(signed) % partitions
