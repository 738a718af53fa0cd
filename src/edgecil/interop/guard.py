"""Runs a command, and kills it with all its children once the process that started this one ends.

Started as `python guard.py SECONDS WORD …` as the leader of a process group of its own, with a pipe
as its standard input that the starting process keeps open. It ends as the command ended; after so
many seconds, unless they are 0, it stops the command and its children.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>
GRACE = 5.0  # seconds between SIGTERM and SIGKILL


def main(seconds: float, command: list[str]) -> None:
    """Run the command to its end."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
    # A signal to the group is for the command; the guard waits for its effect.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: None)
    threading.Thread(target=kill_when_orphaned, daemon=True).start()
    try:
        code = child.wait(seconds or None)
    except subprocess.TimeoutExpired:
        os.killpg(0, signal.SIGTERM)
        threading.Timer(GRACE, os.killpg, (0, signal.SIGKILL)).start()
        child.wait()
        os.killpg(0, signal.SIGKILL)
    if code >= 0:
        os._exit(code)
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)


def die_with_parent() -> None:
    """Let the system kill this process when its parent ends, even if that is killed; on Linux."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def kill_when_orphaned() -> None:
    """Wait for the end of the standard input, then kill the group."""
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
