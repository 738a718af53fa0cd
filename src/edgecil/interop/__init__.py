"""Use with other tools: PyCIL, PILOT, Avalanche, Continuum, Mammoth, and any program."""

from edgecil.interop.exports import (
    FORMATS,
    ExportedSequences,
    export,
    export_sequences,
    format_exports,
)
from edgecil.interop.external import run_external
from edgecil.interop.log_import import import_logs
from edgecil.interop.toolbox import run_toolbox

__all__ = [
    "FORMATS",
    "ExportedSequences",
    "export",
    "export_sequences",
    "format_exports",
    "import_logs",
    "run_external",
    "run_toolbox",
]
