"""The names of this station, which `lazy_loader` imports at their first use."""

from .config import (
    Data as Data,
    Execution as Execution,
    ExperimentConfig as ExperimentConfig,
    Training as Training,
)
from .config_values import build_config as build_config, read_config as read_config
from .experiment import Experiment as Experiment, TrainingFailedError as TrainingFailedError
from .plan import Node as Node, Plan as Plan
from .results import (
    NodeResult as NodeResult,
    Reported as Reported,
    RunResult as RunResult,
    WholeRun as WholeRun,
)
from .status import Status as Status
from .store import Store as Store
