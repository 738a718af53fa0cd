"""What a run requires and what it would do, before anything is trained."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edgecil.data.dataset import Dataset, Examples
from edgecil.data.registry import dataset_classes, open_dataset
from edgecil.data.split import SPLITS
from edgecil.engine.config import Execution, ExperimentConfig
from edgecil.engine.directory import check_directory
from edgecil.engine.main_guard import refuse_while_importing
from edgecil.engine.plan import Node, Plan
from edgecil.engine.run import Config, Resolved, resolve
from edgecil.engine.seeds import PER_ORDER, SEEDS, SHARED
from edgecil.engine.status import elapsed_seconds, expected_seconds
from edgecil.engine.store import NoExperimentError, StoreReader
from edgecil.errors import DataError, EdgecilError, PrerequisiteError, UsageError
from edgecil.io.arrays import Ints
from edgecil.io.device import choose_device, cores, use_portable_kernels
from edgecil.io.files import user_cache
from edgecil.io.notebook import show_printed
from edgecil.io.numbers import format_duration
from edgecil.io.packages import TRAINING, missing_packages
from edgecil.sequences.given import parse_given
from edgecil.sequences.protocols import PROTOCOLS, draw_protocols, parse_protocols
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

if TYPE_CHECKING:
    from edgecil.data.items import Items

_SECONDS = 8.0  # until a trial must have ended
_ROW = 2000  # bytes of a result in the database
_FILES, _ARRAYS = 240, 4000  # training inputs of a trial, from files and from memory
_WEIGHTS = (".pt", ".pth", ".bin", ".safetensors")


@dataclass(frozen=True)
class Requirement:
    """Something that a run requires.

    Attributes:
        name: dataset, similarity, backbone, device, directory, disk or method, and which.
        available: whether it is there.
        about: where it is, or what is missing and what to do.
    """

    name: str
    available: bool
    about: str


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
        """Return the requirements, a line each, the work of each method, and the time."""
        lines = [
            f"{'found  ' if it.available else 'MISSING'} {it.name}: {it.about}"
            for it in self.requirements
        ]
        lines += (
            f"{it.method}: {it.runs} runs, {it.tasks} tasks, {it.stored} of them stored"
            for it in self.methods
        )
        return "\n".join([*lines, *self.sentences()])

    _repr_pretty_ = show_printed

    def sentences(self) -> Iterator[str]:
        """Yield the orders, the trainings, the expected time and disk space, and the verdict."""
        if self.methods:
            orders = ", ".join(f"{count} {name}" for name, count in self.orders.items())
            remaining = sum(part.tasks - part.stored for part in self.methods)
            yield f"Class orders: {orders}. To train: {remaining} tasks, {self.workers} at a time."
            reasons: dict[str, list[str]] = {}
            for it in self.methods:
                reasons.setdefault(it.unknown, []).append(it.method)
            why = "; ".join(f"{', '.join(own)}: {it}" for it, own in reasons.items() if it)
            known = "" if self.seconds is None else f"about {format_duration(self.seconds)}"
            yield f"Expected time: {known or f'unknown ({why})'}."
            used = "unknown until one was trained"
            used = (
                used
                if self.disk is None
                else f"about {self.disk / 1e6:,.1f} MB, more if networks grow"
            )
            yield f"Expected disk space with {self.states} states of learners: {used}."
        count = len(self.problems)
        yield (
            "Everything that the run requires was found."
            if self.ready
            else f"{count} requirement{'' if count == 1 else 's'} missing."
        )


def check(
    *,
    dataset: Any = None,
    out: str | Path | None = None,
    config: Config = None,
    overwrite: bool | None = None,
    **options: Any,
) -> Check:
    """Return what `run` with the same arguments requires and would do; nothing is written.

    Datasets and their splits, weights in the caches of CLIP, Hugging Face and torch, the device,
    the directory and its disk are looked for, and everything that is missing is listed with its
    remedy. Orders, runs and storage are planned without images and weights. The time comes from the
    results in `out`, or else, where inputs and weights are there, from a few batches of a first
    task: the whole check takes about ten seconds at most.

    Args:
        dataset: as for :func:`edgecil.run`, or an experiment file in its place.
        out: the experiment directory, which need not exist.
        config: as for :func:`edgecil.run`.
        overwrite: plan as if `out` held no results.
        options: the other keywords of :func:`edgecil.run`.
    """
    start = time.monotonic()
    refuse_while_importing()
    if config is None and isinstance(dataset, (str, Path)) and _is_config(str(dataset)):
        dataset, config = None, dataset
    given = {"dataset": dataset, **options}
    asked = resolve(config, given, out=out, overwrite=overwrite, needs_out=False)
    return _Checker(asked, start).check()


def _is_config(text: str) -> bool:
    return text.startswith("recipe:") or text.lower().endswith((".toml", ".json"))


class _Checker:
    """Collects requirements, and plans from whatever is there."""

    def __init__(self, asked: Resolved, start: float) -> None:
        self._config, self._execution = asked.config, asked.execution
        self._out = None if asked.overwrite and not asked.out.parts else asked.out
        self._overwrite, self._goal = asked.overwrite, asked.goal
        self._start = start
        self._found: list[Requirement] = []

    def check(self) -> Check:
        """Look for everything, plan, and measure what can be measured."""
        config, training = self._config, self._config.training
        missing = missing_packages(TRAINING)
        if missing:
            self._add("packages", f"{' and '.join(missing)}: pip install 'edgecil[train]'", False)
        else:
            use_portable_kernels(precision=training.precision, device=training.device)
        opened, names = self._dataset()
        self._similarity()
        self._device(trains=not missing)
        if self._out is not None:
            with self._trying("directory"):
                check_directory(self._out)
        if names is None:
            return Check(tuple(self._found))
        space = config.space(len(names))
        if self._goal is not None and config.budget is not None:
            config = self._config = replace(config, budget=min(config.budget, space.size))
        orders = _plan_orders(config, space, names)
        every = [sequence for group in orders.values() for sequence in group]
        plan = Plan(config.method_names, config.seeds, every)
        if self._execution.part is not None:
            plan = plan.shard(*self._execution.part)
        backbones = {} if missing else self._backbones(opened)
        measured, sizes = self._stored(space, backbones)
        stored = measured.keys() & set(plan)
        once: dict[str, float] = {}
        unknown: dict[str, str] = {}
        known = {node.method for node in measured}
        methods = [name for name in config.method_names if name not in known]
        if methods and opened is not None and not any(not it.available for it in self._found):
            with self._trying("methods"):
                trial = _Trial(config, self._execution, opened, plan, self._start + _SECONDS)
                for number, method in enumerate(methods):
                    unknown[method] = trial.measure(method, len(methods) - number)
                measured, once = {**measured, **trial.seconds}, trial.once
                sizes += trial.sizes
        remaining = [node for node in plan if node not in stored]
        expected = _with_first_times(expected_seconds(remaining, measured), once)
        threads = max(1, cores() // training.threads)
        workers = self._execution.workers or (threads if training.device != "cuda" else 1)
        depth = max((len(run.prefix) for run in plan.runs), default=0)
        states = workers * max(depth - 1, 0)
        sizes = sizes or self._expected_sizes(backbones, _shape(opened, config))
        disk = None
        if sizes or not states:
            disk = states * max(sizes, default=0) + _ROW * len(plan)
            place = Path(self._out or ".").absolute()
            while not place.exists():
                place = place.parent
            free = shutil.disk_usage(place).free
            self._add("disk", f"{free / 1e9:,.1f} GB are free", free > disk)
        parts = []
        for method in config.method_names:
            nodes = [node for node in plan if node.method == method]
            durations = [expected[node] for node in nodes if node not in stored]
            timed = None not in durations
            reason = unknown.get(method) or "nothing could be measured yet"
            parts.append(
                PlannedMethod(
                    method,
                    sum(run.method == method for run in plan.runs),
                    len(nodes),
                    sum(node in stored for node in nodes),
                    sum(seconds or 0.0 for seconds in durations) if timed else None,
                    "" if timed else reason,
                )
            )
        return Check(
            tuple(self._found),
            tuple(parts),
            {name: len(group) for name, group in orders.items()},
            workers,
            elapsed_seconds(expected, workers),
            states,
            disk,
        )

    def _add(self, name: str, about: str, available: bool = True) -> None:
        self._found.append(Requirement(name, available, about))

    @contextmanager
    def _trying(self, name: str) -> Iterator[None]:
        """Note an error as something that is missing."""
        try:
            yield
        except EdgecilError as error:
            self._add(name, str(error), False)

    def _dataset(self) -> tuple[Dataset | Items | None, tuple[str, ...] | None]:
        """Return the dataset as far as it is here, and the names of the experiment's classes."""
        config, data = self._config, self._config.data
        name = f"dataset {config.dataset}"
        opened = None
        try:
            opened = open_dataset(config.dataset, root=data.root)
            train, test = _split_labels(opened)
            notes = () if isinstance(opened, Dataset) else opened.notes
            self._add(name, _describe_counts(opened.name, len(train), len(test), notes))
            every: Sequence[str] = opened.names
        except (PrerequisiteError, DataError) as error:
            if data.download:
                self._add(name, "it is not here yet; the run downloads it")
            else:
                self._add(name, str(error), False)
            try:
                every = dataset_classes(config.dataset).labels
            except EdgecilError:
                return None, None
        return opened, tuple(every[index] for index in data.select(len(every)))

    def _similarity(self) -> None:
        """Note whether the similarity of the classes can be had, if a protocol uses one."""
        from edgecil.similarity.clip import tokenizer_status
        from edgecil.similarity.encoders import ENCODERS, cached_weights, encoder_status

        config, asked = self._config, self._config.similarity
        drawn = [PROTOCOLS[it] for it in config.protocol_names if it not in config.sequences]
        if not any(it.needs_similarity for it in drawn):
            return
        for path in (asked.file, asked.embeddings, asked.names):
            if isinstance(path, str):
                is_there = Path(path).is_file()
                self._add(f"similarity {path}", "" if is_there else "no such file", is_there)
        if asked.file is None and asked.embeddings is None:
            status = encoder_status(asked.encoder)
            given = asked.weights is not None and Path(asked.weights).expanduser().exists()
            about = status.sentence if status.available or given else _with_caches(status.sentence)
            self._add(f"encoder {asked.encoder}", about, status.available or given)
            entry = ENCODERS[ENCODERS.resolve(asked.encoder)]
            if entry.kind == "clip":
                weights = Path(str(asked.weights)).expanduser() if given else cached_weights(entry)
                there, about = tokenizer_status(weights)
                self._add("tokenizer of CLIP", about, there)

    def _device(self, *, trains: bool) -> None:
        if not trains:
            return
        wanted = self._config.training.device
        with self._trying("device"):
            remote = self._execution.executor == "ray"
            device = wanted if remote else choose_device(wanted)
            about = "of the Ray cluster" if remote else f"{cores()} processor cores, no GPU is used"
            if device.startswith("cuda") and not remote:
                import torch

                free, total = torch.cuda.mem_get_info()
                about = f"{torch.cuda.get_device_name()}, {free / 1e9:.0f} of {total / 1e9:.0f} GB"
            self._add(f"device {device}", about)

    def _backbones(self, opened: Dataset | Items | None) -> dict[str, str]:
        """Return the network of each method, and note whether its weights are here."""
        from edgecil.backbones import backbone_status
        from edgecil.engine.prepare import choose_backbone
        from edgecil.methods import get_method

        backbones: dict[str, str] = {}
        for spec in self._config.method:
            with self._trying(f"method {spec}"):
                entry = get_method(spec)
                shape = _shape(opened, self._config)
                backbones[entry.name] = choose_backbone(entry, self._config, shape)
        for name in dict.fromkeys(backbones.values()):
            with self._trying(f"backbone {name}"):
                available, about = backbone_status(name)
                about = about if available else _with_caches(about)
                self._add(f"backbone {name}", about, available)
        return backbones

    def _stored(
        self, space: SequenceSpace, backbones: Mapping[str, str]
    ) -> tuple[dict[Node, float], list[int]]:
        """Return seconds of the stored task trainings, and the sizes of stored states in bytes."""
        if self._out is None or self._overwrite:
            return {}, []
        from edgecil.engine.prepare import configure
        from edgecil.methods import get_method

        config = self._config
        identity: dict[str, Any] = {
            "sizes": list(space.sizes),
            SEEDS: SHARED if config.shares_seed else PER_ORDER,
        }
        for spec in config.method if backbones else ():
            entry = get_method(spec)
            with self._trying(f"method {entry.name}"):
                own = configure(entry, config, backbones[entry.name])
                identity[f"method {entry.name}"] = asdict(own)
        with (
            self._trying("directory"),
            suppress(NoExperimentError),
            StoreReader(self._out) as store,
        ):
            store.compare_identity(identity)
            seconds = {node: result.seconds for node, result in store.done().items()}
            states = (self._out / "states").glob("*.pt")
            return seconds, [path.stat().st_size for path in states]
        return {}, []

    def _expected_sizes(self, backbones: Mapping[str, str], shape: tuple[int, ...]) -> list[int]:
        """Return the bytes of the networks that are trained from scratch, which states contain."""
        from edgecil.backbones.registry import BACKBONES, build_backbone

        sizes = []
        for name in set(backbones.values()) & set(BACKBONES):
            with suppress(EdgecilError):
                network = build_backbone(name, shape)
                sizes.append(4 * sum(parameter.numel() for parameter in network.parameters()))
        return sizes


def _split_labels(opened: Dataset | Items) -> tuple[Ints, Ints]:
    """Return the labels of the training and of the test inputs."""
    if isinstance(opened, Dataset):
        return opened.train.labels, opened.test.labels
    return opened.labels[~opened.testing], opened.labels[opened.testing]


def _describe_counts(name: str, train: int, test: int, notes: Sequence[str] = ()) -> str:
    """Return the sizes of both parts, and whether they are published ones, or notes on them."""
    counts = f"{train:,} training and {test:,} test inputs"
    if notes:
        return f"{counts}. {' '.join(notes)}"
    published = SPLITS.get(name)
    if published is None:
        return counts
    for whose, expected in published.items():
        if (train, test) == expected:
            return f"{counts}, the {whose} split"
    listed = " or ".join(f"{a:,} and {b:,} ({whose})" for whose, (a, b) in published.items())
    return f"{counts}; published: {listed}. Results are of another split"


def _with_caches(sentence: str) -> str:
    """Add the weight files in the caches of CLIP and torch, which can be given by their path."""
    torch_home = Path(os.environ.get("TORCH_HOME") or user_cache() / "torch")
    folders = (user_cache() / "clip", torch_home / "hub" / "checkpoints")
    files = [path for it in folders if it.is_dir() for path in sorted(it.iterdir())]
    listed = [str(path) for path in files if path.suffix in _WEIGHTS]
    if not listed:
        return sentence
    return f"{sentence} Weights in caches, to be given by their path: {', '.join(listed)}."


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
        shared = config.budget if PROTOCOLS[name].takes_budget or len(protocols) == 1 else None
        budget = shared if own is None else own
        if PROTOCOLS[name].needs_similarity or PROTOCOLS[name].asks_model:
            count = PROTOCOLS[name].default_budget if budget is None else budget
            orders[name] = space.sample(count, np.random.default_rng([1, len(orders)]))
        else:
            drawn = draw_protocols({name: budget}, space, order_seed=config.order_seed)
            orders[name] = [it.sequence for it in drawn[name]]
    return orders


def _with_first_times(
    expected: Mapping[Node, float | None], once: Mapping[str, float]
) -> dict[Node, float | None]:
    """Add what each different task costs once to the expected seconds, spread evenly."""
    nodes: dict[str, list[Node]] = {}
    for node in expected:
        nodes.setdefault(node.method, []).append(node)
    added = {
        method: once.get(method, 0.0) * len({node.prefix[-1] for node in own}) / len(own)
        for method, own in nodes.items()
    }
    return {
        node: None if seconds is None else seconds + added[node.method]
        for node, seconds in expected.items()
    }


class _Trial:
    """Trains a first task on few of its inputs, and scales the time to all of them.

    It is trained twice: the second time, what sequences share (features, adapters) is there
    already. A training that does not end in time is scaled by its steps.

    Attributes:
        seconds: by the first node of a run of each method.
        once: seconds that a task costs in addition when it is trained for the first time.
        sizes: bytes of the states.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        execution: Execution,
        opened: Dataset | Items,
        plan: Plan,
        end: float,
    ) -> None:
        from edgecil.engine.prepare import load_context

        self._first = {root.method: root for root in reversed(plan.roots)}
        self._end, self._share = end, execution.share
        ids = config.data.select(len(opened.names))[list(plan.roots[0].prefix[0])]
        self._inputs = int(np.isin(_split_labels(opened)[0], ids).sum())
        most = _ARRAYS if isinstance(opened, Dataset) else _FILES
        few = _few(opened, ids, max(2, most // len(ids)), config)
        self._scale = self._inputs / len(few.train)
        _, _, _, self._context = load_context(config, images=few, storage="memory")
        self.seconds: dict[Node, float] = {}
        self.once: dict[str, float] = {}
        self.sizes: list[int] = []

    def measure(self, method: str, methods: int) -> str:
        """Measure a method, one of so many that are left; return why it could not be measured."""
        from torch.optim.optimizer import register_optimizer_step_post_hook

        from edgecil.engine.node_training import TooLongError, at_most, train_node

        if method not in self._first:
            return ""
        limit = max(0.5, (self._end - time.monotonic()) / methods)
        node = Node(method, 0, (tuple(range(len(self._context.scenario.names))),))
        self._context.prepare()
        times: list[float] = []
        steps: list[float] = []
        hook = register_optimizer_step_post_hook(lambda *_: steps.append(time.perf_counter()))
        with tempfile.TemporaryDirectory(prefix="edgecil-") as folder:
            shared = folder if self._share else None
            environment = replace(self._context.environment, shared=shared)
            context = replace(self._context, environment=environment)
            try:
                with at_most(limit):
                    for _ in range(2):
                        outcome, state = train_node(context, node, None, keep=True)
                        if outcome.permanent:  # a run would refuse it, too
                            raise UsageError((outcome.error or "").partition(": ")[2])
                        if outcome.result is None or state is None:
                            return f"a trial failed with {outcome.error}"
                        times.append(self._scale * outcome.result.seconds)
                        self.sizes.append(len(state))
            except TooLongError:
                pass
            finally:
                hook.remove()
        if not times:
            total = _steps(context.configs[method], self._inputs)
            if len(steps) < 2 or total is None:
                return "its first task took too long to be measured"
            times = [total * (steps[-1] - steps[0]) / (len(steps) - 1)]
        self.seconds[self._first[method]] = times[-1]
        self.once[method] = max(0.0, times[0] - times[-1])
        return ""


def _few(opened: Dataset | Items, ids: Ints, each: int, config: ExperimentConfig) -> Dataset:
    """Return at most `each` training and test inputs of some classes."""
    if isinstance(opened, Dataset):
        taken = opened.take(ids)
        parts = (_first(taken.train.labels, each), _first(taken.test.labels, each))
        train, test = (
            Examples(part.inputs[kept], part.labels[kept])
            for part, kept in zip((taken.train, taken.test), parts, strict=True)
        )
        return Dataset(taken.name, taken.names, train, test)
    kept = np.zeros(len(opened.labels), dtype=bool)
    for part in (opened.testing, ~opened.testing):
        places = np.flatnonzero(part)
        kept[places[_first(opened.labels[places], each)]] = True
    chosen = np.flatnonzero(kept)
    few = replace(
        opened,
        items=[opened.items[int(index)] for index in chosen],
        labels=opened.labels[chosen],
        testing=opened.testing[chosen],
    )
    return few.read(ids, config.data.image_size, "memory")


def _first(labels: Ints, each: int) -> Ints:
    """Return the places of the first inputs of each class, in their order."""
    by_class = (np.flatnonzero(labels == label)[:each] for label in np.unique(labels))
    return np.sort(np.concatenate(list(by_class)))


def _steps(config: Any, inputs: int) -> int | None:
    """Return the training steps of a task, by the schedule among a method's settings."""
    for value in vars(config).values():
        if hasattr(value, "epochs") and hasattr(value, "batch_size"):
            return int(value.epochs) * -(-inputs // int(value.batch_size))
    return None
