"""Reports: sentences, tables, figures and one HTML page from an analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgecil.report.write import Report, write_report

__all__ = ["Report", "write_report"]


def __getattr__(name: str) -> Any:
    """Import the report when it is first used, so that single figures stay quick to import."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from edgecil.report import write

    return getattr(write, name)
