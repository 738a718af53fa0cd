"""Use with other tools: PyCIL, PILOT, Avalanche, Continuum, Mammoth, and any program."""

from edgecil.interop.configs import read_toolbox_config
from edgecil.interop.exports import FORMATS, export, format_exports
from edgecil.interop.external import run_external
from edgecil.interop.log_import import import_logs
from edgecil.interop.toolbox import run_toolbox

__all__ = [
    "FORMATS",
    "export",
    "format_exports",
    "import_logs",
    "read_toolbox_config",
    "run_external",
    "run_toolbox",
]
