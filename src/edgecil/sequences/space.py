"""The space Ω of all class sequences with given task sizes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from edgecil.errors import UsageError
from edgecil.hints import class_types
from edgecil.options import Options, option
from edgecil.sequences.sequence import ClassSequence

_LISTABLE = 200_000


@dataclass(frozen=True, kw_only=True)
class TaskSizes(Options):
    """How many classes form a task: `tasks`, `base` and `increment`, `sizes`, or given tasks."""

    tasks: int | None = option("number of tasks of equal size")
    base: int | None = option("number of classes in the first task; use with `increment`")
    increment: int | None = option("number of classes in each further task")
    sizes: tuple[int, ...] | None = option("number of classes in each task")
    given_tasks: str | None = option(
        "file with tasks of which only the order varies: a name in each line, or JSON with the "
        "classes of each",
        metavar="FILE",
    )

    @property
    def are_given(self) -> bool:
        """Whether the user set any of them."""
        return bool(self.changed().keys() & class_types(TaskSizes).keys())

    def space(self, class_names: Sequence[str]) -> SequenceSpace:
        """Return every sequence of these classes in tasks of these sizes, or of the given tasks."""
        sizes_given = (self.tasks, self.base, self.increment, self.sizes)
        if self.given_tasks is not None:
            if any(value is not None for value in sizes_given):
                raise UsageError(
                    "`given_tasks` already say how many classes each task has; leave out `tasks`, "
                    "`base`, `increment` and `sizes`."
                )
            from edgecil.sequences.task_orders import TaskOrderSpace, read_given_tasks

            return TaskOrderSpace.choose_tasks(read_given_tasks(self.given_tasks), class_names)
        return SequenceSpace.choose(
            len(class_names),
            tasks=self.tasks,
            base=self.base,
            increment=self.increment,
            sizes=self.sizes,
        )


@dataclass(frozen=True)
class SequenceSpace:
    """Every sequence of classes 0 … N-1 in tasks of these sizes.

    Attributes:
        sizes: K task sizes, in order of arrival; N is their sum.

    >>> SequenceSpace.equal(6, 3).size
    90
    """

    sizes: tuple[int, ...]

    def __init__(self, sizes: Sequence[int]) -> None:
        integers = tuple(int(size) for size in sizes)
        if not integers or min(integers) < 1 or integers != tuple(sizes):
            raise UsageError(
                f"Task sizes must be integers of at least 1. Got {list(sizes)} instead."
            )
        object.__setattr__(self, "sizes", integers)

    @classmethod
    def equal(cls, classes: int, tasks: int) -> SequenceSpace:
        """Return the space of `classes` in `tasks` tasks of one size."""
        if not 1 <= tasks <= classes:
            raise UsageError(
                f"`tasks` must be an int in [1, {classes}] for {classes} classes. "
                f"Got {tasks} instead."
            )
        if classes % tasks:
            divisors = [count for count in range(2, classes + 1) if classes % count == 0]
            nearest = sorted(divisors, key=lambda count: abs(count - tasks))[:2]
            raise UsageError(
                f"{classes} classes do not divide into {tasks} equal tasks; set `tasks` to "
                f"{' or '.join(map(str, sorted(nearest)))}, or use `base` and `increment`, or "
                "`sizes`."
            )
        return cls((classes // tasks,) * tasks)

    @classmethod
    def base_increment(cls, classes: int, base: int, increment: int) -> SequenceSpace:
        """Return the space of a first task of `base` classes, then `increment` (B50-Inc10).

        With base 0 every task has `increment` classes.
        """
        if increment < 1 or not 0 <= base <= classes:
            raise UsageError(
                f"`base` must be in [0, {classes}] and `increment` at least 1. "
                f"Got base {base} and increment {increment}."
            )
        rest = classes - base
        if rest % increment:
            raise UsageError(
                f"After a base of {base}, the other {rest} of {classes} classes do not divide into "
                f"increments of {increment}; choose an increment that divides {rest}."
            )
        first_task = (base,) if base else ()
        return cls(first_task + (increment,) * (rest // increment))

    @classmethod
    def choose(
        cls,
        classes: int,
        *,
        tasks: int | None = None,
        base: int | None = None,
        increment: int | None = None,
        sizes: Sequence[int] | None = None,
    ) -> SequenceSpace:
        """Build the space from exactly one of `tasks`, `increment` (with `base`) and `sizes`."""
        ways = [tasks is not None, increment is not None, sizes is not None]
        if sum(ways) != 1 or (base is not None and increment is None):
            raise UsageError(
                "The tasks must be specified in exactly one way: by `tasks`, by `base` and "
                "`increment`, or by `sizes`."
            )
        if tasks is not None:
            return cls.equal(classes, tasks)
        if increment is not None:
            return cls.base_increment(classes, base or 0, increment)
        space = cls(sizes or ())
        if space.classes != classes:
            raise UsageError(
                f"Task sizes must sum to the number of classes ({classes}). "
                f"Got {list(space.sizes)}, which sum to {space.classes}."
            )
        return space

    @property
    def classes(self) -> int:
        """N, the number of classes."""
        return sum(self.sizes)

    @property
    def tasks(self) -> int:
        """K, the number of tasks."""
        return len(self.sizes)

    @cached_property
    def size(self) -> int:
        """|Ω| = N! / ∏ mᵢ!, exactly."""
        return count_sequences(self.sizes)

    @property
    def arranges_classes(self) -> bool:
        """Whether classes may move between tasks, so that tasks differ between orders."""
        return self.tasks > 1 and max(self.sizes) > 1

    @property
    def log10_size(self) -> float:
        """Decimal logarithm of |Ω|."""
        return math.log10(self.size)

    def __contains__(self, sequence: object) -> bool:
        return (
            isinstance(sequence, ClassSequence)
            and sequence.sizes == self.sizes
            and set(sequence.order) == set(range(self.classes))
        )

    def require_similarity(self, similarity: Sized) -> None:
        """Raise an error unless the similarity has one row for each of the N classes."""
        if len(similarity) != self.classes:
            raise UsageError(
                f"The similarity covers {len(similarity)} classes but the space has "
                f"{self.classes} (sizes {list(self.sizes)}); both must cover the same classes."
            )

    def enumerate(self) -> Iterator[ClassSequence]:
        """Return each sequence once, lazily, in lexicographic order of its tasks."""
        return (ClassSequence(tasks) for tasks in _fill(tuple(range(self.classes)), self.sizes))

    def sample(self, count: int, rng: np.random.Generator) -> list[ClassSequence]:
        """Return `count` different sequences, uniformly without replacement."""
        if not 0 <= count <= self.size:
            raise UsageError(
                f"The space has {self.size} sequences; 'count' must be in [0, {self.size}]. "
                f"Got {count} instead."
            )
        if 2 * count > self.size and self.size <= _LISTABLE:
            chosen = rng.permutation(self.size)[:count]
            all_sequences = list(islice(self.enumerate(), self.size))
            return [all_sequences[index] for index in chosen]
        drawn: dict[ClassSequence, None] = {}
        while len(drawn) < count:
            drawn[ClassSequence.from_order(rng.permutation(self.classes), self.sizes)] = None
        return list(drawn)

    def sample_orders(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return `count` independent uniform orders, shape (count, N); some may be equal."""
        orders = np.tile(np.arange(self.classes), (count, 1))
        return rng.permuted(orders, axis=1, out=orders)


def _fill(free: tuple[int, ...], sizes: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield every way to fill tasks of these sizes with the free classes."""
    if len(sizes) == 1:
        yield (free,)
        return
    for task in combinations(free, sizes[0]):
        still_free = tuple(class_ for class_ in free if class_ not in task)
        for later_tasks in _fill(still_free, sizes[1:]):
            yield (task, *later_tasks)


def count_sequences(sizes: Sequence[int]) -> int:
    """Return |Ω|, the number of ways to deal N classes into ordered tasks of these sizes.

    The multinomial coefficient N!/∏mᵢ! with N = Σmᵢ (Lemma 1 of the paper, for any sizes): the
    order of the tasks counts, the order inside a task does not.

    >>> count_sequences([2, 2, 2])
    90
    """
    inside_tasks: int = math.prod(
        math.factorial(size) ** times for size, times in Counter(sizes).items()
    )
    return math.factorial(sum(sizes)) // inside_tasks


def count_text(number: int) -> str:
    """Return a number as text: exactly below a million, above it as a power of ten.

    >>> count_text(113_400), count_text(7 * 10**14)
    ('113,400', 'about 10^15')
    """
    return f"{number:,}" if number < 10**6 else f"about 10^{math.log10(number):.0f}"


def decimal_text(number: int) -> str:
    """Return every decimal digit of an integer, also beyond the 4,300 that `str` writes.

    >>> len(decimal_text(10**5000))
    5001
    """
    return format(Decimal(number), "f")
