"""Starts worker processes that import the main script only if it may define a learner.

A script that must be imported and trains whenever it is imported is an error of one sentence.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from edgecil.errors import UsageError
from edgecil.io.code import WorkerExit

if TYPE_CHECKING:
    from edgecil.training.node_training import WorkerContext

WORKER = "edgecil-worker"  # the name of the processes that this package starts
UNGUARDED = 78  # exit code of a worker whose import of the script began to train
_ADVICE = (
    'Put the call that trains under `if __name__ == "__main__":`. Every worker process imports '
    "the script for the learner that it defines, and would otherwise run it again."
)
_SAFE_PATH = "PYTHONSAFEPATH"  # of Python 3.11; any value will do, this one says who set it
_OURS = "edgecil"


def start_worker(process: Any, context: WorkerContext) -> None:
    """Start a process, which imports the main script only if that may define what it trains."""
    with safe_path(), without_interrupts():
        needs_script = any(model.is_of_script for model in context.models.values()) or any(
            _may_be_in_script(name, context) for name in context.configs
        )
        try:
            with nullcontext() if needs_script else hidden_script():
                process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise UsageError(
                f"A learner or a network cannot be sent to other processes ({error}); give a class "
                "or a function at the top level of a file that makes it."
            ) from error


@contextmanager
def hidden_script() -> Iterator[None]:
    """Start processes that do not import the main script."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")  # without a file there is no import
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def safe_path() -> Iterator[None]:
    """Start processes that get their search path from this one.

    `python -c`, with which they start, puts the working directory first: a `pickle.py` in a folder
    of somebody else would be run.
    """
    if sys.version_info < (3, 11):  # which has no such variable
        util: Any = import_module("multiprocessing.util")
        before = util._args_from_interpreter_flags
        util._args_from_interpreter_flags = lambda: [*before(), "-I"]
        try:
            yield
        finally:
            util._args_from_interpreter_flags = before
        return
    if not os.environ.get(_SAFE_PATH):
        os.environ[_SAFE_PATH] = _OURS
    try:
        yield
    finally:
        forget_safe_path()


def forget_safe_path() -> None:
    """Start further processes as usual, such as the programs that a learner of a worker starts."""
    if os.environ.get(_SAFE_PATH) == _OURS:
        del os.environ[_SAFE_PATH]


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Start processes that Ctrl-C never reaches, which also a terminal sends it to.

    A Ctrl-C that comes in the meantime is raised in this process at the end.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # which, were it to start below, would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    # Another thread may receive it all the same, and Python would raise it here.
    caught: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda *_: caught.append(1)) if main else None
    try:
        yield
    finally:
        if main:
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if caught:
            signal.raise_signal(signal.SIGINT)


def _may_be_in_script(name: str, context: WorkerContext) -> bool:
    """Return whether the main script may define a method; other files are loaded by their path."""
    from edgecil.methods import get_method

    entry = context.methods.get(name) or get_method(name)
    if entry.source is None:  # edgecil's own, or registered by the script
        return not entry.build.__module__.startswith("edgecil.")
    script = getattr(sys.modules["__main__"], "__file__", None)
    if entry.source.path is None or script is None:
        return entry.source.module is None
    return entry.source.path.resolve() == Path(script).resolve()


def refuse_while_importing() -> None:
    """End a worker process, or raise an error, if it is still importing the main script.

    A worker of this package ends without a traceback: the process that started it raises the
    error, once. In a process that another package started, the error is raised here.
    """
    process = multiprocessing.current_process()
    if not getattr(process, "_inheriting", False):  # set while a new process prepares itself
        return
    if process.name.startswith(WORKER):
        raise WorkerExit(UNGUARDED)
    raise UsageError(_ADVICE)


def check_exit(code: int | None) -> None:
    """Raise an error if a worker ended because the main script trains while it is imported."""
    if code == UNGUARDED:
        raise UsageError(_ADVICE)
