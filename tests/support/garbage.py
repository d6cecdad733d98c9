"""Garbage is looked for where a test asks for it, among what is new since the last look."""

import gc
import warnings


def collect_garbage() -> None:
    """Collect now, so that what is not closed warns here.

    What survives is not looked at again: it is ever more, and hundreds of tests ask.
    """
    gc.collect()
    gc.freeze()


def collect_sockets() -> None:
    """Kafka-python leaves the sockets of failed connections to the garbage collector: let it warn here, not later."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        collect_garbage()
