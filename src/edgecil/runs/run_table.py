"""The table of runs: one row for each training of a method on a class sequence.

Every source ends in this table, and every analysis begins with it: experiment directories, CSV
files, DataFrames, logs and other programs. It holds the runs on one dataset with one division of
the classes into tasks, as arrays: texts and sequences are stored once, and a row has their numbers.

| column     | a row's value                                                                    |
|------------|----------------------------------------------------------------------------------|
| `method`   | the method's name                                                                |
| `dataset`  | the dataset's name; the same for all rows                                        |
| `protocol` | the protocol that chose the sequence                                             |
| `label`    | the protocol's label for the sequence                                            |
| `sequence` | the classes, task by task: `0 1|2 3`                                             |
| `seed`     | the training seed                                                                |
| `repeat`   | 0, 1, …: which training of the method on the sequence, by ascending seed          |
| `accuracy` | the value of the table's metric, under its name; NaN if there is none            |
| `status`   | `finished`, `failed`, or `pending` if it was not run yet                         |
| `identity` | a digest of everything that gives the run its meaning; empty if unknown          |

Where class orders are unknown (`has_orders` is false), sequences are stand-ins, one for each order
or seed that methods share, and the labels name these: `order 1993`, `seed 0`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from edgecil.errors import DataError, format_value, name_some, short_name
from edgecil.io.arrays import Bools, Floats, Ints
from edgecil.runs.design import Design, PairedBy, Varies
from edgecil.runs.metrics import DEFAULT_METRIC, find_metric
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

if TYPE_CHECKING:
    import pandas

STATUSES = ("finished", "failed", "pending")
FINISHED, FAILED, PENDING = range(len(STATUSES))
SEED_MEANINGS = ("orders", "trainings", "both")
_UNKNOWN_SPACE = SequenceSpace((1,) * 100)  # more orders than anybody runs

Arranged: TypeAlias = Literal["classes", "tasks", "unknown"]
ORDER_NAMES: dict[Arranged, str] = {
    "classes": "class order",
    "tasks": "task order",
    "unknown": "order",
}

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False, repr=False)
class Orders:
    """A method's trainings on n class orders, of each up to r different ones.

    A training that several protocols or labels share counts once: rows with the same seed and the
    same value.

    Attributes:
        labels: n labels; empty texts if the orders come from several protocols.
        sequences: n sequences. They differ, unless several labels of a protocol share one.
        places: (n,) their numbers in the table's `sequences`.
        rows: (n, r) rows of the table, by ascending seed; -1 where an order has fewer trainings.
        seeds: (n, r) training seeds; -1 there.
        values: (n, r) values of the metric; NaN there.
    """

    labels: tuple[str, ...]
    sequences: tuple[ClassSequence, ...]
    places: Ints
    rows: Ints
    seeds: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.sequences)

    @cached_property
    def counts(self) -> Ints:
        """The number of trainings of each order, (n,)."""
        return np.asarray((self.rows >= 0).sum(axis=1), dtype=np.int64)

    @cached_property
    def accuracies(self) -> Floats:
        """The mean over trainings of each order, (n,)."""
        return np.array([fmean(values.tolist()) for values in self.repeats()])

    def repeats(self) -> list[Floats]:
        """Return the values of each order, one per training."""
        counts = self.counts.tolist()
        return [row[:count] for row, count in zip(self.values, counts, strict=True)]

    def by_sequence(self) -> Mapping[ClassSequence, float]:
        """Return the accuracy of each distinct sequence, averaged over the labels that share it."""
        grouped: dict[ClassSequence, list[float]] = {}
        for sequence, accuracy in zip(self.sequences, self.accuracies.tolist(), strict=True):
            grouped.setdefault(sequence, []).append(accuracy)
        return {sequence: fmean(accuracies) for sequence, accuracies in grouped.items()}

    def take(self, chosen: Ints | Bools) -> Orders:
        """Return some of the orders."""
        places = np.arange(len(self))[chosen].tolist()
        return Orders(
            tuple(self.labels[place] for place in places),
            tuple(self.sequences[place] for place in places),
            self.places[chosen],
            self.rows[chosen],
            self.seeds[chosen],
            self.values[chosen],
        )


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """Runs on one dataset with one division of its classes into tasks; the module has the schema.

    Attributes:
        methods: the different names in order of appearance, as are `protocols`, `labels`,
            `sequences` and `identities`.
        settings: for each identity what it stands for, as plain values; empty if unknown.
        method: (n,) for each row the number of its method in `methods`, and so on.
        status: (n,) numbers in `STATUSES`.
        values: (n,) of the metric, in per cent; NaN if there is none.
        names: names of the N classes, in ascending order of their ids; None if unknown.
        by_class: (n, N) final accuracy of every class, in ascending order of their ids; NaN where
            it is unknown. None if it is unknown everywhere, or the metric is not a mean of them.
        has_orders: whether the class orders are known.
        seeds_are: what the seeds of unknown orders vary: one of `SEED_MEANINGS`; empty if unsaid.
        seeds_draw_data: whether a seed also draws the data, such as the fold of a cross-validation,
            so that methods with one seed share more than the number.
        notes: what was chosen when the runs were read, in sentences.
        arranges: what an order arranges: classes, given tasks, each of which is one class of the
            sequences then, or unknown things where orders have names alone.
    """

    dataset: str
    methods: tuple[str, ...]
    protocols: tuple[str, ...]
    labels: tuple[str, ...]
    sequences: tuple[ClassSequence, ...]
    identities: tuple[str, ...]
    method: Ints
    protocol: Ints
    label: Ints
    sequence: Ints
    identity: Ints
    seed: Ints
    repeat: Ints
    status: Ints
    values: Floats
    metric: str = DEFAULT_METRIC
    names: tuple[str, ...] | None = None
    by_class: Floats | None = None
    settings: tuple[dict[str, Any], ...] = ()
    has_orders: bool = True
    seeds_are: str = ""
    notes: tuple[str, ...] = ()
    seeds_draw_data: bool = False
    arranges: Arranged = "classes"

    def __post_init__(self) -> None:
        if self.methods and not len(self):
            raise DataError("A table of runs has one run or more.")
        if not self.has_orders:
            return
        first = self.sequences[0]
        classes, sizes = set(first.order), first.sizes
        for place, other in enumerate(self.sequences):
            if other.sizes != sizes or set(other.order) != classes:
                row = int(np.argmax(self.sequence == place))
                new = sorted(set(other.order) ^ set(classes))
                sizes_differ = f"has tasks of sizes {list(other.sizes)}, not {list(sizes)}"
                only = f"and the first do not both have the class {new[0]}" if new else sizes_differ
                raise DataError(
                    "All sequences of a dataset must have the same classes and task sizes, but "
                    f"{format_value(str(other))} ({self.methods[self.method[row]]}, "
                    f"{self.protocols[self.protocol[row]]}) {only}."
                )

    @classmethod
    def without_runs(cls, dataset: str, metric: str) -> Runs:
        """Return the table of a dataset about which only published results are known."""
        rows = np.zeros(0, dtype=np.int64)
        numbers = (
            rows,
        ) * 8  # of method, protocol, label, sequence, identity, seed, repeat, status
        return cls(
            dataset,
            (),
            (),
            (),
            (),
            (),
            *numbers,
            values=np.zeros(0),
            metric=metric,
            has_orders=False,
        )

    @classmethod
    def of(
        cls,
        method: Sequence[str],
        sequence: Sequence[ClassSequence],
        values: ArrayLike,
        *,
        protocol: Sequence[str],
        label: Sequence[str] | None = None,
        seed: Sequence[int] | Ints | None = None,
        repeat: Sequence[int] | Ints | None = None,
        status: ArrayLike | None = None,
        identity: Sequence[str] | None = None,
        dataset: str = "",
        metric: str = DEFAULT_METRIC,
        names: tuple[str, ...] | None = None,
        by_class: Floats | None = None,
        settings: Mapping[str, dict[str, Any]] | None = None,
        has_orders: bool = True,
        seeds_are: str = "",
        notes: Sequence[str] = (),
        seeds_draw_data: bool = False,
        arranges: Arranged = "classes",
    ) -> Runs:
        """Return a table from its columns, each with an entry for every run; see :class:`Runs`.

        By default labels are the sequences as text, runs of the same method, protocol, label and
        sequence have seeds 0, 1, …, and a run without a value has failed. `settings` are by digest.
        """
        count, numbers = len(method), np.asarray(values, dtype=np.float64)
        methods, method_codes = _code(list(map(short_name, method)))
        protocols, protocol_codes = _code(list(map(short_name, protocol)))
        labels, label_codes = _code([str(order) for order in sequence] if label is None else label)
        sequences, sequence_codes = _code(sequence)
        identities, identity_codes = _code([""] * count if identity is None else identity)
        if seed is None:
            seed = _number_seeds(
                np.arange(count), method_codes, protocol_codes, label_codes, sequence_codes
            )
        seeds = np.asarray(seed, dtype=np.int64)
        return cls(
            dataset=short_name(dataset),
            methods=methods,
            protocols=protocols,
            labels=labels,
            sequences=sequences,
            identities=identities,
            method=method_codes,
            protocol=protocol_codes,
            label=label_codes,
            sequence=sequence_codes,
            identity=identity_codes,
            seed=seeds,
            repeat=_number_seeds(seeds, method_codes, sequence_codes)
            if repeat is None
            else np.asarray(repeat, dtype=np.int64),
            status=np.where(np.isnan(numbers), FAILED, FINISHED)
            if status is None
            else np.asarray(status, dtype=np.int64),
            values=numbers,
            metric=metric,
            names=names,
            by_class=by_class,
            settings=tuple((settings or {}).get(digest, {}) for digest in identities),
            has_orders=has_orders,
            seeds_are=seeds_are,
            notes=tuple(notes),
            seeds_draw_data=seeds_draw_data,
            arranges=arranges,
        )

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        methods, protocols = name_some(self.methods), name_some(self.protocols)
        return (
            f"<Runs on {self.dataset}: {len(self)} runs of {methods} by {protocols}, {self.metric}>"
        )

    @cached_property
    def classes(self) -> tuple[int, ...]:
        """The N class ids in the sequences, ascending; none if the orders are unknown."""
        return tuple(sorted(self.sequences[0].order)) if self.has_orders else ()

    @cached_property
    def space(self) -> SequenceSpace:
        """Every sequence with these task sizes; a very large one if they are unknown."""
        return SequenceSpace(self.sequences[0].sizes) if self.has_orders else _UNKNOWN_SPACE

    @property
    def order_name(self) -> str:
        """What people call one of its orders: a class order, a task order, or an order."""
        return ORDER_NAMES[self.arranges]

    @property
    def stand_in(self) -> str:
        """What a stand-in is of: `order`, `seed` or `run`; empty if the orders are known."""
        return "" if self.has_orders else self.labels[0].partition(" ")[0]

    @property
    def counts_orders(self) -> bool:
        """Whether its runs have different class orders, known ones or not."""
        return self.has_orders or self.seeds_are in ("orders", "both")

    @property
    def chance(self) -> float | None:
        """The accuracy of guessing, 100/N; None for other metrics and unknown classes."""
        is_accuracy = find_metric(self.metric).of_classes and self.arranges == "classes"
        return 100.0 / len(self.classes) if is_accuracy and self.classes else None

    @cached_property
    def shares_seeds(self) -> bool:
        """Whether all orders have the same training seed in each repeat."""
        pairs = np.unique(np.stack([self.repeat, self.seed]), axis=1)
        return bool(len(set(pairs[0].tolist())) == pairs.shape[1])

    @cached_property
    def missing(self) -> int:
        """Number of runs without a value, which every statistic leaves out."""
        return int(np.isnan(self.values).sum())

    def rows(self, method: str | None = None, protocol: str | None = None) -> Ints:
        """Return the rows of one method, or of all, for one protocol, or for all."""
        chosen = np.ones(len(self), dtype=bool)
        for name, names, codes in (
            (method, self.methods, self.method),
            (protocol, self.protocols, self.protocol),
        ):
            if name is not None:
                chosen &= codes == names.index(name) if name in names else False
        return np.flatnonzero(chosen)

    def orders(self, method: str, protocol: str | None = None) -> Orders:
        """Return a method's trainings on the orders of one protocol, or of all protocols.

        Orders of one protocol are told apart by label and sequence, orders of all by sequence.
        """
        key = method, protocol
        if key not in self._orders:
            rows = self.rows(method, protocol)
            self._orders[key] = self._group(
                rows[~np.isnan(self.values[rows])], protocol is not None
            )
        return self._orders[key]

    @cached_property
    def _orders(self) -> dict[tuple[str, str | None], Orders]:
        return {}

    def design(self, method: str) -> Design:
        """Return what differs between a method's runs, and what pairs them with another's."""
        orders = self.orders(method)
        runs = int(orders.counts.sum())
        if self.has_orders or self.stand_in == "order":
            varies, count = _varied(orders), len(orders)
            label = self.labels[self.label[orders.rows[0, 0]]] if count == 1 else ""
            is_paired = varies != "trainings" or self.seeds_draw_data
            paired_by: PairedBy = "seeds" if varies == "trainings" else "orders"
            return Design(varies, runs, count, label, paired_by if is_paired else "nothing")
        is_paired = self.stand_in == "seed" and self.seeds_are != "trainings"
        is_paired = is_paired or self.seeds_draw_data
        paired_by = "seeds" if is_paired else "nothing"
        if self.seeds_are == "trainings":
            return Design("trainings", runs, 1, paired_by=paired_by)
        if self.seeds_are == "orders":
            return Design("orders", runs, len(orders), paired_by=paired_by)
        if self.seeds_are == "both":
            return Design("both", runs, len(orders), paired_by=paired_by)
        return Design("unknown", runs, paired_by=paired_by)

    def _group(self, rows: Ints, has_labels: bool) -> Orders:
        """Return the trainings in some rows by sequence, or by label and sequence."""
        places, seeds, values = self.sequence[rows], self.seed[rows], self.values[rows]
        keys = self.label[rows] * len(self.sequences) + places if has_labels else places
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        line = np.argsort(np.argsort(first))[group]  # groups in order of appearance
        sort = np.lexsort((values, seeds, line))
        rows, line, seeds, values = rows[sort], line[sort], seeds[sort], values[sort]
        new = np.ones(len(rows), dtype=bool)
        new[1:] = (np.diff(line) != 0) | (np.diff(seeds) != 0) | (np.diff(values) != 0)
        rows, line, seeds, values = rows[new], line[new], seeds[new], values[new]
        counts = np.bincount(line)
        shape = len(counts), int(counts.max(initial=1))
        column = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        filled = np.full(shape, -1), np.full(shape, -1), np.full(shape, np.nan)
        for array, column_values in zip(filled, (rows, seeds, values), strict=True):
            array[line, column] = column_values
        firsts = filled[0][:, 0]
        sequence_codes = self.sequence[firsts]
        labels = [self.labels[code] if has_labels else "" for code in self.label[firsts].tolist()]
        sequences = tuple(self.sequences[place] for place in sequence_codes.tolist())
        return Orders(tuple(labels), sequences, sequence_codes, *filled)

    def failures(self, method: str, protocol: str) -> tuple[str, ...]:
        """Return labels of a protocol's sequences on which no run of the method has a value."""
        rows = self.rows(method, protocol)
        finished = rows[~np.isnan(self.values[rows])]
        done = set(
            zip(self.label[finished].tolist(), self.sequence[finished].tolist(), strict=True)
        )
        begun = zip(self.label[rows].tolist(), self.sequence[rows].tolist(), strict=True)
        failed = [
            (label, order) for label, order in dict.fromkeys(begun) if (label, order) not in done
        ]
        return tuple(self.labels[label] for label, _ in failed)

    def take(self, rows: Ints | Bools) -> Runs:
        """Return the table of some rows; texts and sequences that no row has are left out."""
        return join_tables([self], [np.arange(len(self))[rows]])

    def with_methods(self, names: Sequence[str]) -> Runs:
        """Return the runs with another method's name for each."""
        methods, codes = _code(names)
        return replace(self, methods=methods, method=codes)

    def renumbered(self) -> Runs:
        """Return the runs with the classes numbered 0 … N-1, in ascending order of their ids."""
        return self._with_ids(range(len(self.classes)))

    def numbered_by(self, labels: Sequence[str]) -> Runs:
        """Return the runs with classes numbered by their names' indices in a dataset's labels."""
        if self.names is None or not set(self.names) <= set(labels):
            raise DataError(
                f"The classes of {self.dataset!r} are not all among the labels of the dataset."
            )
        index_of = {label: index for index, label in enumerate(labels)}
        return self._with_ids([index_of[name] for name in self.names])

    def _with_ids(self, ids: Sequence[int]) -> Runs:
        """Return the same runs with N new class ids, given in ascending order of the old ones."""
        new = dict(zip(self.classes, ids, strict=True))
        if all(old == id_ for old, id_ in new.items()):
            return self
        order = np.argsort(ids)
        return replace(
            self,
            sequences=tuple(
                ClassSequence([new[class_] for class_ in task] for task in sequence.arranged)
                for sequence in self.sequences
            ),
            names=None if self.names is None else tuple(self.names[place] for place in order),
            by_class=None if self.by_class is None else self.by_class[:, order],
        )

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame with the columns of the schema, which :func:`read_runs` accepts."""
        import pandas

        texts = tuple(str(sequence) for sequence in self.sequences)
        coded = {
            "method": (self.method, self.methods),
            "dataset": (np.zeros(len(self), dtype=np.int64), (self.dataset,)),
            "protocol": (self.protocol, self.protocols),
            "label": (self.label, self.labels),
            "sequence": (self.sequence, texts),
        }
        if not self.has_orders:
            del coded["sequence"]
        columns: dict[str, object] = {
            name: pandas.Categorical.from_codes(codes, categories)
            for name, (codes, categories) in coded.items()
        }
        columns |= {"seed": self.seed, "repeat": self.repeat, self.metric: self.values}
        columns["status"] = pandas.Categorical.from_codes(self.status, STATUSES)
        columns["identity"] = pandas.Categorical.from_codes(self.identity, self.identities)
        return pandas.DataFrame(columns)


def _varied(orders: Orders) -> Varies:
    """Return what differs between trainings on class orders that are told apart."""
    if len(orders) < 2:
        return "trainings"
    has_one_seed = bool((orders.counts == 1).all() and len(np.unique(orders.seeds[:, 0])) == 1)
    return "orders" if has_one_seed else "both"


def join_tables(tables: Sequence[Runs], rows: Sequence[Ints] | None = None) -> Runs:
    """Return rows of tables of one dataset, classes and metric, all by default, as one table."""
    first = tables[0]
    chosen = [np.arange(len(table)) for table in tables] if rows is None else rows
    parts = list(zip(tables, chosen, strict=True))

    def entries(categories: str, codes: str) -> list[Any]:
        return [
            getattr(table, categories)[code]
            for table, rows_of_table in parts
            for code in getattr(table, codes)[rows_of_table].tolist()
        ]

    def numbers(name: str) -> Ints:
        columns = [getattr(table, name)[rows_of_table] for table, rows_of_table in parts]
        return np.concatenate(columns)

    settings: dict[str, dict[str, Any]] = {}
    for table in tables:
        settings.update(zip(table.identities, table.settings, strict=False))
    has_classes = any(table.by_class is not None for table in tables)
    size = len(first.classes)
    by_class: list[Floats] = []
    for table, rows_of_table in parts:
        if table.by_class is None:
            by_class.append(np.full((len(rows_of_table), size), np.nan))
        else:
            by_class.append(table.by_class[rows_of_table])
    return Runs.of(
        entries("methods", "method"),
        entries("sequences", "sequence"),
        numbers("values"),
        protocol=entries("protocols", "protocol"),
        label=entries("labels", "label"),
        seed=numbers("seed"),
        repeat=numbers("repeat"),
        status=numbers("status"),
        identity=entries("identities", "identity"),
        dataset=first.dataset,
        metric=first.metric,
        names=first.names,
        by_class=np.concatenate(by_class) if has_classes else None,
        settings=settings,
        has_orders=first.has_orders,
        seeds_are=first.seeds_are,
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
        seeds_draw_data=all(table.seeds_draw_data for table in tables),
        arranges=first.arranges if len({table.arranges for table in tables}) == 1 else "unknown",
    )


def _code(column: Iterable[_T]) -> tuple[tuple[_T, ...], Ints]:
    """Return the different values in order of appearance, and the number of each entry's."""
    numbers: dict[_T, int] = {}
    codes = [numbers.setdefault(value, len(numbers)) for value in column]
    return tuple(numbers), np.array(codes, dtype=np.int64)


def _number_seeds(seeds: Ints, *keys: Ints) -> Ints:
    """Return the rank of each row's seed among the different seeds of rows with its keys, (n,)."""
    sort = np.lexsort((seeds, *keys))
    differs = np.diff(np.stack([*keys, seeds])[:, sort], axis=1, prepend=-1) != 0
    is_group = differs[:-1].any(axis=0)
    number = np.cumsum(differs.any(axis=0))
    start = np.maximum.accumulate(np.where(is_group, number, 0))
    ranks = np.empty(len(sort), dtype=np.int64)
    ranks[sort] = number - start
    return ranks
