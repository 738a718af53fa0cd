"""The command line: each verb parses its options, calls the API once, and prints the answer."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from typing import Any

INTERRUPTED = 130  # the exit code after Ctrl-C


def start(module: str = "") -> int:
    """Run the command `edgecil`, or a module; Ctrl-C ends it with a sentence at every moment."""
    sys.unraisablehook = _raise_later
    try:
        from edgecil.cli.main import main

        code = main(module=module)
    except BaseException as error:
        if isinstance(error, SystemExit) or not was_interrupted(error):
            raise
        sys.stderr.write("edgecil: Interrupted.\n")
        code = INTERRUPTED
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the answer is complete
    if code == INTERRUPTED:  # Python would end itself by the signal if it came within `exec`
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(code)
    return code


def was_interrupted(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused an error, which a library may have raised in its place."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _raise_later(unraisable: Any) -> None:
    """Raise Ctrl-C again if it came where Python cannot raise, such as in `__del__`."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    else:
        sys.__unraisablehook__(unraisable)
