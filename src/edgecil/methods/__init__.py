"""Class-incremental learners, one file each, behind one interface."""

from importlib import import_module

from edgecil.methods.entry import METHODS, MethodEntry, register_method
from edgecil.methods.method import Environment, Method
from edgecil.methods.resolve import get_method, method_names, resolve_method
from edgecil.methods.settings import PAPER, Schedule
from edgecil.methods.setups import get_schedule

__all__ = [
    "METHODS",
    "PAPER",
    "Environment",
    "Method",
    "MethodEntry",
    "Schedule",
    "get_method",
    "get_schedule",
    "method_names",
    "register_method",
    "resolve_method",
]

_LEARNERS = """
acil aper bic coda_prompt der derpp dualprompt ease er ewc fecam finetune foster hide_prompt icarl
joint l2p lucir lwf memo mos naive ranpac simplecil slca tagfex wa
"""
for _learner in _LEARNERS.split():
    import_module(f"edgecil.methods.{_learner}")  # it registers itself
