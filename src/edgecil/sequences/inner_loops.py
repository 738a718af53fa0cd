"""Inner loops: plain Python while they are short, compiled by numba from then on.

Loading numba takes longer than a small problem, and compiling takes seconds on a machine that has
not done it before. A process therefore runs its first steps in Python. Both ways give the same
result, bit for bit. Machine code is kept on disk.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any, ParamSpec, TypeVar

STEPS_IN_PYTHON = 300_000
"""Steps of inner loops that a process takes in Python; about as long as it takes to load numba."""

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Function = TypeVar("_Function", bound=Callable[..., Any])
_parts: list[Callable[..., Any]] = []
_steps_taken = 0


def inner_loop(function: _Function) -> _Function:
    """Mark a function that can be compiled, and called from compiled ones."""
    _parts.append(function)
    return function


def fast(function: Callable[_Arguments, _Result], steps: float) -> Callable[_Arguments, _Result]:
    """Return an inner loop as it is if `steps`, its rough length, is short; else compiled."""
    global _steps_taken
    _steps_taken += min(int(steps), STEPS_IN_PYTHON + 1)
    if _steps_taken <= STEPS_IN_PYTHON and "numba" not in sys.modules:
        return function
    return compiled(function)


@cache
def compiled(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Return the compiled function; its machine code is made at the first call."""
    from numba import njit
    from numba.extending import register_jitable

    options = {"nogil": True, "error_model": "numpy"}
    while _parts:
        register_jitable(**options)(_parts.pop())
    result: Callable[_Arguments, _Result] = njit(cache=True, **options)(function)
    return result
