"""Optional packages: which are missing, and how to install them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from edgecil.errors import PrerequisiteError

TRAINING = ("torch", "PIL")


def missing_packages(packages: Sequence[str]) -> list[str]:
    """Return the packages that are not installed; none is imported."""
    return [name for name in packages if find_spec(name) is None]


def require_training() -> None:
    """Raise an error with the way to install the training packages if one of them is missing."""
    missing = missing_packages(TRAINING)
    if missing:
        raise PrerequisiteError(
            f"Training requires {' and '.join(missing)}, which this Python does not have; run "
            "pip install 'edgecil[train]', or pip install '.[train]' in a clone."
        )


def import_package(name: str, extra: str, needed_by: str) -> Any:
    """Import an optional package, or raise an error that says how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise PrerequisiteError(
            f"{needed_by} requires {name}; run pip install 'edgecil[{extra}]'."
        ) from error
