"""Experiments of log files of PyCIL, of PILOT and of the EDGE authors' forks of both.

A log names the class order and gives accuracies in per cent, rounded to two digits: over all
classes seen, and over groups of classes. PILOT's groups are the tasks; PyCIL's have ten classes. A
log of the forks holds three runs, on the orders of their setting `eval`: random (seeds 0, 42 and
1993) or edge (hard, easy, median).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import edgecil
from edgecil.classes import get_classes
from edgecil.errors import DataError, EdgecilError, UsageError, format_value, warn
from edgecil.experiments.experiment import Experiment
from edgecil.experiments.experiment_files import writing
from edgecil.experiments.plan import Node
from edgecil.experiments.results import NodeResult, Reported, WholeRun
from edgecil.experiments.store import Store
from edgecil.interop.exports import MANIFEST, import_results
from edgecil.interop.toolbox_configs import toolbox_dataset, toolbox_sizes
from edgecil.options import checked
from edgecil.runs.cells.file_text import read_file_text
from edgecil.runs.cells.pycil_log import LogRun, NoLogError, by_task, is_balanced, parse_log
from edgecil.runs.training_seeds import FROM_LOGS, SEEDS
from edgecil.sequences.protocols import PROTOCOLS, LabelledSequence, find_protocol
from edgecil.sequences.protocols.extremes import EDGE
from edgecil.sequences.protocols.random import RANDOM_LEGACY
from edgecil.sequences.sequence import ClassSequence, format_tasks
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity import SimilaritySource, choose_similarity

LOGS = "logs"
# The forks' setting `eval`: the protocol that it stands for, and the labels of its three orders.
FORK_PROTOCOLS = {
    "random": ("rs", ("seed-0", "seed-42", "seed-1993")),
    "edge": ("edge-released", ("hard", "easy", "median")),
}
LOG_CLASSIFIERS = {"CNN": "head", "NME": "nme"}

_DIGITS = 18  # of a setting
# Settings that do not decide the result of one order and training seed.
_OF_ORDERS = ("shuffle", "class_order", "eval")
_NOT_IDENTITY = ("config", "prefix", "seed", "device", "nb_classes", "nb_tasks", *_OF_ORDERS)


class NoResultError(DataError):
    """A run without a result: it is incomplete, or its groups of classes are not the tasks."""


class LoggedRun(LogRun):
    """One run in a log, as an experiment takes it."""

    @property
    def sequence(self) -> ClassSequence:
        """The order, cut into tasks as the toolboxes do."""
        first, increment = self._whole("init_cls", 1), self._whole("increment", 1)
        sizes = toolbox_sizes(first, increment, len(self.order))
        return ClassSequence.from_order(self.order, sizes)

    @property
    def choice(self) -> tuple[str, str]:
        """The protocol that chose the order, where the log proves it, else `logs`; and a label."""
        protocol, labels = FORK_PROTOCOLS.get(self.settings.get("eval", ""), (LOGS, ()))
        if labels:
            return protocol, labels[self.place % len(labels)]
        if self.settings.get("shuffle") != "True":
            return LOGS, f"order-{self.order_hash}"
        seed = self._whole("seed")
        generator = np.random.RandomState(seed % 2**32)
        is_drawn = seed < 2**32 and generator.permutation(len(self.order)).tolist() == self.order
        return RANDOM_LEGACY.name if is_drawn else LOGS, f"seed-{seed}"

    @property
    def label(self) -> str:
        """The protocol's label of the order, the seed that drew it, or a hash of the order."""
        return self.choice[1]

    @property
    def training_seed(self) -> int:
        """The seed of the training, which also draws a shuffled order; 0 if the log has none."""
        return self._whole("seed") if "seed" in self.settings else 0

    @property
    def order_hash(self) -> str:
        """A short hash of the order."""
        return hashlib.sha256(str(self.sequence).encode()).hexdigest()[:8]

    def reported(self) -> dict[str, Reported]:
        """Return the accuracies of each classifier; an error if the run has no complete result."""
        sequence = self.sequence
        for totals in self.totals.values():
            if len(totals) != len(sequence):
                raise NoResultError(
                    f"{self.path}: the run {self.label} is incomplete: it has results after "
                    f"{len(totals)} of {len(sequence)} tasks."
                )
        if not self.totals:
            raise NoResultError(f"{self.path}: the run {self.label} has no results.")
        return {name: self._reported(name, sequence) for name in self.totals}

    def _reported(self, classifier: str, sequence: ClassSequence) -> Reported:
        totals = self.totals[classifier]
        balanced = is_balanced(self.settings)
        rows = [
            by_task(groups, sequence.sizes[: task + 1], balanced=balanced)
            for task, groups in enumerate(self.groups[classifier])
        ]
        known_rows = tuple(tuple(row) for row in rows if row is not None)
        complete = known_rows if len(known_rows) == len(rows) else ()
        if not complete and not (balanced and len(set(sequence.sizes)) == 1):
            raise NoResultError(
                f"{self.path}: its groups of classes are not the tasks of sizes "
                f"{list(sequence.sizes)}, so the mean over tasks is unknown; train with "
                "edgecil.interop.run_toolbox, which counts the right answers of each task."
            )
        # With as many test images in each task, the mean over tasks is the mean over images.
        accuracy = float(np.mean(complete[-1])) if complete else totals[-1]
        average = float(np.mean(totals))
        return Reported(len(sequence), accuracy, totals[-1], average, complete, tuple(totals))

    def _whole(self, key: str, least: int = 0) -> int:
        text = self.settings.get(key, "")
        is_whole = text.isascii() and text.isdigit() and len(text) <= _DIGITS
        if not is_whole or int(text) < least:
            raise DataError(
                f"{self.path} must give the setting {key!r}, an integer of at least {least}. "
                f"Got {text[:_DIGITS] or 'nothing'}."
            )
        return int(text)


def read_log(path: str | Path) -> list[LoggedRun]:
    """Return the runs in a log file; several seeds or orders of one command share a file."""
    path = Path(path)
    parsed = [run for run in parse_log(path, read_file_text(path)) if run.order]
    runs = [_with_our_classifiers(run) for run in parsed]
    for run in runs:
        order_of_config = run.settings.get("class_order")
        if order_of_config is not None and order_of_config != str(run.order):
            raise DataError(
                f"{path}: its config asks for the class order {order_of_config[:40]}…, and the "
                f"toolbox "
                f"trained {str(run.order)[:40]}…: it ignores that key. Write files that it follows "
                "by edgecil export."
            )
    if not runs:
        raise NoLogError(f"{path} names no class order; it is not a log of PyCIL or PILOT.")
    return runs


def _with_our_classifiers(run: LogRun) -> LoggedRun:
    totals = {LOG_CLASSIFIERS[name]: values for name, values in run.totals.items()}
    groups = {LOG_CLASSIFIERS[name]: values for name, values in run.groups.items()}
    return LoggedRun(run.path, run.settings, run.order, run.place, totals, groups)


@checked
def import_logs(
    paths: Iterable[str | Path],
    *,
    out: str | Path,
    protocol: str | None = None,
    overwrite: bool = False,
) -> Experiment:
    """Make an experiment of log files, or of results of :func:`edgecil.interop.export`.

    All logs must have the same classes and task sizes. A run's training seed is taken from its log;
    a method's further runs on one order count as repeats. Incomplete runs, copies of a run, and
    files in a folder that are not logs are left out; each is an
    :class:`~edgecil.errors.EdgecilWarning`.

    Args:
        paths: log files, folders with such files (`*.log`), or the folder of exported runs.
        out: the experiment directory.
        protocol: the protocol that chose the orders. By default the one that the logs prove:
            `random-legacy` for orders that the toolbox drew with its seed, `edge` for hard and easy
            orders, or the name in logs of the EDGE authors' forks. Else `logs`: the choice of the
            orders is unknown.
        overwrite: delete existing results and start over.
    """
    places = [Path(path) for path in paths]
    if len(places) == 1 and (places[0] / MANIFEST).exists():
        return import_results(places[0], out=out, overwrite=overwrite)
    if protocol is not None and protocol != LOGS:
        protocol = PROTOCOLS.resolve(protocol)
    results = _complete_runs(places)
    runs = [run for run, _ in results]
    identities = _check_alike(runs)
    choices = _choices(runs, protocol)
    with writing(out, overwrite=overwrite) as store:
        for identity in identities:
            store.check_identity(identity)
        for name in dict.fromkeys(choice.protocol for choice in choices):
            members = [choice for choice in choices if choice.protocol == name]
            store.add_sequences(name, _label_orders(store.sequences().get(name, []), members))
        _record(store, results)
    return Experiment.open(out)


def _read_all(paths: Iterable[Path]) -> Iterator[LoggedRun]:
    """Yield the runs of all logs, also of those below folders."""
    for path in paths:
        if not path.is_dir():
            yield from read_log(path)
            continue
        if (path / MANIFEST).exists():
            raise UsageError(f"{path} has exported runs; import it alone.")
        files = sorted(path.rglob("*.log"))
        if not files:
            raise DataError(f"{path} has no log files (*.log); give the files themselves.")
        for file in files:
            try:
                yield from read_log(file)
            except NoLogError as error:
                warn(f"Left out: {error}")


def _check_alike(runs: Sequence[LoggedRun]) -> list[dict[str, Any]]:
    """Return what decides the results; an error names two logs that differ in it."""
    identities: dict[str, dict[str, Any]] = {}
    first_values: dict[str, tuple[Any, Path]] = {}
    for run in runs:
        identity = _identity(run)
        if repr(identity) in identities:
            continue
        identities[repr(identity)] = identity
        for name, value in identity.items():
            first_value, first_path = first_values.setdefault(name, (value, run.path))
            if first_value != value:
                raise UsageError(
                    f"{first_path} and {run.path} cannot be in one experiment: {name}: "
                    f"{', '.join(_differences(first_value, value))}. Import each kind into a "
                    "directory of its own."
                )
    return list(identities.values())


def _differences(first: Any, second: Any) -> Iterator[str]:
    """Yield what differs between two values, or between the entries of two mappings."""
    first = first if isinstance(first, dict) else {"": first}
    second = second if isinstance(second, dict) else {"": second}
    for key in {**first, **second}:
        values = first.get(key), second.get(key)
        if values[0] != values[1]:
            yield f"{key} {format_value(values[0])} against {format_value(values[1])}".lstrip()


class _Choice(NamedTuple):
    """A run with the protocol that chose its order, and its label."""

    run: LoggedRun
    protocol: str
    labelled: LabelledSequence


def _choices(runs: Sequence[LoggedRun], user_protocol: str | None) -> list[_Choice]:
    """Return the protocol and the label of every run's order.

    A protocol that the user names must fit what the logs prove.
    """
    stated = None if user_protocol in (None, LOGS) else find_protocol(user_protocol or "")
    constructed = _constructed(runs[0], {EDGE.name, user_protocol or EDGE.name})
    choices = []
    for run in runs:
        name, label = run.choice
        labelled = LabelledSequence(label, run.sequence)
        if name == LOGS:
            name, labelled = constructed.get(run.sequence, (name, labelled))
        proven = find_protocol(name)
        is_constructed = proven.role(labelled.label) == "constructed"
        if stated is not None and not proven.unknown and is_constructed == stated.random:
            how = "was constructed" if is_constructed else "was drawn at random"
            raise UsageError(
                f"{run.path}: its class order {how} ({name} {labelled.label}), so the protocol "
                f"{user_protocol!r} did not choose it. Leave out `protocol`."
            )
        choices.append(_Choice(run, user_protocol or name, labelled))
    objection = None
    if stated is not None:
        objection = stated.objection([choice.labelled for choice in choices])
    if objection is not None:
        raise UsageError(
            f"The orders of these logs are not what the protocol {user_protocol!r} chooses: "
            f"{objection}. Leave out `protocol`."
        )
    return choices


def _constructed(
    run: LoggedRun, protocols: Iterable[str]
) -> dict[ClassSequence, tuple[str, LabelledSequence]]:
    """Return the orders that protocols construct from the names of a run's classes."""
    orders: dict[ClassSequence, tuple[str, LabelledSequence]] = {}
    dataset = toolbox_dataset(run.settings["dataset"])
    space = SequenceSpace(run.sequence.sizes)
    if dataset is None or len(get_classes(dataset)) != space.classes:
        return orders
    with suppress(EdgecilError):  # the vectors are not here, or the tasks are too few
        similarity = choose_similarity(SimilaritySource(), dataset=dataset)
        for protocol in map(find_protocol, sorted(protocols)):
            needs_more = protocol.asks_model or protocol.by_inputs
            if needs_more or not protocol.needs_similarity:
                continue
            for labelled in protocol.draw(space, similarity=similarity):
                if labelled.label in (protocol.constructed or ()):
                    orders[labelled.sequence] = protocol.name, labelled
    return orders


def _complete_runs(paths: Iterable[Path]) -> list[tuple[LoggedRun, dict[str, Reported]]]:
    """Return the runs that have a result, each once."""
    complete: list[tuple[LoggedRun, dict[str, Reported]]] = []
    first_path: dict[str, Path] = {}
    reason = ""
    for run in _read_all(paths):
        content = repr((run.settings, run.order, run.totals, run.groups))
        if content in first_path:
            original = first_path[content]
            warn(f"Left out: {run.path}: the run {run.label} is a copy of the one in {original}.")
            continue
        first_path[content] = run.path
        try:
            complete.append((run, run.reported()))
        except NoResultError as error:
            reason = reason or str(error)
            warn(f"Left out: {error}")
    if not complete:
        raise DataError(f"No run in these logs has a result. The first: {reason}")
    return complete


def _record(store: Store, runs: Sequence[tuple[LoggedRun, dict[str, Reported]]]) -> None:
    """Record the runs, unless the experiment holds others in their place."""
    stored = store.whole_runs()
    results: dict[Node, NodeResult | WholeRun] = {}
    logged_nodes = [_node(run) for run, _ in runs]
    for node, (_, reported) in zip(logged_nodes, runs, strict=True):
        if node in results:  # trained again with the same seed, which a GPU need not repeat
            node = _with_free_seed(node, {*logged_nodes, *results})
        result = WholeRun((NodeResult({}, (), 0.0, 0),), reported)
        if stored.get(node, result) != result:
            raise UsageError(
                f"{store.directory} contains another run of {node.method!r} on the order "
                f"{format_tasks(node.prefix)}; import all logs at once, with `overwrite`."
            )
        results[node] = result
    store.record_all(list(results.items()))


def _node(run: LoggedRun) -> Node:
    return Node(run.settings["model_name"], run.training_seed, run.sequence.tasks)


def _with_free_seed(node: Node, taken: Collection[Node]) -> Node:
    """Return a node with the next training seed that no other node has."""
    for step in count(1):
        later = replace(node, seed=node.seed + step)
        if later not in taken:
            break
    return later


def _label_orders(
    stored: Iterable[LabelledSequence], choices: Iterable[_Choice]
) -> list[LabelledSequence]:
    """Return every order once, the stored ones first, with different labels.

    Other versions of the toolboxes, or of NumPy, may draw another order from the same seed.
    """
    orders = {labelled.sequence: labelled for labelled in stored}
    for run, _, labelled in choices:
        if labelled.sequence not in orders:
            labels = {order.label for order in orders.values()}
            suffix = f"-{run.order_hash}" if labelled.label in labels else ""
            orders[labelled.sequence] = replace(labelled, label=f"{labelled.label}{suffix}")
    return list(orders.values())


def _identity(run: LoggedRun) -> dict[str, Any]:
    """Return what decides the results of a run, as the store keeps it."""
    for key in ("model_name", "dataset"):
        if key not in run.settings:
            raise DataError(f"{run.path} must give the setting {key!r}. Got nothing.")
    name = toolbox_dataset(run.settings["dataset"])
    labels = get_classes(name).labels if name is not None else ()
    has_all_classes = len(labels) == len(run.order)
    class_ids = [str(id_) for id_ in sorted(run.order)]
    return {
        "edgecil": edgecil.__version__,
        "dataset": {
            "name": run.settings["dataset"],
            "classes": list(labels) if has_all_classes else class_ids,
        },
        "sizes": list(run.sequence.sizes),
        SEEDS: FROM_LOGS,
        f"method {run.settings['model_name']}": {
            key: value for key, value in run.settings.items() if key not in _NOT_IDENTITY
        },
    }
