"""Generators by name and goal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from edgecil.errors import UsageError, unknown
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
    """

    name: str
    goal: Goal
    build: Build
    summary: str
    most_classes: int | None = None
    asks_model: bool = False

    def __call__(
        self,
        similarity: Similarity,
        space: SequenceSpace,
        rng: np.random.Generator,
        **options: Any,
    ) -> ClassSequence:
        """One sequence of the space; how the classes are numbered has no influence on it.

        Only `random` goes by number: its orders are known by their seeds.
        """
        space.require_similarity(similarity)
        if self.most_classes is not None and space.classes > self.most_classes:
            raise UsageError(
                f"Generator {self.name!r} works on the whole similarity matrix and takes at most "
                f"{self.most_classes:,} classes. Got {space.classes:,}; 'optimal' and 'random' "
                "take any number."
            )
        if self.goal == "random":
            return self.build(similarity, space, rng, **options)
        ids = canonical_order(similarity)
        found = self.build(similarity.take(ids), space, rng, **options)
        return ClassSequence(ids[list(task)].tolist() for task in found.tasks)


_generators: dict[tuple[str, str], Generator] = {}


def register(
    name: str,
    goal: Goal,
    summary: str,
    *,
    most_classes: int | None = None,
    asks_model: bool = False,
) -> Callable[[_Build], _Build]:
    """Decorate a build function to make it known under a name and a goal."""

    def add(build: _Build) -> _Build:
        _generators[name, goal] = Generator(name, goal, build, summary, most_classes, asks_model)
        return build

    return add


def generators() -> tuple[Generator, ...]:
    """Every registered generator."""
    return tuple(_generators.values())


def get_generator(name: str, goal: str) -> Generator:
    """The generator of that name for that goal."""
    if (name, goal) in _generators:
        return _generators[name, goal]
    names = dict.fromkeys(known for known, _ in _generators)
    if name not in names:
        raise unknown("generator", name, names)
    goals = [known_goal for known, known_goal in _generators if known == name]
    raise UsageError(f"Generator {name!r} makes {' and '.join(goals)} sequences. Got {goal!r}.")
