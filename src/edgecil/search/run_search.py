"""Search for the worst or best class order of one learner."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edgecil.errors import DataError, EdgecilWarning, PrerequisiteError, UsageError
from edgecil.experiments.config import GROUPS, Data, Execution, Training
from edgecil.experiments.config_values import CALL_OPTIONS, Config, read_config
from edgecil.experiments.experiment import Experiment
from edgecil.hints import Count, Whole
from edgecil.options import Options, checked, convert_option, option, place_in_groups
from edgecil.runs.metrics import DEFAULT_METRIC, METRICS
from edgecil.search.result import SearchResult, Trial
from edgecil.search.strategy import (
    BATCH,
    Goal,
    Predictors,
    Strategy,
    first_sequences,
    objective_predictors,
    trainings,
)
from edgecil.sequences.protocols import CONFIRMATION, LATIN, SEARCH
from edgecil.sequences.protocols.extremes import PROBES
from edgecil.sequences.sequence import ClassSequence
from edgecil.similarity.build import SimilaritySource
from edgecil.statistics.distributions import SAME
from edgecil.statistics.verdicts import LEVEL
from edgecil.training.run import DatasetLike, Methods, find_directory, resolve_options, run

_BUDGET = 20
_PASSED_ON = (
    *("method", "dataset", "tasks", "base", "increment", "sizes", "order_seed"),
    *("search", "data", "similarity", "training", "execution"),
)
_CHOSEN = ("protocol", "sequences", "repeats", "objective")
_CHOSEN_TRAINING = ("first_seed", "one_seed")
_CHOSEN_EXECUTION = ("shard", "keep_states", "until", "repeats_on")


@dataclass(frozen=True)
class SearchOptions(Options):
    """What the search may cost, and what else it knows; the group `search` of its options."""

    confirm: Whole = option(
        "number of new trainings of the chosen order; they are part of the budget", 3
    )
    classifier: str | None = option(
        "the classifier of the learner, such as `nme`; its main one by default"
    )
    batch: Count = option("number of orders to train at a time", BATCH)

    def limit(self, budget: int, tasks: int) -> int:
        """Return how many task trainings the search may use, without those of the confirmation."""
        least = self.confirm + 2
        if budget < least:
            raise UsageError(
                f"`budget` must be at least {least}: {least} runs, 2 for the search and "
                f"{self.confirm} to confirm its result. Got {budget} instead."
            )
        return (budget - self.confirm) * tasks


@checked
def search_orders(
    dataset: DatasetLike | None = None,
    *,
    method: Methods | None = None,
    tasks: int | None = None,
    base: int | None = None,
    increment: int | None = None,
    sizes: Sequence[int] | None = None,
    goal: Goal | None = None,
    budget: int | None = None,
    metric: str | None = None,
    order_seed: int | None = None,
    out: str | Path | None = None,
    config: Config = None,
    overwrite: bool | None = None,
    search: SearchOptions | Mapping[str, Any] | None = None,
    data: Data | Mapping[str, Any] | None = None,
    similarity: SimilaritySource | Mapping[str, Any] | str | Path | None = None,
    training: Training | Mapping[str, Any] | None = None,
    execution: Execution | Mapping[str, Any] | None = None,
    on_round: Callable[[Sequence[Trial]], None] | None = None,
    **options: Any,
) -> SearchResult:
    """Find the class order on which a learner does worst, or best, within a budget.

    The search trains the probes (similar classes in one task, and spread) and Latin orders first,
    all orders with one training seed. Then it trains, a few at a time, the orders with the
    largest expected gain per task training according to a surrogate of the learner's own results.
    Finally it trains the chosen order again with other training seeds: the most extreme of many
    noisy results is partly luck, so only the new trainings count. The same call resumes and gives
    the same answer.

    Args:
        method: the method, or `FILE.py:Class` for your own learner. In Python also a class or a
            function.
        dataset: as for :func:`edgecil.run`: a name, a path, `hf:ID` or `FILE.py:function`.
        tasks: see :class:`edgecil.sequences.space.TaskSizes`.
        base: see :class:`edgecil.sequences.space.TaskSizes`.
        increment: see :class:`edgecil.sequences.space.TaskSizes`.
        sizes: see :class:`edgecil.sequences.space.TaskSizes`.
        goal: `worst` (default) or `best`.
        budget: number of full runs of K task trainings that the search may cost, 20 by default.
            Orders that share trained tasks cost less, so it can train more orders than that.
        metric: `accuracy` (default), `last`, `average`, `forgetting` or `bwt`.
        order_seed: seed for choosing class orders.
        out: the experiment directory, required unless `config` has it; orders are stored under the
            protocols `probes` and `latin` (chosen before any result), `search` (chosen by results)
            and `confirmation` (the answer, trained again).
        config: TOML file or bundled recipe (`recipe:demo`) with options; those that are given
            beside it take precedence. In Python also a mapping or a configuration.
        overwrite: delete existing results in `out` and start over.
        search: what the search may cost, and what else it knows.
        data: as for :func:`edgecil.run`, like the other groups.
        similarity: where the similarity of the classes comes from.
        training: how the learner is trained.
        execution: how trainings are computed; without those that choose runs (`shard`, `until`,
            `repeats_on`, `keep_states`).
        on_round: called with all trials so far after every round.
        options: options of these five groups by their names alone, such as `epochs=3`.

    Returns:
        The order, its value in new trainings, and the share of random orders beyond it.
    """
    passed_on = {name: value for name, value in locals().items() if name in _PASSED_ON}
    options = place_in_groups({**passed_on, **options}, {"search": SearchOptions, **GROUPS})
    search = options.pop("search")
    options["training"] = Training.options_in(options["training"])
    options["execution"] = Execution.options_in(options["execution"])
    configured = read_config(config, further=("goal", "search"), options=options)
    out = find_directory(configured, out)
    asked, goal, budget, metric = _read_goal(configured, search, goal, budget, metric)
    for name in {**options["training"], **options["execution"]}:
        if name in (*_CHOSEN_TRAINING, *_CHOSEN_EXECUTION):
            raise UsageError(f"A search chooses the sequences itself; leave `{name}` out.")
    trained = _training_options(configured)
    experiment_config, _ = resolve_options(trained, options)
    methods = experiment_config.method
    if len(methods) != 1:
        raise UsageError(
            f"A search requires exactly one method. Got {len(methods)}: {', '.join(methods)}."
        )
    from edgecil.training.planner import inspect

    if experiment_config.given_tasks is not None:
        raise UsageError("A search arranges the classes itself; leave `given_tasks` out.")
    inspection = inspect(experiment_config)
    assert inspection is not None  # an unknown dataset is an error here
    space = inspection.space
    limit = asked.limit(budget, space.tasks)
    trainer = _Trainer({"config": trained, "out": out, **options}, metric, asked.classifier)
    replaced = configured.get("overwrite") if overwrite is None else overwrite
    sequences = trainer.start(first_sequences(limit // space.tasks), overwrite=replaced)
    predictors: dict[str, Predictors] = {}
    # Classes without names, or with names that the bundled encoder lacks, have no similarity.
    with suppress(DataError, PrerequisiteError):
        similar = trainer.experiment.similarity()
        predictors["similarity"] = objective_predictors(similar, space)
    strategy = Strategy(
        space,
        goal,
        limit=limit,
        seed=experiment_config.order_seed or 0,
        batch=asked.batch,
        predictors=predictors.get("similarity"),
    )
    proposals: list[ClassSequence] = []
    while True:
        values = [trainer.value(sequence) for sequence in sequences]
        if on_round is not None:
            on_round(trainer.trials(sequences))
        proposed = strategy.propose(sequences, values)
        if not proposed:
            break
        if not trainer.has(proposed):
            trainer.train(sequences={SEARCH: proposed}, keep_states=True)
        sequences += proposed
        proposals += proposed
    chosen = sequences[strategy.choose(sequences, values)]
    value = values[sequences.index(chosen)]
    confirmations: list[float] = []
    if asked.confirm:
        trainer.train(sequences={CONFIRMATION: [chosen]}, repeats=asked.confirm + 1)
        confirmations = [trainer.value(chosen, seed) for seed in range(1, asked.confirm + 1)]
    trainer.remove_states(proposals)
    seen, results = [*sequences, *[chosen] * asked.confirm], [*values, *confirmations]
    mean = float(np.mean(confirmations)) if asked.confirm else value
    error = strategy.noise(seen, results) / np.sqrt(max(asked.confirm, 1))
    if len(set(sequences)) == space.size:
        gains = np.array(values) - value
        share = float(np.mean(gains > SAME if goal == "worst" else gains < -SAME))
    else:
        share = strategy.share_beyond(seen, results, mean, error)
    return SearchResult(
        trainer.method,
        goal,
        metric,
        chosen,
        trainer.sign * value,
        tuple(trainer.sign * value for value in confirmations),
        share,
        trainer.trials(sequences),
        len(trainings(*sequences)) + asked.confirm * space.tasks,
        tuple(predictors),
        trainer.experiment,
        budget,
        options["execution"].get("level", LEVEL),
    )


def _read_goal(
    configured: Mapping[str, Any],
    search: SearchOptions | Mapping[str, Any] | None,
    goal: Goal | None,
    budget: int | None,
    metric: str | None,
) -> tuple[SearchOptions, Goal, int, str]:
    """Return the search's own options, goal, budget in runs and metric; given ones come first."""
    own, given = (SearchOptions.options_in(it) for it in (configured.get("search"), search))
    asked = SearchOptions(**{**own, **given})
    goal = convert_option("goal", goal or configured.get("goal") or "worst", Goal)
    if budget is None:
        budget = convert_option("budget", configured.get("budget"), int | None)
    runs = _BUDGET if budget is None else budget
    metric = convert_option("metric", metric or configured.get("metric") or DEFAULT_METRIC, str)
    asked.limit(runs, 1)  # an error before data is loaded
    return asked, goal, runs, METRICS.resolve(metric)


def _training_options(configured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a configuration that do not choose sequences."""
    not_of_run = {"goal", "search", "budget", "metric", *_CHOSEN, *CALL_OPTIONS}
    trained = {name: value for name, value in configured.items() if name not in not_of_run}
    for group, chosen in (("training", _CHOSEN_TRAINING), ("execution", _CHOSEN_EXECUTION)):
        given = GROUPS[group].options_in(trained.get(group))
        trained[group] = {name: value for name, value in given.items() if name not in chosen}
    return trained


class _Trainer:
    """Trains sequences and reads their values, of which a higher one is always better."""

    def __init__(self, options: Mapping[str, Any], metric: str, classifier: str | None) -> None:
        self._options, self._metric, self._classifier = dict(options), metric, classifier
        self.sign = 1.0 if METRICS[metric].higher_is_better else -1.0

    def start(self, count: int, *, overwrite: bool | None) -> list[ClassSequence]:
        """Train the probes, where a similarity can be had, and Latin orders; return them."""
        for probes in ((PROBES.name,), ()) if count > PROBES.default_budget else ((),):
            latin = count - (PROBES.default_budget if probes else 0)
            self._first: dict[str, Any] = {"protocol": (*probes, f"{LATIN.name}:{latin}")}
            try:
                self.train(**self._first, keep_states=True, overwrite=overwrite)
                break
            except PrerequisiteError:
                if not probes:
                    raise
        stored = self.experiment.sequences()
        orders = (it.sequence for name in (*probes, LATIN.name) for it in stored[name])
        return list(dict.fromkeys(orders))

    def train(self, *, keep_states: bool = False, **options: Any) -> None:
        """Train with one seed for all orders, and read all values."""
        execution = {**self._options["execution"], "keep_states": keep_states}
        training = {**self._options["training"], "one_seed": True}
        given = {"repeats": 1, **options, "training": training, "execution": execution}
        with warnings.catch_warnings():  # the confirmation repeats, and probes may take pixels
            for known in ("One training per order", ".*computed from the pixels"):
                warnings.filterwarnings("ignore", known, EdgecilWarning)
            self.experiment: Experiment = run(**{**self._options, **given})
        results = self.experiment.results()
        self.method = results[0].method
        self._values = {
            (run.sequence, run.seed): run.metric(self._metric, self._classifier) for run in results
        }

    def has(self, sequences: Sequence[ClassSequence]) -> bool:
        """Return whether all sequences have been trained."""
        return all((sequence, 0) in self._values for sequence in sequences)

    def value(self, sequence: ClassSequence, seed: int = 0) -> float:
        """Return the value of one training, the first of a sequence by default."""
        value = self._values[sequence, seed]
        if value is None:
            raise UsageError(f"The metric {self._metric!r} is undefined for these task sizes.")
        return self.sign * value

    def trials(self, sequences: Sequence[ClassSequence]) -> tuple[Trial, ...]:
        """Return the sequences with their metric."""
        return tuple(Trial(sequence, self.sign * self.value(sequence)) for sequence in sequences)

    def remove_states(self, proposals: Sequence[ClassSequence]) -> None:
        """Delete the states that were kept for sequences to come."""
        self.train(**self._first)
        if proposals:
            self.train(sequences={SEARCH: list(proposals)})
