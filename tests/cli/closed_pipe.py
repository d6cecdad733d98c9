"""A command whose output nobody reads: the reader of its pipe has closed it."""

import os
import subprocess
import sys


def code_without_reader(*words: str) -> int:
    """The exit code of groupwatch with these words. What it writes to stdout and stderr fails."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "monitor.cli", *words]
        return subprocess.run(command, stdout=writer, stderr=writer, check=False, timeout=120).returncode
    finally:
        os.close(writer)
