"""From sequences to accuracies: plan, executors, store, resume.

What is exported here needs no torch; `engine.run` and `engine.driver`, which train, do.
"""

from edgecil.engine.config import ExperimentConfig, build_config, read_config
from edgecil.engine.plan import Node, Plan
from edgecil.engine.results import (
    Accuracies,
    NodeResult,
    Reported,
    RunResult,
    Summary,
    WholeRun,
)
from edgecil.engine.store import Store
from edgecil.sequences.sequence import format_tasks

__all__ = [
    "Accuracies",
    "ExperimentConfig",
    "Node",
    "NodeResult",
    "Plan",
    "Reported",
    "RunResult",
    "Store",
    "Summary",
    "WholeRun",
    "build_config",
    "format_tasks",
    "read_config",
]
