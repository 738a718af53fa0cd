"""What a run requires and what it would do, before anything is trained."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from edgecil.errors import EdgecilError
from edgecil.experiments.config import GROUPS, Data
from edgecil.experiments.config_values import Config, is_config
from edgecil.experiments.plan import Node, Plan
from edgecil.experiments.status import elapsed_seconds
from edgecil.experiments.store import NoExperimentError, StoreReader
from edgecil.io.device import choose_device, cores, use_portable_kernels
from edgecil.io.directory import check_owner
from edgecil.io.notebook import show_printed
from edgecil.io.numbers import format_duration
from edgecil.io.packages import TRAINING, missing_packages
from edgecil.options import checked, place_in_groups
from edgecil.recipes import COMPARE_SIMILARITIES, RECIPE_PREFIX, read_experiment_file
from edgecil.sequences.sequence import ClassSequence
from edgecil.training.check_similarities import check_similarities
from edgecil.training.main_guard import refuse_while_importing
from edgecil.training.planner import Inspection, inspect
from edgecil.training.requirements import Requirement, Requirements
from edgecil.training.run import DatasetLike, RunRequest, read_request
from edgecil.training.trials import MethodTrial, expected_durations, try_methods

_SECONDS = 8.0  # until a trial must have ended
_ROW = 2000  # bytes of a result in the database
_NOT_MEASURED = "nothing could be measured yet"


@dataclass(frozen=True)
class PlannedMethod:
    """The task trainings of one method.

    Attributes:
        method: the method's name.
        runs: sequences times repeats.
        tasks: task trainings; sequences that begin with the same tasks and seed share them.
        stored: task trainings whose results are stored already.
        seconds: expected duration of the others, one after another; None if nothing was measured.
        unknown: why it is not known.
    """

    method: str
    runs: int
    tasks: int
    stored: int
    seconds: float | None
    unknown: str = ""


@dataclass(frozen=True, repr=False)
class Check:
    """What a call of `run` requires and would do.

    Attributes:
        requirements: all that it requires, found or missing.
        methods: the work by method; empty if the classes of the dataset are unknown.
        orders: number of class orders by protocol.
        workers: number of trainings at the same time.
        seconds: expected time from start to end; None if a method could not be measured.
        states: number of states of learners that are on disk at the same time, at most.
        disk: expected bytes of results and states, each as large as after the first task; None if
            no state could be measured.
    """

    requirements: tuple[Requirement, ...]
    methods: tuple[PlannedMethod, ...] = ()
    orders: Mapping[str, int] = field(default_factory=dict)
    workers: int = 1
    seconds: float | None = None
    states: int = 0
    disk: int | None = None

    @property
    def problems(self) -> tuple[Requirement, ...]:
        """What is missing."""
        return tuple(requirement for requirement in self.requirements if not requirement.available)

    @property
    def ready(self) -> bool:
        """Whether nothing is missing."""
        return not self.problems

    def __repr__(self) -> str:
        tasks = sum(part.tasks for part in self.methods)
        return f"<Check: {tasks} task trainings, {len(self.problems)} problems>"

    def __str__(self) -> str:
        """Return the requirements, a line each, the work of each method, and the verdict."""
        return "\n".join(self._lines())

    _repr_pretty_ = show_printed

    def _lines(self) -> Iterator[str]:
        for requirement in self.requirements:
            word = "found  " if requirement.available else "MISSING"
            yield f"{word} {requirement.name}: {requirement.about}"
        for part in self.methods:
            duration = ""
            if part.seconds is not None:
                duration = f", {format_duration(part.seconds)} of training"
            yield (
                f"{part.method}: {part.runs} runs, {part.tasks} tasks, {part.stored} "
                f"stored{duration}"
            )
        if self.methods:
            yield from self._totals()
        count = len(self.problems)
        missing = f"{count} requirement{'' if count == 1 else 's'} missing."
        yield missing if count else "Everything that the run requires was found."

    def _totals(self) -> Iterator[str]:
        """Yield orders, duration and disk space of all methods together."""
        orders = ", ".join(f"{count} {name}" for name, count in self.orders.items())
        remaining = sum(part.tasks - part.stored for part in self.methods)
        yield f"Class orders: {orders}. To train: {remaining} tasks, {self.workers} at a time."
        if self.seconds is None:
            reasons = dict.fromkeys(part.unknown for part in self.methods if part.unknown)
            yield f"Expected time: unknown ({'; '.join(reasons)})."
        else:
            yield f"Expected time: about {format_duration(self.seconds)}."
        space = "unknown until one was trained"
        if self.disk is not None:
            space = f"about {self.disk / 1e6:,.1f} MB, more if networks grow"
        yield f"Expected disk space with {self.states} states of learners: {space}."


@checked
def check(
    dataset: DatasetLike | None = None,
    *,
    out: str | Path | None = None,
    config: Config = None,
    overwrite: bool | None = None,
    **options: Any,
) -> Check:
    """Return what `run` with the same arguments requires and would do; nothing is written.

    A file or recipe with similarities to compare is checked for what this comparison requires.

    Datasets and their splits, weights in the caches of CLIP, Hugging Face and torch, the device,
    the directory and its disk are looked for, and everything that is missing is listed with its
    remedy. Orders, runs and storage are planned without images and weights. The time comes from the
    results in `out`, or else, where inputs and weights are there, from a few batches of a first
    task: the whole check takes about ten seconds at most.

    Args:
        dataset: as for :func:`edgecil.run`, or an experiment file in its place.
        out: the experiment directory, which need not exist; by default as for :func:`edgecil.run`.
        config: as for :func:`edgecil.run`.
        overwrite: plan as if `out` held no results.
        options: the other keywords of :func:`edgecil.run`.
    """
    end = time.monotonic() + _SECONDS
    refuse_while_importing()
    if config is None and dataset is not None and is_config(dataset):
        dataset, config = None, dataset
    options = place_in_groups(options, GROUPS)
    if isinstance(config, (str, Path)) and _has_similarities(config):
        root = Data.options_in(options.get("data")).get("root")
        return Check(tuple(check_similarities(config, root)))
    request = read_request(config, {"dataset": dataset, **options}, out=out, overwrite=overwrite)
    requirements = Requirements()
    _note_packages(request, requirements)
    inspection = inspect(request.config, requirements)
    _note_device(request, requirements)
    with requirements.trying("directory"):
        check_owner(request.out, "experiment")
    if inspection is None:
        return Check(tuple(requirements))
    if request.goal is not None and inspection.config.budget is not None:
        budget = min(inspection.config.budget, inspection.space.size)
        inspection = replace(inspection, config=replace(inspection.config, budget=budget))
    for name in dict.fromkeys(inspection.networks.values()):
        with requirements.trying(f"backbone {name}"):
            requirements.add_backbone(name)
    return _check_plan(request, inspection, requirements, end)


def _check_plan(
    request: RunRequest, inspection: Inspection, requirements: Requirements, end: float
) -> Check:
    """Return what remains to be done; trials may last until `end`."""
    orders = inspection.expected_orders()
    plan = _plan(request, inspection, orders)
    stored = _Stored()
    if not request.overwrite:
        with requirements.trying("directory"), suppress(NoExperimentError):
            stored = _read_stored(inspection, request.out)
    remaining = [node for node in plan if node not in stored.finished]
    trials = _try_unmeasured(inspection, plan, remaining, stored, requirements, end)
    expected = expected_durations(remaining, stored.seconds, plan, trials)
    measured = {node.method for node in stored.seconds} | {
        name for name, trial in trials.items() if trial.seconds
    }
    parts = []
    for method in inspection.config.method_names:
        of_method = [node for node in remaining if node.method == method]
        unknown = ""
        if of_method and method not in measured:
            unknown = trials.get(method, MethodTrial(unknown=_NOT_MEASURED)).unknown
        tasks = sum(node.method == method for node in plan)
        seconds = None if unknown else sum(expected[node] for node in of_method)
        runs = sum(run.method == method for run in plan.runs)
        parts.append(PlannedMethod(method, runs, tasks, tasks - len(of_method), seconds, unknown))
    training = inspection.config.training
    by_threads = max(1, cores() // training.threads) if training.device != "cuda" else 1
    workers = request.execution.workers or by_threads
    states = workers * max(max((len(run.prefix) for run in plan.runs), default=1) - 1, 0)
    sizes = [
        *stored.state_sizes,
        *(trial.state_size for trial in trials.values() if trial.state_size),
    ]
    sizes = sizes or _network_sizes(inspection)
    disk = None
    if sizes or not states:
        disk = states * max(sizes, default=0) + _ROW * len(plan)
        free = _free_space(request.out)
        requirements.add("disk", f"{free / 1e9:,.1f} GB are free", free > disk)
    return Check(
        tuple(requirements),
        tuple(parts),
        {name: len(sequences) for name, sequences in orders.items()},
        workers,
        None if any(part.unknown for part in parts) else elapsed_seconds(expected, workers),
        states,
        disk,
    )


def _plan(
    request: RunRequest, inspection: Inspection, orders: Mapping[str, Sequence[ClassSequence]]
) -> Plan:
    """Return the task trainings of a run, or of the part of it that was asked for."""
    config = inspection.config
    every_sequence = [sequence for sequences in orders.values() for sequence in sequences]
    plan = Plan(config.method_names, config.seeds, every_sequence)
    part = request.execution.part
    return plan if part is None else plan.shard(*part)


def _try_unmeasured(
    inspection: Inspection,
    plan: Plan,
    remaining: Sequence[Node],
    stored: _Stored,
    requirements: Requirements,
    end: float,
) -> dict[str, MethodTrial]:
    """Try the methods of which nothing is stored, if nothing is missing."""
    measured = {node.method for node in stored.seconds}
    waiting = {node.method for node in remaining}
    methods = [root.method for root in plan.roots if root.method in waiting - measured]
    is_ready = inspection.opened is not None and all(
        requirement.available for requirement in requirements
    )
    if methods and is_ready:
        with requirements.trying("methods"):
            return try_methods(inspection, plan, list(dict.fromkeys(methods)), end)
    return {}


def _has_similarities(config: str | Path) -> bool:
    """Return whether a TOML file or a recipe has the options of `paper compare-similarities`."""
    is_toml = Path(config).suffix.lower() == ".toml" or str(config).startswith(RECIPE_PREFIX)
    return is_toml and read_experiment_file(config)[0].verb == COMPARE_SIMILARITIES


def _note_packages(request: RunRequest, requirements: Requirements) -> None:
    """Note missing packages; with all of them, use the kernels of a run."""
    training = request.config.training
    missing = missing_packages(TRAINING)
    if missing:
        requirements.add(
            "packages", f"{' and '.join(missing)}: pip install 'edgecil[train]'", False
        )
    else:
        use_portable_kernels(precision=training.precision, device=training.device)


def _note_device(request: RunRequest, requirements: Requirements) -> None:
    """Note the device that trains."""
    if missing_packages(TRAINING):
        return
    device = request.config.training.device
    with requirements.trying("device"):
        if request.execution.executor == "ray":
            requirements.add(f"device {device}", "of the Ray cluster")
            return
        device = choose_device(device)
        if not device.startswith("cuda"):
            requirements.add(f"device {device}", f"{cores()} processor cores, no GPU is used")
            return
        import torch

        free, total = torch.cuda.mem_get_info()
        room = f"{free / 1e9:.0f} of {total / 1e9:.0f} GB"
        requirements.add(f"device {device}", f"{torch.cuda.get_device_name()}, {room}")


@dataclass(frozen=True)
class _Stored:
    """What a directory has: seconds of trainings, finished nodes, and sizes of states in bytes."""

    seconds: Mapping[Node, float] = field(default_factory=dict)
    finished: frozenset[Node] = frozenset()
    state_sizes: Sequence[int] = ()


def _read_stored(inspection: Inspection, out: Path) -> _Stored:
    """Return what a directory has; one with other settings is an error."""
    with StoreReader(out) as store:
        store.compare_identity(inspection.identity())
        seconds = {node: result.seconds for node, result in store.done().items()}
        of_whole_runs = {node for run in store.whole_runs() for node in run.path}
    sizes = [path.stat().st_size for path in (out / "states").glob("*.pt")]
    return _Stored(seconds, frozenset({*seconds, *of_whole_runs}), sizes)


def _network_sizes(inspection: Inspection) -> list[int]:
    """Return the bytes of the networks that are trained from scratch, which states contain."""
    if not inspection.learners:
        return []
    from edgecil.backbones.named import BACKBONES, build_backbone

    sizes = []
    for name in set(inspection.networks.values()) & set(BACKBONES):
        with suppress(EdgecilError):
            network = build_backbone(name, inspection.shape)
            sizes.append(4 * sum(parameter.numel() for parameter in network.parameters()))
    return sizes


def _free_space(directory: Path) -> int:
    """Return the free bytes on the disk of a directory, which need not exist yet."""
    place = directory.absolute()
    existing = next(folder for folder in (place, *place.parents) if folder.exists())
    return shutil.disk_usage(existing).free
