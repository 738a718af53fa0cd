"""Generators by name and goal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from edgecil.errors import UsageError, shown
from edgecil.registry import Registry
from edgecil.sequences.canonical import canonical_order
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.matrix import Similarity

Goal = Literal["hard", "easy", "random"]
Build = Callable[..., ClassSequence]
MOST_CLASSES = 5000
_Build = TypeVar("_Build", bound=Build)


@dataclass(frozen=True)
class Generator:
    """A way to make one class sequence.

    Attributes:
        name: how it is asked for.
        goal: `hard` or `easy` sequences depend on the similarity; `random` ones do not.
        build: `(similarity, space, rng, **options) -> ClassSequence`.
        summary: one line for the list of generators.
        most_classes: how many it can take; None for any number.
        asks_model: whether it asks a language model.
        numbered: whether the result may depend on how the classes are numbered.
    """

    name: str
    goal: Goal
    build: Build
    summary: str
    most_classes: int | None = None
    asks_model: bool = False
    numbered: bool = False

    def __call__(
        self,
        similarity: Similarity,
        space: SequenceSpace,
        rng: np.random.Generator,
        **options: Any,
    ) -> ClassSequence:
        """Return one sequence of the space; how the classes are numbered has no influence on it.

        Except for `random`, whose orders are quoted by their seeds, and for `numbered` generators.
        """
        space.require_similarity(similarity)
        if self.most_classes is not None and space.classes > self.most_classes:
            raise UsageError(
                f"Generator {self.name!r} supports at most {self.most_classes:,} classes. "
                f"Got {space.classes:,}; 'random' supports any number."
            )
        if self.goal == "random" or self.numbered:
            return self.build(similarity, space, rng, **options)
        ids = canonical_order(similarity)
        sequence = self.build(similarity.take(ids), space, rng, **options)
        return ClassSequence(ids[list(task)].tolist() for task in sequence.tasks)


GENERATORS: Registry[dict[str, Generator]] = Registry("generator")
"""Every generator by name, then by goal."""


def register(
    name: str,
    goal: Goal,
    summary: str,
    *,
    most_classes: int | None = None,
    asks_model: bool = False,
    numbered: bool = False,
) -> Callable[[_Build], _Build]:
    """Decorate a build function to register it under a name and a goal."""

    def add(build: _Build) -> _Build:
        generator = Generator(
            name, goal, build, summary, most_classes, asks_model, numbered=numbered
        )
        goals = GENERATORS[name] if name in GENERATORS else GENERATORS.add(name, {})
        goals[goal] = generator
        return build

    return add


def generators() -> tuple[Generator, ...]:
    """Return every registered generator."""
    return tuple(generator for goals in GENERATORS.values() for generator in goals.values())


def get_generator(name: str, goal: str) -> Generator:
    """Return the generator of that name for that goal."""
    goals = GENERATORS[name]
    if goal not in goals:
        raise UsageError(
            f"Generator {name!r} makes {' and '.join(goals)} sequences. Got {shown(goal)}."
        )
    return goals[goal]
