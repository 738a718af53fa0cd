"""Join experiment directories, such as the shards of a plan."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from edgecil.errors import DataError, UsageError, shortened
from edgecil.experiments.chosen_similarity import SIMILARITY_FILE
from edgecil.experiments.experiment import Experiment
from edgecil.experiments.plan import Node
from edgecil.experiments.results import NodeResult, WholeRun
from edgecil.experiments.store import DATABASE, Store, StoreReader
from edgecil.io.directory import check_owner, check_path, claim, locked
from edgecil.options import checked
from edgecil.runs.identity import FILES, PROCESSOR, is_remark, subject_of
from edgecil.runs.training_seeds import SEEDS, SHARED
from edgecil.sequences.protocols import LabelledSequence
from edgecil.sequences.sequence import format_tasks


@checked
def merge(directories: Sequence[str | Path], *, out: str | Path) -> Experiment:
    """Join the results of experiments with the same data, settings and versions.

    Nothing is written unless all directories fit together: settings in common must be equal, a
    label of a protocol must stand for one sequence, and a task that several directories trained
    must have one result. The directories themselves are not changed.

    Args:
        directories: experiment directories; each must have results.
        out: directory of the joined experiment. If it is already an experiment, the others are
            added to it. `run` with the same options resumes it.

    Returns:
        The joined experiment.
    """
    out = Path(out)
    for path in (*directories, out):
        check_path(Path(path))
    sources = [path for path in map(Path, directories) if path.resolve() != out.resolve()]
    if not sources:
        raise UsageError("'directories' must name at least one experiment directory. Got none.")
    check_owner(out, "experiment")
    with ExitStack() as stack:
        stack.enter_context(locked(out))
        there = [out] if (out / DATABASE).exists() else []
        readers = [stack.enter_context(StoreReader(place)) for place in [*there, *sources]]
        _check_identities(readers)
        results, sequences = _join_results(readers), _join_sequences(readers)
        workers = {
            node: unequal for reader in readers for node, unequal in reader.workers().items()
        }
        claim(out, "experiment")
        store = stack.enter_context(Store(out))
        for name, runs in sequences.items():
            store.add_sequences(name, runs)
        for reader in readers[len(there) :]:
            unequal = _add_identity(store, _used_identity(reader))
            if unequal:
                for node in (*reader.done(), *reader.whole_runs()):
                    workers[node] = {**unequal, **workers.get(node, {})}
        stored = store.done().keys() | store.whole_runs().keys()
        for node, result in results.items():
            if node not in stored:
                store.record(node, result, worker=workers.get(node))
        for reader in readers[len(there) :]:
            for config in reader.configs():
                store.add_config(config)
            for node, (error, trace) in reader.failures().items():
                if node not in results:
                    store.record_failure(node, error, trace)
            _copy_files(reader.directory, out)
    return Experiment(out)


def _check_identities(stores: Sequence[StoreReader]) -> None:
    """Raise an error if a setting that two stores have in common differs."""
    settings: dict[str, tuple[Any, Path]] = {}
    for store in stores:
        for name, value in _used_identity(store).items():
            if name == PROCESSOR:  # a note
                continue
            other, origin = settings.setdefault(name, (value, store.directory))
            if name.startswith(FILES):
                is_equal = all(other.get(file, digest) == digest for file, digest in value.items())
                other.update(value)
            else:
                is_equal = other == value or is_remark(name)
            if not is_equal:
                raise UsageError(
                    f"{origin} and {store.directory} cannot be merged: {name!r} is "
                    f"{shortened(str(other))} in the first and {shortened(str(value))} in the "
                    "second."
                )


def _add_identity(store: Store, identity: Mapping[str, Any]) -> dict[str, str]:
    """Add what determines the results of another store, which agrees, and the remarks on it.

    Returns:
        In what its processor differs.
    """
    grown = {name for name in identity if name.startswith(FILES) or is_remark(name)}
    settings = {name: value for name, value in identity.items() if name not in grown}
    unequal = store.check_identity(settings, allowed=(PROCESSOR,))
    for name in grown:
        if is_remark(name):
            store.add_remark(subject_of(name), **identity[name])
        else:
            store.add_files(name.removeprefix(FILES), identity[name])
    return unequal


def _used_identity(store: StoreReader) -> dict[str, Any]:
    """Return what determines the results of a store, without methods that have no result."""
    unused = store.unused_identity()
    identity = {SEEDS: SHARED, **store.recorded_identity()}
    return {name: value for name, value in identity.items() if name not in unused}


def _join_results(stores: Sequence[StoreReader]) -> dict[Node, NodeResult | WholeRun]:
    """Return all results by node; a node with two different results is an error."""
    joined: dict[Node, tuple[NodeResult | WholeRun, Path]] = {}
    for store in stores:
        results: dict[Node, NodeResult | WholeRun] = {**store.done(), **store.whole_runs()}
        for node, result in results.items():
            other, origin = joined.setdefault(node, (result, store.directory))
            if _accuracies(other) != _accuracies(result):
                raise DataError(
                    f"{origin} and {store.directory} have different results of {node.method}, "
                    f"training seed {node.seed}, tasks {format_tasks(node.prefix)}. They were "
                    "computed on machines that round differently, or one of them was changed; "
                    "merge those of one kind of machine."
                )
    return {node: result for node, (result, _) in joined.items()}


def _accuracies(result: NodeResult | WholeRun) -> Any:
    """Return a result without its cost, which differs, and without its confusion."""
    if isinstance(result, WholeRun):
        return [_accuracies(node) for node in result.nodes], result.reported
    return replace(result, seconds=0.0, peak_memory=0, confusion=None)


def _join_sequences(stores: Sequence[StoreReader]) -> dict[str, list[LabelledSequence]]:
    """Return the sequences of every protocol, without repetition; the store finds conflicts."""
    joined: dict[str, dict[str, LabelledSequence]] = {}
    for store in stores:
        for name, runs in store.sequences().items():
            labels = joined.setdefault(name, {})
            for run in runs:
                other = labels.setdefault(run.label, run)
                if other.sequence != run.sequence:
                    raise DataError(
                        f"The label {run.label!r} of protocol {name} stands for another sequence "
                        f"in {store.directory}; use the same `order_seed` and options everywhere."
                    )
    return {name: list(labels.values()) for name, labels in joined.items()}


def _copy_files(source: Path, out: Path) -> None:
    """The similarity, transcripts of language models, and states of unfinished sequences."""
    files = [source / SIMILARITY_FILE, *(source / "transcripts").glob("*.json")]
    for path in [*files, *(source / "states").glob("*.pt")]:
        target = out / path.relative_to(source)
        if path.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
