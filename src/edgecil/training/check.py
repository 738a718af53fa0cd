"""What a run requires and what it would do, before anything is trained."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from edgecil.classes import ClassList
from edgecil.data.dataset import Dataset
from edgecil.data.integrity import doubts_about, inspect_dataset, inspect_files
from edgecil.data.load import dataset_classes
from edgecil.errors import EdgecilError, PrerequisiteError, UsageError
from edgecil.experiments.chosen_similarity import experiment_similarity
from edgecil.experiments.config import GROUPS, Data, ExperimentConfig
from edgecil.experiments.config_values import Config, is_config
from edgecil.experiments.plan import Node, Plan
from edgecil.experiments.status import elapsed_seconds, expected_seconds
from edgecil.experiments.store import NoExperimentError, StoreReader
from edgecil.io.arrays import Ints
from edgecil.io.device import choose_device, cores, use_portable_kernels
from edgecil.io.directory import check_owner
from edgecil.io.notebook import show_printed
from edgecil.io.numbers import format_duration
from edgecil.io.packages import TRAINING, missing_packages
from edgecil.options import checked, place_in_groups
from edgecil.recipes import COMPARE_SIMILARITIES, RECIPE_PREFIX, read_experiment_file
from edgecil.runs.training_seeds import PER_ORDER, SEEDS, SHARED
from edgecil.sequences.given import parse_given
from edgecil.sequences.protocols import PROTOCOLS, parse_protocols
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.training.check_similarities import check_similarities
from edgecil.training.main_guard import refuse_while_importing
from edgecil.training.requirements import Requirement, Requirements, split_labels
from edgecil.training.run import DatasetLike, Resolved, resolve

if TYPE_CHECKING:
    from edgecil.data.items import Items
    from edgecil.training.node_training import WorkerContext

_SECONDS = 8.0  # until a trial must have ended
_ROW = 2000  # bytes of a result in the database
_FILES, _ARRAYS = 240, 4000  # training inputs of a trial, from files and from memory
_WHOLE = 20_000  # training inputs of a dataset in memory with all of which trials are made
_EVALUATED = 100  # runs of an order-free learner in a trial
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
        return tuple(it for it in self.requirements if not it.available)

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
        for one in self.requirements:
            yield f"{'found  ' if one.available else 'MISSING'} {one.name}: {one.about}"
        for it in self.methods:
            time = "" if it.seconds is None else f", {format_duration(it.seconds)} of training"
            yield f"{it.method}: {it.runs} runs, {it.tasks} tasks, {it.stored} stored{time}"
        if self.methods:
            orders = ", ".join(f"{count} {name}" for name, count in self.orders.items())
            remaining = sum(part.tasks - part.stored for part in self.methods)
            yield f"Class orders: {orders}. To train: {remaining} tasks, {self.workers} at a time."
            why = "; ".join(dict.fromkeys(it.unknown for it in self.methods if it.unknown))
            known = "" if self.seconds is None else f"about {format_duration(self.seconds)}"
            yield f"Expected time: {known or f'unknown ({why})'}."
            used = "unknown until one was trained"
            if self.disk is not None:
                used = f"about {self.disk / 1e6:,.1f} MB, more if networks grow"
            yield f"Expected disk space with {self.states} states of learners: {used}."
        count = len(self.problems)
        missing = f"{count} requirement{'' if count == 1 else 's'} missing."
        yield missing if count else "Everything that the run requires was found."


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
    given = {"dataset": dataset, **options}
    asked = resolve(config, given, out=out, overwrite=overwrite)
    directory = asked.out
    found = Requirements()
    setting, opened, names = _find(asked, directory, found)
    if names is None:
        return Check(tuple(found))
    execution, training = asked.execution, setting.training
    space = setting.space(names)
    if asked.goal is not None and setting.budget is not None:
        setting = replace(setting, budget=min(setting.budget, space.size))
    orders = _plan_orders(setting, space, names)
    plan = Plan(setting.method_names, setting.seeds, [it for own in orders.values() for it in own])
    if execution.part is not None:
        plan = plan.shard(*execution.part)
    shape = _shape(opened, setting)
    backbones = {} if missing_packages(TRAINING) else _find_backbones(setting, shape, found)
    measured: dict[Node, float] = {}
    finished: set[Node] = set()
    sizes: list[int] = []
    if directory is not None and not asked.overwrite:
        with found.trying("directory"), suppress(NoExperimentError):
            measured, finished, sizes = _read_stored(setting, space, backbones, directory)
    left = [node for node in plan if node not in finished]
    trials: dict[str, _Trial] = {}
    first = {root.method: root for root in reversed(plan.roots)}
    known = {node.method for node in measured}
    new = [name for name in first if name not in known and name in {it.method for it in left}]
    if new and opened is not None and all(it.available for it in found):
        with found.trying("methods"):
            trials = _try_methods(setting, opened, plan, new, end)
    sizes += [trial.size for trial in trials.values() if trial.size]
    for name, trial in trials.items():
        places = zip(_first_run(plan, name).path, trial.seconds, strict=False)
        measured |= dict(places)
    expected = expected_seconds(left, measured)
    for node in {(it.method, it.prefix[-1]): it for it in expected}.values():
        expected[node] += trials[node.method].once if node.method in trials else 0.0
    for name, trial in trials.items():
        if name in first and expected and trial.at_first:
            expected[first[name]] = expected.get(first[name], 0.0) + trial.at_first
    parts = []
    for method in setting.method_names:
        own = [node for node in left if node.method == method]
        unknown = ""
        if own and not any(node.method == method for node in measured):
            unknown = trials[method].unknown if method in trials else _NOT_MEASURED
        tasks = sum(node.method == method for node in plan)
        seconds = None if unknown else sum(expected[node] for node in own)
        runs = sum(run.method == method for run in plan.runs)
        parts.append(PlannedMethod(method, runs, tasks, tasks - len(own), seconds, unknown))
    threads = max(1, cores() // training.threads)
    workers = execution.workers or (threads if training.device != "cuda" else 1)
    states = workers * max(max((len(run.prefix) for run in plan.runs), default=1) - 1, 0)
    sizes = sizes or _network_sizes(backbones, shape)
    disk = None
    if sizes or not states:
        disk = states * max(sizes, default=0) + _ROW * len(plan)
        place = Path(directory or ".").absolute()
        free = shutil.disk_usage(next(it for it in (place, *place.parents) if it.exists())).free
        found.add("disk", f"{free / 1e9:,.1f} GB are free", free > disk)
    return Check(
        tuple(found),
        tuple(parts),
        {name: len(own) for name, own in orders.items()},
        workers,
        None if any(part.unknown for part in parts) else elapsed_seconds(expected, workers),
        states,
        disk,
    )


def _has_similarities(config: str | Path) -> bool:
    """Return whether a TOML file or a recipe has the options of `paper compare-similarities`."""
    is_toml = Path(config).suffix.lower() == ".toml" or str(config).startswith(RECIPE_PREFIX)
    return is_toml and read_experiment_file(config)[0].verb == COMPARE_SIMILARITIES


def _find(
    asked: Resolved, directory: Path | None, found: Requirements
) -> tuple[ExperimentConfig, Dataset | Items | None, tuple[str, ...] | None]:
    """Return the configuration, without probes if no similarity, the dataset and class names."""
    config, training = asked.config, asked.config.training
    missing = missing_packages(TRAINING)
    if missing:
        found.add("packages", f"{' and '.join(missing)}: pip install 'edgecil[train]'", False)
    else:
        use_portable_kernels(precision=training.precision, device=training.device)
    opened, names = _find_dataset(config, found)
    if names is not None:
        config = config.suited_to(config.space(names))
    config = _find_similarity(config, opened, names, found)
    if not missing:
        with found.trying("device"):
            found.add(*_describe_device(training.device, remote=asked.execution.executor == "ray"))
    if directory is not None:
        with found.trying("directory"):
            check_owner(directory, "experiment")
    return config, opened, names


def _find_dataset(
    config: ExperimentConfig, found: Requirements
) -> tuple[Dataset | Items | None, tuple[str, ...] | None]:
    opened = found.add_dataset(config.dataset, config.data.root)
    try:
        every = dataset_classes(config.dataset).labels if opened is None else opened.names
    except EdgecilError:
        return None, None
    chosen = config.data.select(len(every))
    if opened is not None:
        _find_doubts(opened, chosen, config.data.allow_leak, found)
    return opened, tuple(every[index] for index in chosen)


def _find_doubts(
    opened: Dataset | Items, chosen: Ints, reason: str | None, found: Requirements
) -> None:
    """Note what is doubtful about the data, of image files without decoding them."""
    integrity = (
        inspect_dataset(opened.take(chosen))
        if isinstance(opened, Dataset)
        else inspect_files(opened, chosen)
    )
    if integrity is not None:
        with found.trying("data"):
            for sentence in doubts_about(integrity, reason):
                found.add("data", sentence)


def _find_similarity(
    config: ExperimentConfig,
    opened: Dataset | Items | None,
    names: tuple[str, ...] | None,
    found: Requirements,
) -> ExperimentConfig:
    asked = config.similarity
    drawn = [PROTOCOLS[it] for it in config.protocol_names if it not in config.sequences]
    by_inputs = isinstance(opened, Dataset) and not opened.channels
    if not any(it.needs_similarity and not (it.by_inputs and by_inputs) for it in drawn):
        return config
    classes = None if names is None else ClassList(config.dataset, names)
    if (file := asked.file or asked.embeddings) is not None:
        with found.trying(f"similarity {file}"):
            if classes is not None:
                count = len(experiment_similarity(config, classes))
                found.add(f"similarity {file}", f"{count} classes, matched to the dataset's")
        return config
    if (fewer := config.without_probes()) is not None and classes is not None:
        try:
            experiment_similarity(config, classes)
        except PrerequisiteError as error:
            found.add("similarity", f"none, so only random orders are run, without probes: {error}")
            return fewer
    found.add_encoder(asked.encoder, asked.weights)
    return config


def _describe_device(device: str, *, remote: bool) -> tuple[str, str]:
    if remote:
        return f"device {device}", "of the Ray cluster"
    device = choose_device(device)
    if not device.startswith("cuda"):
        return f"device {device}", f"{cores()} processor cores, no GPU is used"
    import torch

    free, total = torch.cuda.mem_get_info()
    room = f"{free / 1e9:.0f} of {total / 1e9:.0f} GB"
    return f"device {device}", f"{torch.cuda.get_device_name()}, {room}"


def _find_backbones(
    config: ExperimentConfig, shape: tuple[int, ...], found: Requirements
) -> dict[str, str]:
    """Return the network of each method, and note whether its weights are here."""
    from edgecil.methods import get_method
    from edgecil.training.planner import choose_backbone

    backbones: dict[str, str] = {}
    for spec in config.method:
        with found.trying(f"method {spec}"):
            entry = get_method(spec)
            backbones[entry.name] = choose_backbone(entry, config, shape)
    for name in dict.fromkeys(backbones.values()):
        with found.trying(f"backbone {name}"):
            found.add_backbone(name)
    return backbones


def _read_stored(
    config: ExperimentConfig, space: SequenceSpace, backbones: Mapping[str, str], out: Path
) -> tuple[dict[Node, float], set[Node], list[int]]:
    """Return seconds of stored trainings, all finished nodes, and sizes of states in bytes."""
    from edgecil.methods import get_method
    from edgecil.training.planner import configure

    identity: dict[str, Any] = {
        "sizes": list(space.sizes),
        SEEDS: SHARED if config.shares_seed else PER_ORDER,
    }
    for spec in config.method if backbones else ():
        entry = get_method(spec)
        identity[f"method {entry.name}"] = asdict(configure(entry, config, backbones[entry.name]))
    with StoreReader(out) as store:
        store.compare_identity(identity)
        seconds = {node: result.seconds for node, result in store.done().items()}
        whole = {node for run in store.whole_runs() for node in run.path}
    sizes = [path.stat().st_size for path in (out / "states").glob("*.pt")]
    return seconds, {*seconds, *whole}, sizes


def _network_sizes(backbones: Mapping[str, str], shape: tuple[int, ...]) -> list[int]:
    """Return the bytes of the networks that are trained from scratch, which states contain."""
    from edgecil.backbones.named import BACKBONES, build_backbone

    sizes = []
    for name in set(backbones.values()) & set(BACKBONES):
        with suppress(EdgecilError):
            network = build_backbone(name, shape)
            sizes.append(4 * sum(parameter.numel() for parameter in network.parameters()))
    return sizes


def _shape(opened: Dataset | Items | None, config: ExperimentConfig) -> tuple[int, ...]:
    """Return the shape of inputs; without them, that of colour images in their usual size."""
    if isinstance(opened, Dataset):
        return opened.shape
    channels = 3 if opened is None else opened.channels or 3
    usual = 32 if config.dataset.startswith("cifar") else 224
    size = config.data.image_size or (usual if opened is None else opened.size or usual)
    return channels, size, size


def _plan_orders(
    config: ExperimentConfig, space: SequenceSpace, names: Sequence[str]
) -> dict[str, Sequence[ClassSequence]]:
    """Return orders of every protocol; random ones stand for those that a similarity decides."""
    protocols = parse_protocols(config.protocol, own=config.sequences)
    orders: dict[str, Sequence[ClassSequence]] = {}
    for name, own in protocols.items():
        if name in config.sequences:
            orders[name] = [it.sequence for it in parse_given(config.sequences[name], space, names)]
            continue
        protocol = PROTOCOLS[name]
        shared = config.budget if protocol.takes_budget or len(protocols) == 1 else None
        budget = shared if own is None else own
        if protocol.needs_similarity or protocol.asks_model:
            count = protocol.check_budget(budget, space)
            orders[name] = space.sample(count, np.random.default_rng([1, len(orders)]))
        else:
            drawn = protocol.draw(space, budget=budget, order_seed=config.order_seed)
            orders[name] = [it.sequence for it in drawn]
    return orders


class _Trial(NamedTuple):
    """Seconds of the first tasks of a run, and what else is known about a method.

    `once` are further seconds when a task is trained for the first time in any run, `at_first`
    those of the first run alone, and `size` the bytes of a state.
    """

    seconds: Sequence[float] = ()
    once: float = 0.0
    at_first: float = 0.0
    size: int = 0
    unknown: str = ""


def _first_run(plan: Plan, method: str) -> Node:
    """Return the first run of a method."""
    return next(run for run in plan.runs if run.method == method)


def _try_methods(
    config: ExperimentConfig,
    opened: Dataset | Items,
    plan: Plan,
    methods: Sequence[str],
    end: float,
) -> dict[str, _Trial]:
    """Train until a moment: whole runs if all data are in memory, else a part of a first task."""
    from edgecil.training.planner import load_context

    is_whole = isinstance(opened, Dataset) and len(split_labels(opened)[0]) <= _WHOLE
    classes = plan.roots[0].prefix[0]
    ids = config.data.select(len(opened.names))[list(classes)]
    inputs = int(np.isin(split_labels(opened)[0], ids).sum())
    few = None
    if not is_whole and isinstance(opened, Dataset):
        few = opened.take(ids[: max(1, _ARRAYS * len(ids) // inputs)])
    elif not isinstance(opened, Dataset):
        each = max(2, _FILES // len(ids))
        few = _first_items(opened, each).read(ids, config.data.image_size)
    context = load_context(config, images=few)[-1]
    context.prepare()
    trials = {}
    for number, method in enumerate(methods):
        limit = max(0.5, (end - time.monotonic()) / (len(methods) - number))
        with tempfile.TemporaryDirectory(prefix="edgecil-") as folder:
            own = replace(context, environment=replace(context.environment, shared=folder))
            if few is not None:
                trial = _try_run(own, Node(method, 0, (tuple(range(len(ids))),)), inputs, limit)
                trials[method] = _scaled(trial, inputs / len(few.train))
            elif own.entry(method).order_free:
                trials[method] = _try_orders(own, method, plan, Path(folder), limit)
            else:
                trials[method] = _try_run(own, _first_run(plan, method), inputs, limit)
    return trials


def _scaled(trial: _Trial, factor: float) -> _Trial:
    """Return a trial with few inputs as it would be with more."""
    seconds = [factor * second for second in trial.seconds]
    return trial._replace(seconds=seconds, once=factor * trial.once)


def _try_run(context: WorkerContext, run: Node, inputs: int, limit: float) -> _Trial:
    """Train the first tasks of a run, as far as time permits.

    The first one is trained twice: the second time, what sequences share (features, adapters) is
    there already. A training that does not end in time is scaled by its steps.
    """
    from torch.optim.optimizer import register_optimizer_step_post_hook

    from edgecil.training.node_training import TooLongError, at_most, learn_node, packed

    import_module("torch._dynamo")  # as optimizers do; an import that is cut off stays broken

    times: list[float] = []
    once = 0.0
    steps: list[float] = []
    size = 0
    state: Any = None
    hook = register_optimizer_step_post_hook(lambda *_: steps.append(time.perf_counter()))
    try:
        with suppress(TooLongError), at_most(limit):
            for node in (run.path[0], *run.path):
                start = time.perf_counter()
                before = None if len(node.prefix) == 1 else state
                outcome, state = learn_node(context, node, before, keep=True)
                if outcome.permanent:  # a run would refuse it, too
                    raise UsageError((outcome.error or "").partition(": ")[2])
                if outcome.result is None or state is None:
                    return _Trial(unknown=f"a trial failed with {outcome.error}")
                seconds = time.perf_counter() - start
                if size == 0:
                    size = len(packed(state))
                    once = seconds
                else:
                    times.append(seconds)
    finally:
        hook.remove()
    if not times and once:  # it was trained once
        return _Trial((once,), size=size)
    schedule = getattr(context.configs[run.method], "schedule", None)
    if not times and schedule is not None and len(steps) > 1:
        total = schedule.count_steps(inputs)
        return _Trial((total * (steps[-1] - steps[0]) / (len(steps) - 1),))
    if not times:
        return _Trial(unknown="its first task took too long to be measured")
    return _Trial(times, max(0.0, once - times[0]), size=size)


def _try_orders(
    context: WorkerContext, method: str, plan: Plan, folder: Path, limit: float
) -> _Trial:
    """Score all classes, and evaluate some runs from these scores."""
    from edgecil.experiments.store import Store
    from edgecil.training.executors.local import InProcess
    from edgecil.training.node_training import TooLongError, at_most, score_classes
    from edgecil.training.order_evaluation import evaluate_orders, save_scores
    from edgecil.training.scheduler import Observer

    runs = [run for run in plan.runs if run.method == method][:_EVALUATED]
    labels = context.scenario.test.labels.cpu().numpy()
    with suppress(TooLongError), at_most(limit), Store(folder / "trial") as store:
        start = time.perf_counter()
        outcome = score_classes(context, runs[0])
        if outcome.permanent:
            raise UsageError((outcome.error or "").partition(": ")[2])
        if outcome.scores is None:
            return _Trial(unknown=f"a trial failed with {outcome.error}")
        scored = time.perf_counter()
        save_scores(store, method, outcome.scores, outcome.worker)
        own = Plan.of(runs)
        evaluate_orders(own, [method], labels, store, InProcess(context), Observer())
        each = (time.perf_counter() - scored) / len(own)
        return _Trial([each] * len(runs[0].prefix), at_first=scored - start)
    return _Trial(unknown="its scores took too long to be measured")


def _first_items(items: Items, each: int) -> Items:
    """Return at most `each` training and test items of every class."""
    parts = 2 * items.labels + items.testing
    places = (np.flatnonzero(parts == part)[:each] for part in np.unique(parts))
    kept = np.sort(np.concatenate(list(places)))
    few = [items.items[int(index)] for index in kept]
    return replace(items, items=few, labels=items.labels[kept], testing=items.testing[kept])
