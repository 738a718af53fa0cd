"""From sequences to accuracies: plan, executors, store, resume."""

from edgecil.engine.config import RunConfig, build_config, read_config
from edgecil.engine.driver import Summary, execute
from edgecil.engine.plan import Node, Plan, prefix_text
from edgecil.engine.results import Accuracies, NodeResult, RunResult
from edgecil.engine.run import run
from edgecil.engine.store import Store

__all__ = [
    "Accuracies",
    "Node",
    "NodeResult",
    "Plan",
    "RunConfig",
    "RunResult",
    "Store",
    "Summary",
    "build_config",
    "execute",
    "prefix_text",
    "read_config",
    "run",
]
