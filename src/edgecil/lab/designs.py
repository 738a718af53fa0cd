"""Designs: the sequences that a protocol chooses, drawn many times on a truth table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from edgecil.errors import UsageError
from edgecil.estimation.correlation import objective_predictor
from edgecil.estimation.population import independent_variance
from edgecil.io.arrays import Floats, Ints
from edgecil.lab.budgets import draw_runs
from edgecil.lab.estimators import Observations
from edgecil.lab.truth_tables import TruthTable
from edgecil.sequences.protocols import PROTOCOLS, RANDOM, LabelledSequence, Protocol, Request
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

OwnProtocol = Callable[[SequenceSpace, int, np.random.Generator], Iterable[ClassSequence]]


class _Function(Protocol):
    """A function of the user's that draws sequences together."""

    summary = "your own"
    constructed = ()
    joint = True

    def __init__(self, name: str, function: OwnProtocol) -> None:
        self.name, self._function = name, function

    def design(
        self, space: SequenceSpace, budget: int, rng: np.random.Generator
    ) -> list[ClassSequence]:
        """Return what the function returns, as a list."""
        design = self._function(space, budget, rng)
        if not isinstance(design, Iterable):
            raise UsageError(
                f"Protocol {self.name!r} must return sequences. Got {type(design).__name__} "
                "instead."
            )
        return list(design)

    def choose(self, request: Request) -> Iterator[LabelledSequence]:
        """Yield one design."""
        design = self.design(request.space, request.budget, request.rng())
        for index, sequence in enumerate(design):
            yield LabelledSequence(f"{self.name}-{index + 1}", sequence)


class Designs:
    """Draws of protocols: the same for all methods of a table, and for tables with the same space.

    Protocols keep their constructed sequences and draw the others at random.

    Args:
        protocols: names, or functions by name; `random` is added.
        draws: number of draws.
        seed: seed of the draws.
    """

    def __init__(
        self, protocols: Sequence[str] | Mapping[str, OwnProtocol], *, draws: int, seed: int
    ) -> None:
        if isinstance(protocols, Mapping):
            if RANDOM.name in protocols:
                raise UsageError(
                    f"Protocols are compared with the protocol {RANDOM.name!r}; choose another "
                    "name for your function."
                )
            chosen: list[Protocol] = [_Function(*named) for named in protocols.items()]
        else:
            chosen = [PROTOCOLS[name] for name in protocols]
        for one in chosen:
            if one.asks_model or one.exhaustive:
                raise UsageError(f"Protocol {one.name!r} has no random draws to average over.")
        self._protocols = {one.name: one for one in [RANDOM, *chosen]}
        self._names = tuple(self._protocols)
        self._draws, self._seed = draws, seed
        self._drawn: dict[tuple[object, str, int], Ints] = {}
        self._overlaps: dict[tuple[object, ...], Floats | None] = {}
        self._predictions: dict[tuple[str, str], tuple[Floats, tuple[Floats, Floats]]] = {}

    def names(self, tables: Iterable[TruthTable]) -> tuple[str, ...]:
        """Return the protocols that can be drawn on all of these tables, `random` first."""
        named = all(table.classes is not None for table in tables)
        return tuple(name for name in self._names if named or not self._uses_similarity(name))

    def draw(self, table: TruthTable, name: str, budget: int) -> Ints:
        """Places of the chosen sequences in the table, shape (draws, budget)."""
        key = (table.name if self._uses_similarity(name) else table.space, name, budget)
        if key not in self._drawn:
            rng = np.random.default_rng([self._seed, self._names.index(name), budget])
            self._drawn[key] = np.stack(self._draw(table, name, budget, rng))
        return self._drawn[key]

    def observe(
        self,
        table: TruthTable,
        name: str,
        drawn: Ints,
        accuracies: Floats,
        classes: Floats | None = None,
    ) -> Observations:
        """Return the accuracies of designs, with the protocol's predictor if it has one.

        Args:
            table: the truths.
            name: of the protocol.
            drawn: (D, n) places of the sequences, from :meth:`draw`.
            accuracies: of every sequence of the table.
            classes: (n, N) final accuracies of classes on every sequence; None if unknown.
        """
        variance = None if classes is None else independent_variance(classes[drawn])
        runs = Observations(
            accuracies[drawn],
            space_size=table.space.size,
            overlap=self.overlap(table, name, drawn),
            class_variance=variance,
        )
        if table.classes is None:
            return runs
        z, levels = self._predict(table, self._protocols[name].objective or "adjacent")
        return replace(runs, z=z[drawn], levels=levels)

    def overlap(self, table: TruthTable, name: str, drawn: Ints) -> Floats | None:
        """Return the covariance that each design implies, (D, n, n); None if they imply none."""
        protocol = self._protocols[name]
        if not protocol.joint:
            return None
        key = name, table.space, drawn.shape, drawn.tobytes()
        if key not in self._overlaps:
            designs = ([table.sequences[place] for place in places] for places in drawn.tolist())
            overlaps = [one for one in map(protocol.overlap, designs) if one is not None]
            self._overlaps[key] = np.stack(overlaps) if overlaps else None
        return self._overlaps[key]

    def _uses_similarity(self, name: str) -> bool:
        return self._protocols[name].needs_similarity

    def _draw(
        self, table: TruthTable, name: str, budget: int, rng: np.random.Generator
    ) -> list[Ints]:
        place = {sequence: index for index, sequence in enumerate(table.sequences)}
        if self._protocols[name].joint:
            design_of = self._protocols[name].design
            designs = [design_of(table.space, budget, rng) or () for _ in range(self._draws)]
            for design in designs:
                inside = sum(sequence in place for sequence in design)
                if not len(design) == inside == budget:
                    raise UsageError(
                        f"Protocol {name!r} must return {budget} sequences with task sizes "
                        f"{list(table.space.sizes)}. Got {len(design)}, of which {inside} have."
                    )
            return [np.array([place[sequence] for sequence in design]) for design in designs]
        fixed = sorted({place[sequence] for sequence in self._constructed(table, name, budget)})
        size = len(table.sequences)
        return [draw_runs(size, budget, rng, fixed=fixed) for _ in range(self._draws)]

    def _constructed(self, table: TruthTable, name: str, budget: int) -> list[ClassSequence]:
        """Return the sequences of a protocol that are the same in every draw."""
        protocol = self._protocols[name]
        if protocol.random:
            return []
        labelled = protocol.draw(
            table.space,
            budget=budget if protocol.takes_budget else None,
            similarity=table.similarity() if protocol.needs_similarity else None,
        )
        return [run.sequence for run in labelled if protocol.role(run.label) == "constructed"]

    def _predict(self, table: TruthTable, objective: str) -> tuple[Floats, tuple[Floats, Floats]]:
        key = table.name, objective
        if key not in self._predictions:
            predictor = objective_predictor(table.similarity(), table.space, objective)
            self._predictions[key] = predictor.z(table.sequences), predictor.levels()
        return self._predictions[key]
