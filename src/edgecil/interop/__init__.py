"""Use with other tools: PyCIL, PILOT, Avalanche, Continuum, Mammoth, and any program."""

from edgecil.interop.exports import export
from edgecil.interop.external import run_external
from edgecil.interop.logs import import_logs
from edgecil.interop.toolbox import run_toolbox

__all__ = ["export", "import_logs", "run_external", "run_toolbox"]
