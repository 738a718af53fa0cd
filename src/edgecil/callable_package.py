"""Packages that can be called like their function of the same name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import signature
from types import ModuleType
from typing import Any


def make_callable(package: str, function: Callable[..., Any]) -> None:
    """Let a call of the package call the function.

    `edgecil.sequences` is both the package, because Python binds it on import, and the function
    of the public API. `help` and notebooks show the function's signature and docstring.
    """

    class CallablePackage(ModuleType):
        """A package whose call is a call of its function."""

        def __call__(self, *arguments: Any, **options: Any) -> Any:
            return function(*arguments, **options)

    module = sys.modules[package]
    module.__class__ = CallablePackage
    module.__doc__ = function.__doc__
    module.__dict__["__signature__"] = signature(function)
