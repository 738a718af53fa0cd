"""Designs: the sequences that a protocol chooses, drawn many times on a truth table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from edgecil.errors import UsageError
from edgecil.estimation.predictors import objective_predictor
from edgecil.estimation.smoothing import independent_variance
from edgecil.io.arrays import Floats, Ints
from edgecil.lab.budgets import draw_runs
from edgecil.lab.estimators import Observations
from edgecil.lab.truth_tables import TruthTable
from edgecil.sequences.latin import latin
from edgecil.sequences.overlap import position_overlap
from edgecil.sequences.protocols import PROTOCOLS, protocol
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

OwnProtocol = Callable[[SequenceSpace, int, np.random.Generator], Iterable[ClassSequence]]
RANDOM = "random"
# The predictor of a protocol's extremes, where it is not S.
_OBJECTIVES = {"optimal-generalization": "generalization"}


class Designs:
    """Draws of protocols: the same for all methods of a table, and for tables with the same space.

    Protocols with extremes keep these and draw the other sequences at random.

    Args:
        protocols: names, or functions by name; `random` is added.
        draws: number of draws.
        seed: seed of the draws.
    """

    def __init__(
        self, protocols: Sequence[str] | Mapping[str, OwnProtocol], *, draws: int, seed: int
    ) -> None:
        self._own = dict(protocols) if isinstance(protocols, Mapping) else {}
        if RANDOM in self._own:
            raise UsageError(
                f"Protocols are compared with the protocol {RANDOM!r}; choose another name for "
                "your function."
            )
        names = [name if name in self._own else PROTOCOLS.resolve(name) for name in protocols]
        for name in names:
            if name not in self._own and (PROTOCOLS[name].asks_model or name == "enumerate"):
                raise UsageError(f"Protocol {name!r} has no random draws to average over.")
        self._names = tuple(dict.fromkeys([RANDOM, *names]))
        self._draws, self._seed = draws, seed
        self._drawn: dict[tuple[object, str, int], Ints] = {}
        self._overlaps: dict[tuple[object, tuple[int, ...], bytes], Floats] = {}
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
        overlap = self.overlap(table, drawn) if name == "latin" else None
        variance = None if classes is None else independent_variance(classes[drawn])
        runs = Observations(
            accuracies[drawn],
            space_size=table.space.size,
            overlap=overlap,
            class_variance=variance,
        )
        if table.classes is None:
            return runs
        z, levels = self._predict(table, _OBJECTIVES.get(name, "adjacent"))
        return replace(runs, z=z[drawn], levels=levels)

    def overlap(self, table: TruthTable, drawn: Ints) -> Floats:
        """Return how far the sequences of each design agree on positions, (D, n, n)."""
        key = table.space, drawn.shape, drawn.tobytes()
        if key not in self._overlaps:
            designs = ([table.sequences[place] for place in places] for places in drawn.tolist())
            self._overlaps[key] = np.stack([position_overlap(design) for design in designs])
        return self._overlaps[key]

    def _uses_similarity(self, name: str) -> bool:
        return name not in self._own and PROTOCOLS[name].needs_similarity

    def _draw(
        self, table: TruthTable, name: str, budget: int, rng: np.random.Generator
    ) -> list[Ints]:
        place = {sequence: index for index, sequence in enumerate(table.sequences)}
        if name in self._own or name == "latin":
            choose: OwnProtocol = self._own.get(name, latin)
            designs = [_listed(choose(table.space, budget, rng), name) for _ in range(self._draws)]
            for design in designs:
                inside = sum(sequence in place for sequence in design)
                if not len(design) == inside == budget:
                    raise UsageError(
                        f"Protocol {name!r} must return {budget} sequences with task sizes "
                        f"{list(table.space.sizes)}. Got {len(design)}, of which {inside} have."
                    )
            return [np.array([place[sequence] for sequence in design]) for design in designs]
        fixed = sorted({place[sequence] for sequence in self._extremes(table, name)})
        size = len(table.sequences)
        return [draw_runs(size, budget, rng, fixed=fixed) for _ in range(self._draws)]

    def _extremes(self, table: TruthTable, name: str) -> list[ClassSequence]:
        """Return the hard and easy sequence of a protocol; none of one that ignores similarity."""
        if not self._uses_similarity(name):
            return []
        labelled = protocol(name, table.space, similarity=table.similarity())
        return [run.sequence for run in labelled if run.label in ("hard", "easy")]

    def _predict(self, table: TruthTable, objective: str) -> tuple[Floats, tuple[Floats, Floats]]:
        key = table.name, objective
        if key not in self._predictions:
            predictor = objective_predictor(table.similarity(), table.space, objective)
            self._predictions[key] = predictor.z(table.sequences), predictor.levels()
        return self._predictions[key]


def _listed(design: Iterable[ClassSequence], name: str) -> list[ClassSequence]:
    """Return the sequences that a function of the user's returned, as a list."""
    if not isinstance(design, Iterable):
        raise UsageError(
            f"Protocol {name!r} must return sequences. Got {type(design).__name__} instead."
        )
    return list(design)
