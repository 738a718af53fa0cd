"""Experiments of log files of PyCIL, of PILOT and of the EDGE authors' forks of both.

A log names the class order and gives accuracies in per cent, rounded to two digits: over all
classes seen, and over groups of classes. PILOT's groups are the tasks; PyCIL's have ten classes. A
log of the forks holds three runs, on the orders of their setting `eval`: random (seeds 0, 42 and
1993) or edge (hard, easy, median).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

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

PROTOCOL = "logs"
# The forks' setting `eval`: the protocol that it stands for, and the labels of its three orders.
FORK_PROTOCOLS = {
    "random": ("rs", ("seed-0", "seed-42", "seed-1993")),
    "edge": ("edge-released", ("hard", "easy", "median")),
}
CLASSIFIERS = {"CNN": "head", "NME": "nme"}

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
        first, increment = (self._whole(key, 1) for key in ("init_cls", "increment"))
        sizes = toolbox_sizes(first, increment, len(self.order))
        return ClassSequence.from_order(self.order, sizes)

    @property
    def choice(self) -> tuple[str, str]:
        """The protocol that chose the order, where the log proves it, else `logs`; and a label."""
        protocol, labels = FORK_PROTOCOLS.get(self.settings.get("eval", ""), (PROTOCOL, ()))
        if labels:
            return protocol, labels[self.place % len(labels)]
        if self.settings.get("shuffle") != "True":
            return PROTOCOL, f"order-{self.order_hash}"
        seed = self._whole("seed")
        generator = np.random.RandomState(seed % 2**32)
        is_drawn = seed < 2**32 and generator.permutation(len(self.order)).tolist() == self.order
        return RANDOM_LEGACY.name if is_drawn else PROTOCOL, f"seed-{seed}"

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
        given = tuple(tuple(row) for row in rows if row is not None)
        complete = given if len(given) == len(rows) else ()
        if not complete and not (balanced and len(set(sequence.sizes)) == 1):
            raise NoResultError(
                f"{self.path}: its groups of classes are not the tasks of sizes "
                f"{list(sequence.sizes)}, so the mean over tasks is unknown; train with "
                "edgecil.interop.run_toolbox, which counts the right answers of each task."
            )
        # With as many test images in each task, the mean over tasks is that over all images.
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
        asked = run.settings.get("class_order")
        if asked is not None and asked != str(run.order):
            raise DataError(
                f"{path}: its config asks for the class order {asked[:40]}…, and the toolbox "
                f"trained {str(run.order)[:40]}…: it ignores that key. Write files that it follows "
                "by edgecil export."
            )
    if not runs:
        raise NoLogError(f"{path} names no class order; it is not a log of PyCIL or PILOT.")
    return runs


def _with_our_classifiers(run: LogRun) -> LoggedRun:
    totals = {CLASSIFIERS[name]: values for name, values in run.totals.items()}
    groups = {CLASSIFIERS[name]: values for name, values in run.groups.items()}
    return LoggedRun(run.path, run.settings, run.order, run.place, totals, groups)


@checked
def import_logs(
    paths: Iterable[str | Path],
    *,
    out: str | Path,
    protocol: str | None = None,
    overwrite: bool = False,
) -> Experiment:
    """Make an experiment of log files, or of what :func:`edgecil.interop.export` wrote.

    All logs must have the same classes and task sizes. A run's training seed is that of its log; a
    method's further runs on one order count as repeats. Incomplete runs, copies of a run, and files
    in a folder that are no logs, are left out; each is an :class:`~edgecil.errors.EdgecilWarning`.

    Args:
        paths: log files, folders with such files (`*.log`), or the folder of exported runs.
        out: the experiment directory.
        protocol: the protocol that chose the orders. By default the one that the logs prove:
            `random-legacy` for orders that the toolbox drew with its seed, `edge` for hard and easy
            orders, or what the EDGE authors' forks name. Else `logs`: how they were chosen is
            unknown.
        overwrite: delete existing results and start over.
    """
    given = [Path(path) for path in paths]
    if len(given) == 1 and (given[0] / MANIFEST).exists():
        return import_results(given[0], out=out, overwrite=overwrite)
    if protocol is not None and protocol != PROTOCOL:
        protocol = PROTOCOLS.resolve(protocol)
    results = _complete_runs(given)
    runs = [run for run, _ in results]
    identities, choices = _check_alike(runs), _choices(runs, protocol)
    with writing(out, overwrite=overwrite) as store:
        for identity in identities:
            store.check_identity(identity)
        for name in dict.fromkeys(name for _, name, _ in choices):
            members = [(run, labelled) for run, own, labelled in choices if own == name]
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
    seen: dict[str, tuple[Any, Path]] = {}
    identities = {repr(own): (own, run.path) for run in runs for own in [_identity(run)]}
    for identity, path in identities.values():
        for name, value in identity.items():
            other, origin = seen.setdefault(name, (value, path))
            if other != value:
                first, second = (it if isinstance(it, dict) else {"": it} for it in (other, value))
                differences = []
                for key in {**first, **second}:
                    values = format_value(first.get(key)), format_value(second.get(key))
                    if first.get(key) != second.get(key):
                        differences.append(f"{key} {values[0]} against {values[1]}".lstrip())
                raise UsageError(
                    f"{origin} and {path} cannot be in one experiment: {name}: "
                    f"{', '.join(differences)}. Import each kind into a directory of its own."
                )
    return [identity for identity, _ in identities.values()]


def _choices(
    runs: Sequence[LoggedRun], given: str | None
) -> list[tuple[LoggedRun, str, LabelledSequence]]:
    """Return the protocol and the label of every run's order; a given protocol must fit them."""
    asked = None if given in (None, PROTOCOL) else find_protocol(given or "")
    constructed = _constructed(runs[0], {EDGE.name, given or EDGE.name})
    choices = []
    for run in runs:
        name, label = run.choice
        labelled = LabelledSequence(label, run.sequence)
        if name == PROTOCOL:
            name, labelled = constructed.get(run.sequence, (name, labelled))
        proven = find_protocol(name)
        is_constructed = proven.role(labelled.label) == "constructed"
        if asked is not None and not proven.unknown and is_constructed == asked.random:
            how = "was constructed" if is_constructed else "was drawn at random"
            raise UsageError(
                f"{run.path}: its class order {how} ({name} {labelled.label}), so the protocol "
                f"{given!r} did not choose it. Leave out `protocol`."
            )
        choices.append((run, given or name, labelled))
    objection = None if asked is None else asked.objection([it for *_, it in choices])
    if objection is not None:
        raise UsageError(
            f"The orders of these logs are not what the protocol {given!r} chooses: {objection}. "
            "Leave out `protocol`."
        )
    return choices


def _constructed(
    run: LoggedRun, protocols: Iterable[str]
) -> dict[ClassSequence, tuple[str, LabelledSequence]]:
    """Return the orders that protocols construct from the names of a run's classes."""
    orders: dict[ClassSequence, tuple[str, LabelledSequence]] = {}
    dataset, space = toolbox_dataset(run.settings["dataset"]), SequenceSpace(run.sequence.sizes)
    chosen = [it for name in sorted(protocols) if (it := find_protocol(name)).needs_similarity]
    if dataset is None or len(get_classes(dataset)) != space.classes:
        return orders
    with suppress(EdgecilError):  # the vectors are not here, or the tasks are too few
        similarity = choose_similarity(SimilaritySource(), dataset=dataset)
        for protocol in chosen:
            if not (protocol.asks_model or protocol.by_inputs):
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
            same = first_path[content]
            warn(f"Left out: {run.path}: the run {run.label} is a copy of the one in {same}.")
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


def _record(store: Store, runs: Iterable[tuple[LoggedRun, dict[str, Reported]]]) -> None:
    """Record the runs, unless the experiment holds others in their place."""
    stored = store.whole_runs()
    results: dict[Node, NodeResult | WholeRun] = {}
    own = [Node(it.settings["model_name"], it.training_seed, it.sequence.tasks) for it, _ in runs]
    for node, (_, reported) in zip(own, runs, strict=True):
        while node in results:  # trained again with one seed, which a GPU need not repeat
            later = (replace(node, seed=node.seed + n) for n in count(1))
            node = next(it for it in later if it not in own)
        result = WholeRun((NodeResult({}, (), 0.0, 0),), reported)
        if stored.get(node, result) != result:
            raise UsageError(
                f"{store.directory} contains another run of {node.method!r} on the order "
                f"{format_tasks(node.prefix)}; import all logs at once, with `overwrite`."
            )
        results[node] = result
    store.record_all(list(results.items()))


def _label_orders(
    stored: Iterable[LabelledSequence], runs: Iterable[tuple[LoggedRun, LabelledSequence]]
) -> list[LabelledSequence]:
    """Return every order once: the stored ones, then those of the runs, no two with one label.

    Other versions of the toolboxes, or of NumPy, may draw another order from the same seed.
    """
    orders = {labelled.sequence: labelled for labelled in stored}
    for run, labelled in runs:
        if labelled.sequence not in orders:
            taken = labelled.label in {it.label for it in orders.values()}
            again = f"-{run.order_hash}" if taken else ""
            orders[labelled.sequence] = replace(labelled, label=f"{labelled.label}{again}")
    return list(orders.values())


def _identity(run: LoggedRun) -> dict[str, Any]:
    """Return what decides the results of a run, as the store keeps it."""
    for key in ("model_name", "dataset"):
        if key not in run.settings:
            raise DataError(f"{run.path} must give the setting {key!r}. Got nothing.")
    name = toolbox_dataset(run.settings["dataset"])
    labels = get_classes(name).labels if name is not None else ()
    same = len(labels) == len(run.order)
    return {
        "edgecil": edgecil.__version__,
        "dataset": {
            "name": run.settings["dataset"],
            "classes": list(labels) if same else [str(id_) for id_ in sorted(run.order)],
        },
        "sizes": list(run.sequence.sizes),
        SEEDS: FROM_LOGS,
        f"method {run.settings['model_name']}": {
            key: value for key, value in run.settings.items() if key not in _NOT_IDENTITY
        },
    }
