"""The table that everything here starts from: which run of which method reached what accuracy."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from edgecil.engine.store import Store
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.io.arrays import Floats
from edgecil.io.files import read_rows, replace_file
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

# Keys beside the methods' in a judgement, and beside the protocols' in its rankings.
_RESERVED = {"method": ("ranking", "comparison", "notes", "datasets"), "protocol": ("truth",)}

COLUMNS = ("method", "dataset", "protocol", "label", "sequence", "seed", "accuracy")


@dataclass(frozen=True)
class Run:
    """One training of one method on one sequence.

    Attributes:
        method: its name.
        dataset: where the classes come from.
        protocol: who asked for the sequence.
        label: what the protocol calls it.
        sequence: the classes, task by task.
        seed: of the training.
        accuracy: A(O) in per cent; None if the run failed or has not ended.
        more: further columns of the file, as they are written there.
    """

    method: str
    dataset: str
    protocol: str
    label: str
    sequence: ClassSequence
    seed: int
    accuracy: float | None
    more: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class OrderAccuracies:
    """Accuracies over class orders, one per labelled sequence: its mean over training seeds.

    Attributes:
        labels: n labels.
        sequences: n sequences.
        accuracies: (n,) per cent.
    """

    labels: tuple[str, ...]
    sequences: tuple[ClassSequence, ...]
    accuracies: Floats

    def __len__(self) -> int:
        return len(self.sequences)

    def by_sequence(self) -> dict[ClassSequence, float]:
        """The accuracy of each different sequence; the mean where several labels share it."""
        found: dict[ClassSequence, list[float]] = {}
        for sequence, accuracy in zip(self.sequences, self.accuracies, strict=True):
            found.setdefault(sequence, []).append(float(accuracy))
        return {sequence: fmean(values) for sequence, values in found.items()}


@dataclass(frozen=True)
class AccuracyTable:
    """Runs of one dataset with one way to cut its classes into tasks.

    Attributes:
        runs: in the order of the file.
        names: of the N classes, in ascending order of their ids; None if nobody said them.
    """

    runs: tuple[Run, ...]
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.runs:
            raise DataError("There are no runs to judge; give at least one with an accuracy.")
        first = self.runs[0]
        for run in self.runs:
            if run.dataset != first.dataset:
                raise UsageError(
                    f"Runs of {first.dataset!r} and of {run.dataset!r} cannot be judged together; "
                    "split the table by dataset."
                )
            if run.sequence.sizes != first.sequence.sizes or set(run.sequence.order) != set(
                first.sequence.order
            ):
                raise DataError(
                    "All sequences of a dataset must have the same classes and task sizes, but "
                    f"{str(run.sequence)!r} ({run.method}, {run.protocol}) has not "
                    f"those of {str(first.sequence)!r}."
                )
            for what, names in _RESERVED.items():
                if getattr(run, what) in names:
                    raise DataError(
                        f"A {what} cannot be called {getattr(run, what)!r}, which is a word of the "
                        "answer; rename it."
                    )

    @property
    def dataset(self) -> str:
        """The dataset's name."""
        return self.runs[0].dataset

    @property
    def classes(self) -> tuple[int, ...]:
        """The N class ids that the sequences use, ascending."""
        return tuple(sorted(self.runs[0].sequence.order))

    @property
    def space(self) -> SequenceSpace:
        """Every sequence with these task sizes."""
        return SequenceSpace(self.runs[0].sequence.sizes)

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in order of appearance."""
        return tuple(dict.fromkeys(run.method for run in self.runs))

    @property
    def protocols(self) -> tuple[str, ...]:
        """Names of the protocols, in order of appearance."""
        return tuple(dict.fromkeys(run.protocol for run in self.runs))

    @property
    def failed(self) -> int:
        """How many runs have no accuracy; nothing counts them."""
        return sum(run.accuracy is None for run in self.runs)

    def orders(self, method: str, protocol: str | None = None) -> OrderAccuracies:
        """A method's accuracies over the sequences of a protocol, or of all of them."""
        found: dict[tuple[str, ClassSequence], dict[tuple[int, float], float]] = {}
        for run in self.runs:
            if run.method == method and protocol in (None, run.protocol):
                if run.accuracy is None:
                    continue
                label = "" if protocol is None else run.label
                # Protocols share runs: one with the same seed and result is the same run.
                known = found.setdefault((label, run.sequence), {})
                known[run.seed, run.accuracy] = run.accuracy
        means = [fmean(values.values()) for values in found.values()]
        return OrderAccuracies(
            tuple(label for label, _ in found),
            tuple(sequence for _, sequence in found),
            np.array(means, dtype=np.float64),
        )

    def repeats(self, method: str) -> list[Floats]:
        """A method's accuracies grouped by sequence, one per training seed."""
        found: dict[ClassSequence, set[tuple[int, float]]] = {}
        for run in self.runs:
            if run.method == method and run.accuracy is not None:
                found.setdefault(run.sequence, set()).add((run.seed, run.accuracy))
        return [np.array([accuracy for _, accuracy in sorted(some)]) for some in found.values()]

    def contradictions(self) -> list[tuple[Run, Run]]:
        """Pairs of runs of one method, sequence and seed with different accuracies."""
        known: dict[tuple[str, ClassSequence, int], Run] = {}
        done = [run for run in self.runs if run.accuracy is not None]
        pairs = [(known.setdefault((run.method, run.sequence, run.seed), run), run) for run in done]
        return [(first, run) for first, run in pairs if first.accuracy != run.accuracy]

    def failures(self, method: str, protocol: str) -> tuple[str, ...]:
        """Labels of a protocol's sequences on which no run of the method has an accuracy."""
        some = [run for run in self.runs if (run.method, run.protocol) == (method, protocol)]
        done = {(run.label, run.sequence) for run in some if run.accuracy is not None}
        lost = {(run.label, run.sequence): None for run in some}
        return tuple(label for label, sequence in lost if (label, sequence) not in done)

    def renumbered(self) -> AccuracyTable:
        """The same runs with the classes numbered 0 … N-1, in ascending order of their ids."""
        return self._with_ids(range(len(self.classes)))

    def numbered_by(self, labels: Sequence[str]) -> AccuracyTable:
        """The same runs with the ids that the classes' names have in a dataset's labels."""
        if self.names is None or not set(self.names) <= set(labels):
            raise DataError(
                f"The classes of {self.dataset!r} are not all among the labels of the dataset."
            )
        place = {label: index for index, label in enumerate(labels)}
        return self._with_ids([place[name] for name in self.names])

    def _with_ids(self, ids: Sequence[int]) -> AccuracyTable:
        """The same runs with these N ids for the classes, given in ascending order of the old."""
        new = dict(zip(self.classes, ids, strict=True))
        if all(old == id_ for old, id_ in new.items()):
            return self
        sequences = {
            sequence: ClassSequence([new[class_] for class_ in task] for task in sequence.tasks)
            for sequence in {run.sequence for run in self.runs}
        }
        names = None if self.names is None else dict(zip(ids, self.names, strict=True))
        return AccuracyTable(
            tuple(replace(run, sequence=sequences[run.sequence]) for run in self.runs),
            None if names is None else tuple(names[id_] for id_ in sorted(names)),
        )


def read_accuracies(source: str | Path) -> list[AccuracyTable]:
    """The runs in a CSV file or a run directory, a table for each dataset.

    A CSV has the columns `method,dataset,protocol,label,sequence,seed,accuracy`, a sequence written
    `0 1|2 3|4 5` and an accuracy in per cent; an empty or NaN accuracy is a failed run.
    """
    path = Path(source)
    if not path.exists():
        raise DataError(f"There is no file or directory {path}; give a CSV or a run directory.")
    if path.is_dir():
        return [_read_directory(path)]
    groups: dict[str, list[Run]] = {}
    for run in _read_csv(path):
        groups.setdefault(run.dataset, []).append(run)
    if not groups:
        raise DataError(f"{path} holds no runs; there is nothing to estimate from.")
    return [AccuracyTable(tuple(group)) for group in groups.values()]


def write_accuracies(runs: Iterable[Run], path: str | Path) -> None:
    """Write runs as the CSV that :func:`read_accuracies` reads."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for run in runs:
        accuracy = "" if run.accuracy is None else repr(run.accuracy)
        sequence = str(run.sequence)
        writer.writerow(
            [run.method, run.dataset, run.protocol, run.label, sequence, run.seed, accuracy]
        )
    with replace_file(Path(path)) as file:
        file.write(text.getvalue().encode())


def _read_directory(directory: Path) -> AccuracyTable:
    if not (directory / "results.sqlite").is_file():
        raise DataError(f"{directory} is no run directory: it holds no results.sqlite.")
    with closing(Store(directory)) as store:
        dataset = store.settings().get("dataset", {})
        sequences, results = store.sequences(), store.runs()
        others = [*store.failures(), *store.done()]
    begun = dict.fromkeys((method, seed) for method, seed, _ in results)
    begun |= dict.fromkeys((node.method, node.seed) for node in others)
    runs = []
    for method, seed in begun:
        for protocol, labelled in sequences.items():
            for run in labelled:
                result = results.get((method, seed, run.sequence.tasks))
                accuracy = None if result is None else result.accuracy
                runs.append(
                    Run(
                        method,
                        dataset.get("name", ""),
                        protocol,
                        run.label,
                        run.sequence,
                        seed,
                        accuracy,
                    )
                )
    if not runs:
        raise DataError(f"{directory} holds no results yet; there is nothing to estimate from.")
    return AccuracyTable(tuple(runs), tuple(dataset["classes"]) if "classes" in dataset else None)


def _read_csv(path: Path) -> Iterator[Run]:
    rows = read_rows(path)
    header = [cell.strip() for cell in rows[0]] if rows else []
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise DataError(
            f"{path} has no column {' and no '.join(missing)}; its first line must name "
            f"{','.join(COLUMNS)}."
        )
    seen: dict[tuple[object, ...], int] = {}
    for number, cells in enumerate(rows[1:], start=2):
        if len(cells) != len(header):
            raise DataError(
                f"Row {number} of {path} has {len(cells)} cells but the header names {len(header)}."
            )
        run = _parse(dict(zip(header, (cell.strip() for cell in cells), strict=True)), number, path)
        key = (run.method, run.dataset, run.protocol, run.label, run.sequence, run.seed)
        if key in seen:
            raise DataError(
                f"Row {number} of {path} repeats row {seen[key]}: the same method, protocol, "
                "label, sequence and seed; number the seeds of repeated trainings."
            )
        seen[key] = number
        yield run


def _parse(row: dict[str, str], number: int, path: Path) -> Run:
    """One row of the CSV."""
    try:
        sequence = ClassSequence.parse(row["sequence"])
    except (ValueError, EdgecilError) as error:
        raise DataError(
            f"Row {number} of {path} has the sequence {row['sequence']!r}; write tasks of class "
            f"ids as '0 1|2 3|4 5' ({str(error).rstrip('.')})."
        ) from error
    if not row["method"] or not row["protocol"]:
        raise DataError(f"Row {number} of {path} names no method or no protocol; fill it in.")
    try:
        seed = int(row["seed"])
    except ValueError as error:
        raise DataError(
            f"Row {number} of {path} has the seed {row['seed']!r}; seeds are whole numbers."
        ) from error
    more = {name: cell for name, cell in row.items() if name not in COLUMNS}
    return Run(
        row["method"],
        row["dataset"],
        row["protocol"],
        row["label"],
        sequence,
        seed,
        _parse_accuracy(row["accuracy"], number, path),
        more,
    )


def _parse_accuracy(text: str, number: int, path: Path) -> float | None:
    if text.lower() in ("", "nan"):
        return None
    try:
        accuracy = float(text)
    except ValueError:
        accuracy = np.nan
    if not 0.0 <= accuracy <= 100.0:
        raise DataError(
            f"Row {number} of {path} has the accuracy {text!r}; accuracies are per cent in "
            "[0, 100], or empty for a failed run."
        )
    return accuracy
