"""Detects scripts that train whenever they are imported, which every worker process does."""

from __future__ import annotations

import multiprocessing

from edgecil.errors import EdgecilError, UsageError

WORKER = "edgecil-worker"  # the name of the processes that this package starts
UNGUARDED = 78  # exit code of a worker whose import of the script began to train
_ADVICE = (
    'Put the call that trains under `if __name__ == "__main__":`. Every worker process imports '
    "the script, and would otherwise run it again."
)


def refuse_while_importing() -> None:
    """End a worker process, or raise an error, if it is still importing the main script.

    A worker of this package ends without a traceback: the process that started it raises the
    error, once. In a process that another package started, the error is raised here.
    """
    process = multiprocessing.current_process()
    if not getattr(process, "_inheriting", False):  # set while a new process prepares itself
        return
    if process.name.startswith(WORKER):
        raise SystemExit(UNGUARDED)
    raise UsageError(_ADVICE)


def check_exit(code: int | None) -> None:
    """Raise an error if a worker ended because the main script trains while it is imported."""
    if code == UNGUARDED:
        raise UsageError(_ADVICE)


def start_error(ended: int, cause: str) -> EdgecilError:
    """Return the error for worker processes of which none became ready."""
    return EdgecilError(
        f"{ended} worker processes in a row ended before they were ready. {cause} Set 'workers' to "
        "1 to train in the main process, which shows the whole error."
    )
