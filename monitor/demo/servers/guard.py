"""Runs a command for as long as the process that started it lives.

Usage: ``python guard.py COMMAND ARGUMENT...`` with a pipe as standard input. The starting process holds the other end
and never writes: when it dies, even by kill -9, the pipe ends and the guard kills the command. Chosen over
PR_SET_PDEATHSIG, which fires when the *thread* that started the child ends, and which only Linux has. SIGTERM to the
process group reaches the command directly; the guard waits for it and exits with its code.

Runs by its path with ``python -I -S``, so it may import the standard library only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def main() -> int:
    """Run the command of the command line to its end."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # a handler, not SIG_IGN, which the command would inherit
    with subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL) as command:
        threading.Thread(target=_kill_when_left_alone, args=(command,), daemon=True).start()
        return command.wait()


def _kill_when_left_alone(command: subprocess.Popen[bytes]) -> None:
    while os.read(0, 1024):
        pass
    command.kill()


if __name__ == "__main__":
    sys.exit(main())
