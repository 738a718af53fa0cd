"""Search for the worst or best class order of one learner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.engine.accuracies import DEFAULT_METRIC, read_accuracies
from edgecil.engine.config import ExperimentConfig
from edgecil.engine.experiment import Experiment
from edgecil.engine.results import METRICS
from edgecil.engine.run import resolve_options, run
from edgecil.errors import DataError, PrerequisiteError, UsageError
from edgecil.io.arrays import Floats, Ints
from edgecil.search.result import SearchResult, Trial
from edgecil.search.strategy import (
    BATCH,
    GOALS,
    Goal,
    Predictors,
    Prefixes,
    Strategy,
    first_sequences,
    objective_predictors,
)
from edgecil.search.surrogate import place_classes, predict
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace

SEARCH = "search"
CONFIRMATION = "confirmation"
_OWN = ("protocol", "sequences", "repeats", "shard", "keep_states")


def search(
    *,
    out: str | Path,
    goal: Goal = "worst",
    budget: int = 20,
    confirm: int = 3,
    metric: str = DEFAULT_METRIC,
    pilot: str | Path | None = None,
    batch: int = BATCH,
    config: str | Path | Mapping[str, Any] | ExperimentConfig | None = None,
    overwrite: bool = False,
    on_round: Callable[[Sequence[Trial]], None] | None = None,
    **options: Any,
) -> SearchResult:
    """Find the class order on which a learner does worst, or best, within a budget.

    The search trains Latin orders, then, a few at a time, the orders that promise most per task
    training according to a surrogate of the learner's own results. In the end it trains the order
    that it chose again, with other training seeds: the most extreme of many noisy results is luck
    in part, and only the new trainings count. The same call resumes and gives the same answer.

    Args:
        out: the experiment directory; orders are stored under the protocols `latin`, `search` and
            `confirmation`.
        goal: `worst` or `best`.
        budget: cost of everything in full runs, K task trainings each. Orders that share trained
            tasks cost less, so that more orders than that are trained.
        confirm: new trainings of the chosen order, included in the budget.
        metric: `accuracy`, `last`, `average`, `forgetting` or `bwt`.
        pilot: an experiment directory or CSV file with cheap runs of the same learner, such as runs
            with fewer epochs, as a further predictor.
        batch: number of orders that are trained at a time.
        config: a TOML file, a bundled recipe (`recipe:demo`), a mapping or a configuration; the
            other options take precedence over it.
        overwrite: delete existing results in `out` and start over.
        on_round: called with all trials so far after every round.
        options: as in `edgecil.run`; one method, and no `protocol`, `sequences`, `repeats` or
            `shard`.

    Returns:
        The order, its value in new trainings, and the share of random orders beyond it.
    """
    if goal not in GOALS:
        raise UsageError(f"'goal' must be 'worst' or 'best'. Got {goal!r} instead.")
    if confirm < 0 or batch < 1:
        raise UsageError(
            f"'confirm' must be at least 0 and 'batch' at least 1. Got {confirm} and {batch}."
        )
    if budget < confirm + 2:
        raise UsageError(
            f"'budget' must leave at least 2 runs for the search beside {confirm} for the "
            f"confirmation. Got {budget} instead."
        )
    for name in _OWN:
        if options.get(name) is not None:
            raise UsageError(f"A search chooses the sequences itself; leave {name!r} out.")
    metric = METRICS.resolve(metric)
    settings, _ = resolve_options(config, options)
    if len(settings.method) != 1:
        raise UsageError(
            f"search takes exactly one method. Got {len(settings.method)}: "
            f"{', '.join(settings.method)}."
        )
    trainer = _Trainer({"config": config, "out": out, **options}, metric)
    start = trainer.train(
        "latin", overwrite=overwrite, protocol="latin", budget=first_sequences(budget - confirm)
    )
    space = SequenceSpace(start[0].sizes)
    predictors = _predictors(trainer.experiment, space, pilot, metric)
    strategy = Strategy(
        space,
        goal,
        limit=(budget - confirm) * space.tasks,
        seed=int(options.get("order_seed") or 0),
        batch=batch,
        predictors=_joined(predictors),
    )
    sequences = list(start)
    while True:
        values = trainer.values(sequences)
        if on_round is not None:
            on_round(trainer.trials(sequences))
        proposed = strategy.propose(sequences, values)
        if not proposed:
            break
        if not trainer.has(proposed):
            trainer.train(SEARCH, sequences={SEARCH: proposed}, keep_states=True)
        sequences += proposed
    chosen = sequences[strategy.choose(sequences, values)]
    confirmations: list[float] = []
    if confirm:
        again = {CONFIRMATION: [chosen]}
        trainer.train(CONFIRMATION, sequences=again, repeats=confirm + 1, keep_states=False)
        confirmations = [trainer.value(chosen, seed) for seed in range(1, confirm + 1)]
    trainer.remove_states(sequences)
    seen, results = [*sequences, *[chosen] * confirm], [*values, *confirmations]
    mean = float(np.mean(confirmations)) if confirm else values[sequences.index(chosen)]
    error = strategy.noise(seen, results) / np.sqrt(max(confirm, 1))
    return SearchResult(
        trainer.method,
        goal,
        metric,
        chosen,
        trainer.sign * values[sequences.index(chosen)],
        tuple(trainer.sign * value for value in confirmations),
        strategy.share_beyond(seen, results, mean, error),
        trainer.trials(sequences),
        Prefixes(space.tasks, (sequence.tasks for sequence in sequences)).cost
        + confirm * space.tasks,
        tuple(predictors),
        trainer.experiment,
    )


class _Trainer:
    """Trains sequences and reads their values, of which a higher one is always better."""

    def __init__(self, options: Mapping[str, Any], metric: str) -> None:
        self._options, self._metric = dict(options), metric
        self.sign = 1.0 if METRICS[metric].higher_is_better else -1.0

    def train(self, name: str, **options: Any) -> list[ClassSequence]:
        """Train, read all values, and return the sequences that are stored under a name."""
        given = {"repeats": 1, "keep_states": True, **options}
        self.experiment: Experiment = run(**{**self._options, **given})
        results = self.experiment.results()
        self.method = results[0].method
        self._values = {(run.sequence, run.seed): run.metric(self._metric) for run in results}
        return [labelled.sequence for labelled in self.experiment.sequences()[name]]

    def has(self, sequences: Sequence[ClassSequence]) -> bool:
        """Whether all sequences have been trained."""
        return all((sequence, 0) in self._values for sequence in sequences)

    def value(self, sequence: ClassSequence, seed: int = 0) -> float:
        """The value of one training."""
        value = self._values[sequence, seed]
        if value is None:
            raise UsageError(f"The metric {self._metric!r} is undefined for these task sizes.")
        return self.sign * value

    def values(self, sequences: Sequence[ClassSequence]) -> list[float]:
        """The values of the first training of each sequence."""
        return [self.value(sequence) for sequence in sequences]

    def trials(self, sequences: Sequence[ClassSequence]) -> tuple[Trial, ...]:
        """The sequences with their metric."""
        return tuple(Trial(sequence, self.sign * self.value(sequence)) for sequence in sequences)

    def remove_states(self, sequences: Sequence[ClassSequence]) -> None:
        """Delete the states that were kept for sequences to come."""
        self.train(SEARCH, sequences={SEARCH: list(sequences)}, keep_states=False)


def _predictors(
    experiment: Experiment, space: SequenceSpace, pilot: str | Path | None, metric: str
) -> dict[str, Predictors]:
    """The objectives of the experiment's similarity, if it has one, and the pilot."""
    parts: dict[str, Predictors] = {}
    # Classes without names, or with names that the bundled encoder lacks, have no similarity.
    with suppress(DataError, PrerequisiteError):
        parts["similarity"] = objective_predictors(experiment.similarity(), space)
    if pilot is not None:
        parts["pilot"] = _pilot_predictor(pilot, space, metric)
    return parts


def _joined(parts: Mapping[str, Predictors]) -> Predictors | None:
    """All predictors as one; None without any."""
    if not parts:
        return None
    return lambda orders: np.concatenate([part(orders) for part in parts.values()], axis=1)


def _pilot_predictor(pilot: str | Path, space: SequenceSpace, metric: str) -> Predictors:
    """What a surrogate of the pilot's runs expects of any order, standardised."""
    table = read_accuracies(pilot, metric=metric)[0].renumbered()
    if table.space != space:
        raise UsageError(
            f"The pilot {pilot} has task sizes {list(table.space.sizes)}, the search has "
            f"{list(space.sizes)}."
        )
    orders = table.orders(table.methods[0])
    if len(orders) < 2 or np.ptp(orders.accuracies) == 0.0:
        raise UsageError(f"The pilot {pilot} requires different results on at least 2 orders.")
    places = place_classes(np.array([run.order for run in orders.sequences]), space)
    centre, scale = orders.accuracies.mean(), orders.accuracies.std()

    def values(candidates: Ints) -> Floats:
        expected = predict(space, places, orders.accuracies, place_classes(candidates, space))
        return np.asarray((expected.mean - centre) / scale)[:, None]

    return values
