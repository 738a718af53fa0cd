"""New Python processes that take no modules from the working directory.

`python -c`, with which worker processes start, puts the working directory first in the search path:
a `pickle.py` in a folder of somebody else would be run. A process that is started here gets its
search path from the process that starts it instead. Python 3.10 has no such option.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_VARIABLE = "PYTHONSAFEPATH"  # of Python 3.11; any value will do, this one says who set it
_OURS = "edgecil"


@contextmanager
def safe_path() -> Iterator[None]:
    """Start processes of `multiprocessing`, and its resource tracker, with a safe search path."""
    if not os.environ.get(_VARIABLE):
        os.environ[_VARIABLE] = _OURS
    try:
        yield
    finally:
        forget_safe_path()


def forget_safe_path() -> None:
    """Start further processes as usual, such as the programs that a learner of a worker starts."""
    if os.environ.get(_VARIABLE) == _OURS:
        del os.environ[_VARIABLE]


@contextmanager
def outside_working_directory() -> Iterator[None]:
    """Leave the working directory for a while, unless this process takes modules from it.

    Ray searches the working directory of the process that connects to it for modules before all
    others. Python does so for a script of that directory, for `python -m` and interactively.
    """
    here = os.path.realpath(os.curdir)
    if any(os.path.realpath(entry or os.curdir) == here for entry in sys.path):
        yield
        return
    os.chdir(sys.prefix)
    try:
        yield
    finally:
        os.chdir(here)
