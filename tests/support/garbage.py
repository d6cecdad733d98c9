"""Garbage is looked for where a test asks for it, among what is new since the last look."""

import gc


def collect_garbage() -> None:
    """Collect now, so that what is not closed warns here. What survives is not looked at again: it is ever more, and
    hundreds of tests ask."""
    gc.collect()
    gc.freeze()
