"""Store the runs of log files as an experiment; :mod:`edgecil.interop.logs` reads the files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import edgecil
from edgecil.classes import get_classes
from edgecil.engine.directory import writing
from edgecil.engine.experiment import Experiment
from edgecil.engine.plan import Node
from edgecil.engine.results import NodeResult, Reported, WholeRun
from edgecil.engine.store import Store
from edgecil.engine.toolbox_configs import toolbox_dataset
from edgecil.errors import DataError, UsageError, warn
from edgecil.interop.exports import MANIFEST, import_results
from edgecil.interop.logs import PROTOCOL, LoggedRun, NoResultError, read_log
from edgecil.sequences.protocols import PROTOCOLS, LabelledSequence
from edgecil.sequences.sequence import Tasks, format_tasks

# Settings that do not decide the result of one order; `eval` is the forks' choice of orders.
_NOT_IDENTITY = ("config", "prefix", "seed", "device", "nb_classes", "nb_tasks", "eval")


def import_logs(
    paths: Iterable[str | Path],
    *,
    out: str | Path,
    protocol: str | None = None,
    overwrite: bool = False,
) -> Experiment:
    """Make an experiment of log files, or of what :func:`edgecil.interop.export` wrote.

    All logs must have the same classes and task sizes. A method's further runs on one order count
    as repeats. Incomplete runs, and copies of a run, are left out; each is an
    :class:`~edgecil.errors.EdgecilWarning`.

    Args:
        paths: the log files, or the folder of exported runs.
        out: the experiment directory.
        protocol: the protocol that chose the orders. By default the one that the logs of the EDGE
            authors' forks name, or else `logs`, whose orders do not count as random.
        overwrite: delete existing results and start over.
    """
    files = [Path(path) for path in paths]
    if len(files) == 1 and (files[0] / MANIFEST).exists():
        return import_results(files[0], out=out, overwrite=overwrite)
    if protocol is not None and protocol != PROTOCOL:
        protocol = PROTOCOLS.resolve(protocol)
    runs = _complete_runs(files)
    groups: dict[str, list[LoggedRun]] = {}
    for run, _ in runs:
        groups.setdefault(protocol or run.protocol, []).append(run)
    with writing(out, overwrite=overwrite) as store:
        for identity in {repr(i): i for i in (_identity(run) for run, _ in runs)}.values():
            store.check_identity(identity)
        stored = store.sequences()
        for name, members in groups.items():
            store.add_sequences(name, _label_orders(stored.get(name, []), members))
        _record(store, runs)
    return Experiment.open(out)


def _complete_runs(
    paths: Iterable[str | Path],
) -> list[tuple[LoggedRun, dict[str, Reported]]]:
    """Return the runs that have a result, each once."""
    complete: list[tuple[LoggedRun, dict[str, Reported]]] = []
    first_path: dict[str, Path] = {}
    reason = ""
    for run in (run for path in paths for run in read_log(path)):
        if run.content in first_path:
            same = first_path[run.content]
            warn(f"Left out: {run.path}: the run {run.label} is a copy of the one in {same}.")
            continue
        first_path[run.content] = run.path
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
    repeats: dict[tuple[str, Tasks], int] = {}
    results: list[tuple[Node, NodeResult | WholeRun]] = []
    for run, reported in runs:
        key = run.settings["model_name"], run.sequence.tasks
        repeats[key] = repeats.get(key, -1) + 1
        node = Node(key[0], repeats[key], key[1])
        result = WholeRun((NodeResult({}, (), 0.0, 0),), reported)
        if stored.get(node, result) != result:
            raise UsageError(
                f"{store.directory} contains another run of {node.method!r} on the order "
                f"{format_tasks(node.prefix)}; import all logs at once and overwrite it."
            )
        results.append((node, result))
    store.record_all(results)


def _label_orders(
    stored: Iterable[LabelledSequence], runs: Iterable[LoggedRun]
) -> list[LabelledSequence]:
    """Return every order once: the stored ones, then those of the runs, no two with one label.

    Other versions of the toolboxes, or of NumPy, may draw another order from the same seed.
    """
    labels = {run.sequence: run.label for run in stored}
    taken = set(labels.values())
    for run in runs:
        sequence = run.sequence
        if sequence not in labels:
            again = f"-{run.order_hash}" if run.label in taken else ""
            labels[sequence] = f"{run.label}{again}"
            taken.add(labels[sequence])
    return [LabelledSequence(label, sequence) for sequence, label in labels.items()]


def _identity(run: LoggedRun) -> dict[str, object]:
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
        f"method {run.settings['model_name']}": {
            key: value for key, value in run.settings.items() if key not in _NOT_IDENTITY
        },
    }
