"""The training half's one prerequisite."""

from __future__ import annotations

from importlib.util import find_spec

from edgecil.errors import PrerequisiteError


def require_training() -> None:
    """Say in one sentence how to get torch, where it is missing."""
    missing = [name for name in ("torch", "PIL") if find_spec(name) is None]
    if missing:
        raise PrerequisiteError(
            f"Training needs {' and '.join(missing)}, which are not installed: run "
            "pip install 'edgecil[train]'."
        )
