"""Worker contexts and small plans."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edgecil.experiments.config import Execution
from edgecil.experiments.plan import Node, Plan
from edgecil.methods import get_method
from edgecil.methods.setups import PAPER_MEMORY
from edgecil.methods.task import Scenario
from edgecil.sequences import ClassSequence, SequenceSpace
from edgecil.training.chains import Chain, Job, Step
from edgecil.training.executors import Executor, get_executor
from edgecil.training.node_training import WorkerContext
from tests.toys import QUICK, toy_dataset, toy_environment, toy_vit
from tests.training import strange as strange  # registers its learners

DATASET = toy_dataset(4, train=8, test=20, contrast=40)
ORDERS = list(SequenceSpace.equal(4, 2).enumerate())


def make_context(methods: Mapping[str, Mapping[str, Any]]) -> WorkerContext:
    """A worker context for some methods, with their settings."""
    configs = {
        name: get_method(name).configure(QUICK, PAPER_MEMORY, settings)
        for name, settings in methods.items()
    }
    backbones = {name: toy_vit() for name in methods if get_method(name).pretrained}
    others = dict.fromkeys(methods.keys() - backbones.keys(), "resnet-tiny")
    environment = toy_environment(DATASET)
    return WorkerContext(Scenario(DATASET), environment, configs, backbones={**backbones, **others})


def plan_of(*methods: str, sequences: list[ClassSequence] | None = None, seeds: int = 1) -> Plan:
    return Plan(methods, lambda _: range(seeds), ORDERS if sequences is None else sequences)


def executor_for(
    name: str, context: WorkerContext, folder: Path = Path(), **options: Any
) -> Executor:
    return get_executor(Execution(executor=name, **options), context, folder)


def job_of(
    *nodes: Node, before: Path | None = None, after: Path = Path("unused"), keep: bool = False
) -> Job:
    """A job with one chain; `after` is for the state after its last node."""
    *first, last = nodes
    steps = [Step(node, Path("between")) for node in first]
    return Job((Chain((*steps, Step(last, after, keep)), before),))
