"""File systems without locks: NFS that is mounted without them, and some of those in user space (FUSE)."""

from __future__ import annotations

import errno
from typing import Final

_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS})


def has_no_locks(error: OSError) -> bool:
    """Whether ``flock`` failed since the file system knows no locks.

    >>> has_no_locks(OSError(errno.ENOLCK, "No locks available")), has_no_locks(BlockingIOError(errno.EAGAIN, "busy"))
    (True, False)
    """
    return error.errno in _NO_LOCKS
