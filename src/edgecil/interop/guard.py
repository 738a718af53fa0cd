"""Runs a command, and stops it with all its children once the process that started this one ends.

Started as `python guard.py SECONDS GRACE WORD …` as the leader of a process group of its own, with
a pipe as its standard input that the starting process keeps open. It ends with the exit code of the
command. If the pipe is closed, or after SECONDS unless they are 0, it stops the command and its
children, and kills the whole group, also itself, after GRACE seconds.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>


def main(seconds: float, grace: float, command: list[str]) -> None:
    """Run the command to its end."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
    # A signal to the group is for the command; the guard waits for its effect.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, frame: None)
    stopping = threading.Event()

    def stop() -> None:
        stopping.set()
        os.killpg(0, signal.SIGTERM)
        end = time.monotonic() + grace
        while child.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        os.killpg(0, signal.SIGKILL)

    def stop_when_orphaned() -> None:
        while os.read(0, 1):
            pass
        stop()

    threading.Thread(target=stop_when_orphaned, daemon=True).start()
    if seconds:
        threading.Timer(seconds, stop).start()
    code = child.wait()
    while stopping.is_set():
        signal.pause()  # until the kill
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


if __name__ == "__main__":
    main(float(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
