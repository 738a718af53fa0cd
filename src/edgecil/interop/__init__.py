"""Use beside the toolboxes people have."""

from edgecil.interop.exports import FORMATS, export

__all__ = ["FORMATS", "export"]
