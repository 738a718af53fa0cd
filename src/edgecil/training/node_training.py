"""Training of one node: the same in this process, in a worker process, and on a cluster."""

from __future__ import annotations

import hashlib
import io
import os
import platform
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch

from edgecil.backbones.model_slot import SlotModel, supply_model
from edgecil.backbones.pretrained import supply_weights
from edgecil.errors import EdgecilError, first_line
from edgecil.experiments.plan import Node
from edgecil.experiments.results import ClassCounts, NodeResult, TaskConfusion
from edgecil.io.arrays import Floats
from edgecil.io.code import exit_sentence, file_use
from edgecil.io.device import configure_compilation, use_portable_kernels, use_precision
from edgecil.io.file_reads import ReadFiles, recording
from edgecil.methods import Environment, Method, MethodEntry, get_method
from edgecil.methods.plain_learner import LearnerError
from edgecil.methods.task import Scenario, Split, derive_generator
from edgecil.methods.training_loop import check_finite
from edgecil.runs.identity import PROCESSOR
from edgecil.training.handshake import differences, gpu_identity, worker_identity
from edgecil.training.learner_checks import MOST_CHANGED, LearnerChecks, check_learner
from edgecil.training.order_free import StageCounter
from edgecil.training.task_learning import LearnedInputs, with_learning

State = dict[str, Any]


@dataclass(frozen=True, eq=False)
class WorkerContext:
    """Data and settings that a worker needs besides the node; by method or network their name."""

    scenario: Scenario  # the dataset, in the memory of the host
    environment: Environment  # of methods; its seed is replaced by the node's
    configs: Mapping[str, Any]
    threads: int = 1  # of torch; they change the order of sums, and so results
    methods: Mapping[str, MethodEntry] = field(default_factory=dict)  # that are not edgecil's
    expected: Mapping[str, str] | None = None  # identity of a worker; None if it is not checked
    allow_mismatch: bool = False  # train also where it differs, and say so in the outcome
    weights: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)  # files for workers
    backbones: Mapping[str, str] = field(default_factory=dict)  # others have the environment's
    models: Mapping[str, SlotModel] = field(default_factory=dict)
    handed: dict[Node, State] = field(default_factory=dict)  # the state after the last job
    begun: float = field(default_factory=time.time)
    unchecked: frozenset[str] = frozenset()  # learners whose first task shows what they rely on
    answered: dict[str, LearnerError | None] = field(default_factory=dict)  # by learner, its error

    def prepare(self) -> None:
        """Configure this process so that its results equal every other process's."""
        use_portable_kernels(precision=self.environment.precision, device=self.environment.device)
        use_precision(self.environment.precision)
        configure_compilation()
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.set_num_threads(self.threads)
        if self.environment.compile:
            torch.use_deterministic_algorithms(True, warn_only=True)
        else:  # the same without the compiler, whose import takes seconds
            torch.set_deterministic_debug_mode("warn")
        # Results are the same, and small networks train 5 to 15 % faster.
        torch.utils.deterministic.fill_uninitialized_memory = False
        for name, files in self.weights.items():
            supply_weights(name, files)
        for model in self.models.values():
            supply_model(model)

    @cached_property
    def unequal(self) -> dict[str, str]:
        """In what this process differs from the expected identity."""
        if self.expected is None:
            return {}
        scenario = self.scenario if "dataset" in self.expected else None
        actual = worker_identity(self.networks, scenario, here=True)
        return differences(self.expected, actual | gpu_identity(self.environment.device))

    @property
    def interactive(self) -> list[str]:
        """Learners and networks that only this process has: a notebook defines their code."""
        entries = self.methods.values()
        names = [
            entry.name
            for entry in entries
            if entry.source is not None and entry.source.is_interactive
        ]
        return names + [model.text for model in self.models.values() if model.is_interactive]

    @property
    def networks(self) -> tuple[str, ...]:
        """Names of all networks."""
        return tuple(dict.fromkeys(self.backbones.values() or (self.environment.backbone,)))

    def hand_on(self, node: Node, after: bytes | State | None) -> None:
        """Keep the state after a node for the next job; what was packed is read again."""
        if after is not None and not isinstance(after, bytes):
            self.handed[node] = after

    def take_handed(self, node: Node) -> State | None:
        """Return the state before a node if it is in memory; another attempt reads it packed."""
        handed = None if node.parent is None else self.handed.get(node.parent)
        self.handed.clear()
        return handed

    def entry(self, method: str) -> MethodEntry:
        """Return the registry's entry of a method."""
        return self.methods.get(method) or get_method(method)

    def is_foreign(self, method: str) -> bool:
        """Return whether a learner is not part of edgecil."""
        return method in self.methods

    def noting_files(self, method: str) -> AbstractContextManager[None]:
        """Note the files that a learner of the user opens in the meantime."""
        source = self.methods[method].source if self.is_foreign(method) else None
        return nullcontext() if source is None else recording(file_use(source))

    def files_of(self, method: str) -> ReadFiles:
        """Return the files that a learner of the user has read from its own folder so far."""
        source = self.methods[method].source if self.is_foreign(method) else None
        if source is None:
            return ReadFiles()
        shared = self.environment.shared
        results = [] if shared is None else [Path(shared).parent]
        return file_use(source).files(besides=source.paths, outside=results, since=self.begun)

    def is_due_for_checks(self, node: Node) -> bool:
        """Return whether a node is the first one at which its learner can be checked.

        Two classes are the fewest that answers can confuse.
        """
        before = sum(map(len, node.prefix[:-1]))
        seen = before + len(node.prefix[-1])
        is_new = node.method in self.unchecked and node.method not in self.answered
        return is_new and before < 2 <= seen

    def build(self, node: Node) -> Method:
        """Return the node's method, untrained."""
        backbone = self.backbones.get(node.method, self.environment.backbone)
        environment = replace(self.environment, seed=node.seed, backbone=backbone)
        return self.entry(node.method).build(self.configs[node.method], environment)


@dataclass(frozen=True)
class Outcome:
    """The result or the failure of a node."""

    result: NodeResult | None = None
    error: str | None = None  # in one line
    trace: str | None = None
    damaged: bool = False  # the parent's state could not be read
    permanent: bool = False  # another attempt cannot succeed
    refused: bool = False  # the worker's identity differs
    worker: Mapping[str, str] = field(default_factory=dict)  # in what it differs, if allowed
    scores: Floats | None = None  # (n_test, classes) of an order-free learner
    memory: int = 0  # peak in bytes on the worker's device; on a processor that of the worker
    room: int = 0  # bytes of its GPU that torch has in this process or could still have
    out_of_memory: bool = False
    checks: LearnerChecks | None = None  # of a learner that is not part of edgecil
    files: ReadFiles = field(
        default_factory=ReadFiles
    )  # that such a learner has read from its own folder


def failure(message: str, *, damaged: bool = False, refused: bool = False) -> Outcome:
    """Return the outcome of a training that failed outside the learner."""
    return Outcome(error=message, trace=message, damaged=damaged, refused=refused)


def train_node(
    context: WorkerContext, node: Node, before: bytes | State | None, *, keep: bool
) -> tuple[Outcome, bytes | None]:
    """Return what :func:`learn_node` does, with the state as it is stored."""
    outcome, after = learn_node(context, node, before, keep=keep)
    return outcome, None if after is None else packed(after)


def learn_node(
    context: WorkerContext, node: Node, before: bytes | State | None, *, keep: bool
) -> tuple[Outcome, bytes | State | None]:
    """Do what :func:`_learn_node` does, and note the files that a learner of the user reads."""
    with context.noting_files(node.method):
        outcome, after = _learn_node(context, node, before, keep=keep)
    return replace(outcome, files=context.files_of(node.method)), after


def _learn_node(
    context: WorkerContext, node: Node, before: bytes | State | None, *, keep: bool
) -> tuple[Outcome, bytes | State | None]:
    """Learn the node's last task from the state before it and test on all tasks so far.

    The state after it, which is returned if it is kept, lacks what no later task reads. A learner
    that is not part of edgecil always continues from its packed state, so that what is in it is
    checked; it gets the test inputs in a random order, and what it keeps of them is lost.
    """
    start = time.perf_counter()
    if (refusal := _refusal(context)) is not None:
        return refusal, None
    on_gpu = context.environment.device.startswith("cuda")
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    foreign = context.is_foreign(node.method)
    try:
        if (objection := context.answered.get(node.method)) is not None:
            raise objection
        method = context.build(node)
        if before is not None:
            try:
                state_before = unpack(before) if isinstance(before, bytes) else before
            except Exception:
                message = "The state after the previous task is damaged; run again to repair it."
                return failure(message, damaged=True), None
            method.restore(state_before)
        scenario = context.scenario.on(context.environment.device)
        everything = method.sees_everything
        with scenario.task(node.prefix, node.seed, everything=everything) as task:
            method.learn(task)
            learned = LearnedInputs.of(task)
        check_finite(_parameters(method), "by the end of the training")
        before_test = method.state() if foreign else None
        images = _test_inputs(scenario, node, shuffled=foreign)
        labels = method.classify(images.inputs)
        correct, totals, confusion = _count(method, images, labels, node)
        after: bytes | State | None = None
        if keep:
            state = method.state() if before_test is None else before_test
            state = {k: v for k, v in state.items() if k not in method.only_for_predictions}
            after = pack(state) if foreign else state
        seconds = time.perf_counter() - start
        checks = None
        if before_test is not None:
            if context.is_due_for_checks(node):
                checks = _check(context, node, method, before_test, images, labels)
            if method.trains:  # training inputs are not predicted by what has seen test inputs
                method = _restored(context, node, before_test)
                learned = learned.shuffled(_test_order(node))
        untrained = context.build(node) if learned.is_first and method.trains else None
        result = NodeResult.per_class(correct, totals, seconds, _peak_memory(), confusion)
        result = with_learning(result, method, untrained, learned, images)
    except (Exception, SystemExit) as error:
        return _failed(context, node, error), None
    memory = torch.cuda.max_memory_reserved() if on_gpu else result.peak_memory
    room = torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved() if on_gpu else 0
    outcome = Outcome(result, worker=context.unequal, memory=memory, room=room, checks=checks)
    return outcome, after


def _check(
    context: WorkerContext,
    node: Node,
    method: Method,
    state: State,
    images: Split,
    labels: Mapping[str, torch.Tensor],
) -> LearnerChecks:
    """Check a learner once in this process; an error stands for all its further trainings."""
    adapts = context.entry(node.method).adapts
    restore = partial(_restored, context, node, state)
    try:
        checks = check_learner(method, node.method, images.inputs, labels, restore, adapts=adapts)
    except LearnerError as error:
        context.answered[node.method] = error
        raise
    context.answered[node.method] = None
    return checks


def _restored(context: WorkerContext, node: Node, state: State) -> Method:
    """Return a new learner from a state as it is read from a file."""
    method = context.build(node)
    method.restore(_repacked(state, node.method))
    return method


def _repacked(state: State, name: str) -> State:
    """Return a state as it is read from a file."""
    packed_state = pack(state)
    try:
        return unpack(packed_state)
    except Exception as error:
        raise LearnerError(
            f"The state of {name} cannot be read again ({first_line(error)}); use tensors, "
            "numbers, strings, lists and dictionaries."
        ) from error


def score_classes(context: WorkerContext, node: Node) -> Outcome:
    """Return the scores of an order-free learner for all test images and classes.

    One of the user gets the test images in a random order and without their labels; in its first
    call, the scores must give what it predicts after its first task.
    """
    with context.noting_files(node.method):
        outcome = _score_classes(context, node)
    return replace(outcome, files=context.files_of(node.method))


def _score_classes(context: WorkerContext, node: Node) -> Outcome:
    if (refusal := _refusal(context)) is not None:
        return refusal
    try:
        method = context.build(node)
        scenario = context.scenario.on(context.environment.device)
        checks = None
        if context.is_foreign(node.method):
            order = torch.randperm(len(scenario.test.labels), generator=_test_order(node))
            hidden = scenario.with_test_order(order).without_test_labels()
            scores = method.scores(hidden).cpu().double()[torch.argsort(order)].numpy()
            first = node.path[0]
            if context.is_due_for_checks(first):
                learned, _ = _learn_node(context, first, None, keep=False)
                if learned.result is None:
                    return learned
                _check_scores(scores, scenario, first, learned.result)
                checks = learned.checks
        else:
            scores = method.scores(scenario).cpu().double().numpy()
    except (Exception, SystemExit) as error:
        return _failed(context, node, error)
    return Outcome(scores=scores, worker=context.unequal, memory=_peak_memory(), checks=checks)


def _check_scores(scores: Floats, scenario: Scenario, node: Node, result: NodeResult) -> None:
    """Raise an error if scores (n_test, classes) give other right answers than a first task."""
    counter = StageCounter(scores, scenario.test.labels.cpu().numpy())
    [counts] = counter.count([node.prefix])
    [task] = node.prefix
    by_scores = int(counts.correct[0, list(task)].sum())
    [predicted] = next(iter(result.correct.values()))
    [count] = result.totals
    if abs(by_scores - predicted) > max(1, MOST_CHANGED * count):
        raise LearnerError(
            f"The scores of {node.method} give {by_scores} right answers on the {count} test "
            f"inputs of the first task, its predictions {predicted}; set `order_free` to False, or "
            "let `classify` name the classes with the largest scores."
        )


def _refusal(context: WorkerContext) -> Outcome | None:
    """Return the outcome of a worker whose results would differ; None if they do not."""
    refused = {name: text for name, text in context.unequal.items() if name != PROCESSOR}
    if not refused or context.allow_mismatch:
        return None
    unequal = ", ".join(f"{name} is {text}" for name, text in refused.items())
    message = f"The worker on {platform.node()} was refused because its results would differ"
    return failure(f"{message}: {unequal}.", refused=True)


def _failed(context: WorkerContext, node: Node, error: Exception | SystemExit) -> Outcome:
    """Return the outcome of a training that raised, or that called `sys.exit`."""
    permanent = isinstance(error, EdgecilError)
    if isinstance(error, SystemExit):
        line = exit_sentence(node.method, error)
    else:
        line = type(error).__name__
        if str(error):
            line += f": {error if permanent else first_line(error)}"
    entry = context.methods.get(node.method)
    place = entry.source.place(error) if entry is not None and entry.source else ""
    if place and not permanent:  # an error of edgecil is complete as it is
        line += f" ({place})"
    short = isinstance(error, torch.OutOfMemoryError)
    trace = "".join(traceback.format_exception(error))
    return Outcome(error=line, trace=trace, permanent=permanent, out_of_memory=short)


def packed(state: bytes | State) -> bytes:
    """Return a state as it is stored."""
    return state if isinstance(state, bytes) else pack(state)


class TooLongError(BaseException):
    """A training has taken longer than it may; learners that catch errors do not catch it."""


@contextmanager
def at_most(seconds: float | None) -> Iterator[None]:
    """Raise :class:`TooLongError` after some seconds, in the main thread of a process."""
    if seconds is None or not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: object) -> None:
        raise TooLongError(f"The training was stopped after {seconds:g} s.")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _parameters(method: Method) -> Iterator[torch.Tensor]:
    """Yield parameters of a method's networks, and its own tensors of floating-point numbers."""
    for value in vars(method).values():
        if isinstance(value, torch.nn.Module):
            yield from value.parameters()
        elif isinstance(value, torch.Tensor) and value.is_floating_point():
            yield value


_HEADER = b"edgecil state 1\n"
_DIGEST = hashlib.sha256().digest_size


def pack(state: Mapping[str, Any]) -> bytes:
    """Return a method's state as bytes, with a checksum."""
    buffer = io.BytesIO()
    torch.save(dict(state), buffer)
    content = buffer.getvalue()
    return _HEADER + hashlib.sha256(content).digest() + content


def unpack(data: bytes) -> dict[str, Any]:
    """Return the inverse of :func:`pack`; no code from the bytes is executed."""
    start = len(_HEADER) + _DIGEST
    digest, content = data[len(_HEADER) : start], data[start:]
    if not data.startswith(_HEADER) or hashlib.sha256(content).digest() != digest:
        raise ValueError("The state differs from its checksum.")
    state: dict[str, Any] = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    return state


def _test_inputs(scenario: Scenario, node: Node, *, shuffled: bool) -> Split:
    """Return the test inputs of all classes so far, class by class or in a random order."""
    order = tuple(class_ for task in node.prefix for class_ in task)
    return scenario.test.only(order, _test_order(node) if shuffled else None)


def _test_order(node: Node) -> torch.Generator:
    """Return the generator of the order in which a learner gets its test inputs."""
    return derive_generator("cpu", node.seed, node.prefix, "order of test inputs")


def _count(
    method: Method, images: Split, labels: Mapping[str, torch.Tensor], node: Node
) -> tuple[dict[str, ClassCounts], ClassCounts, dict[str, TaskConfusion]]:
    """By classifier the right answers on each class, the number of images, and the confusion."""
    seen = torch.tensor(method.seen, device=images.labels.device)
    answers = {name: seen[labels[name].to(seen.device)] for name in method.classifiers}
    correct = {
        name: _count_classes(images.labels[named == images.labels], node)
        for name, named in answers.items()
    }
    confusion = {
        name: _count_confusion(images.labels, named, node) for name, named in answers.items()
    }
    return correct, _count_classes(images.labels, node), confusion


def _count_classes(labels: torch.Tensor, node: Node) -> ClassCounts:
    """Return how often each class of each task occurs among the labels."""
    counts = torch.bincount(labels.cpu(), minlength=1 + max(map(max, node.prefix))).tolist()
    return tuple(tuple(counts[class_] for class_ in task) for task in node.prefix)


def _count_confusion(labels: torch.Tensor, answers: torch.Tensor, node: Node) -> TaskConfusion:
    """For each task, the wrong answers of an earlier, of the same and of a later task."""
    task_of = torch.zeros(1 + max(map(max, node.prefix))).long()
    for place, task in enumerate(node.prefix):
        task_of[list(task)] = place
    wrong = answers != labels
    task_of_label, named = (task_of[classes[wrong].cpu()] for classes in (labels, answers))
    sides = (named < task_of_label, named == task_of_label, named > task_of_label)
    counts = (
        torch.bincount(task_of_label[side], minlength=len(node.prefix)).tolist() for side in sides
    )
    return tuple(zip(*counts, strict=True))


def _peak_memory() -> int:
    """Return the peak memory of this process so far, in bytes."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
