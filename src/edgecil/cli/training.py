"""The training half's one prerequisite."""

from __future__ import annotations

from importlib.util import find_spec

from edgecil.errors import PrerequisiteError


def require_training() -> None:
    """Say in one sentence how to get torch, where it is missing."""
    missing = [name for name in ("torch", "PIL") if find_spec(name) is None]
    if missing:
        raise PrerequisiteError(
            f"Training needs what is not installed here ({', '.join(missing)}): run "
            "pip install 'edgecil[train]', or pip install '.[train]' in a clone."
        )
