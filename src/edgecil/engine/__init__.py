"""From sequences to accuracies: plan, executors, store, resume.

What is exported here needs no torch; `engine.run` and `engine.driver`, which train, do.
"""

from edgecil.engine.config import RunConfig, build_config, read_config
from edgecil.engine.plan import Node, Plan, prefix_text
from edgecil.engine.results import (
    Accuracies,
    NodeResult,
    Reported,
    RunResult,
    Summary,
    WholeRun,
)
from edgecil.engine.store import Store

__all__ = [
    "Accuracies",
    "Node",
    "NodeResult",
    "Plan",
    "Reported",
    "RunConfig",
    "RunResult",
    "Store",
    "Summary",
    "WholeRun",
    "build_config",
    "prefix_text",
    "read_config",
]
