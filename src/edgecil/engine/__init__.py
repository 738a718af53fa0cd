"""From class sequences to results: configuration, plan, executors, store, experiment.

Everything exported here imports without torch; training imports it when it starts.
"""

from edgecil.engine.config import Data, Execution, ExperimentConfig, Training
from edgecil.engine.config_values import (
    build_config,
    build_execution,
    config_text,
    merge_options,
    read_config,
)
from edgecil.engine.experiment import (
    Experiment,
    TrainingFailedError,
    stored_answers,
)
from edgecil.engine.metrics import METRICS, Counts, Metric, metric
from edgecil.engine.plan import Node, Plan
from edgecil.engine.progress import RunningTask
from edgecil.engine.results import NodeResult, Reported, RunResult, Summary, WholeRun
from edgecil.engine.run_files import read_runs, write_runs
from edgecil.engine.runs import Orders, Runs
from edgecil.engine.status import Failure, ProtocolStatus, Status
from edgecil.engine.store import Store, StoreReader
from edgecil.engine.stored_similarity import save_experiment_similarity
from edgecil.sequences.sequence import format_tasks

__all__ = [
    "METRICS",
    "Counts",
    "Data",
    "Execution",
    "Experiment",
    "ExperimentConfig",
    "Failure",
    "Metric",
    "Node",
    "NodeResult",
    "Orders",
    "Plan",
    "ProtocolStatus",
    "Reported",
    "RunResult",
    "RunningTask",
    "Runs",
    "Status",
    "Store",
    "StoreReader",
    "Summary",
    "Training",
    "TrainingFailedError",
    "WholeRun",
    "build_config",
    "build_execution",
    "config_text",
    "format_tasks",
    "merge_options",
    "metric",
    "read_config",
    "read_runs",
    "save_experiment_similarity",
    "stored_answers",
    "write_runs",
]
