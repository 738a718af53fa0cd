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
    ORDERS_AT_A_TIME,
    Predictors,
    SearchGoal,
    Strategy,
    first_sequences,
    objective_predictors,
    trainings,
)
from edgecil.sequences.protocols import CONFIRMATION, LATIN, SEARCH, format_protocols
from edgecil.sequences.protocols.extremes import PROBES
from edgecil.sequences.sequence import ClassSequence
from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.build import SimilaritySource
from edgecil.statistics.distributions import SAME
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
    batch: Count = option("number of orders to train at a time", ORDERS_AT_A_TIME)

    def limit(self, budget: int, tasks: int) -> int:
        """Return how many task trainings the search may use before the confirmation."""
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
    goal: SearchGoal | None = None,
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
        metric: `accuracy` (default), `last`, `average`, `forgetting`, `bwt`, `learning` or
            `training_accuracy`.
        order_seed: seed for choosing class orders.
        out: the experiment directory, required unless `config` has it; orders are stored under the
            protocols `probes` and `latin` (chosen before any result), `search` (chosen by results)
            and `confirmation` (the answer, trained again).
        config: TOML file or bundled recipe (`recipe:demo`) with options; arguments take precedence
            over it. In Python also a mapping or a configuration.
        overwrite: delete existing results in `out` and start over.
        search: what the search may cost, and what else it knows.
        data: as for :func:`edgecil.run`, like the other groups.
        similarity: where the similarity of the classes comes from.
        training: how the learner is trained.
        execution: how trainings are computed; without the options that choose runs (`shard`,
            `until`, `repeats_on`, `keep_states`).
        on_round: called with all trials so far after every round.
        options: options of these five groups by their names alone, such as `epochs=3`.

    Returns:
        The order, its value in new trainings, and the share of random orders beyond it.
    """
    named = {name: value for name, value in locals().items() if name in _PASSED_ON}
    options = place_in_groups({**named, **options}, {"search": SearchOptions, **GROUPS})
    search_options = options.pop("search")
    options["training"] = Training.options_in(options["training"])
    options["execution"] = Execution.options_in(options["execution"])
    configured = read_config(config, further=("goal", "search"), options=options)
    out = find_directory(configured, out)
    request = _read_request(configured, search_options, goal, budget, metric)
    for name in {**options["training"], **options["execution"]}:
        if name in (*_CHOSEN_TRAINING, *_CHOSEN_EXECUTION):
            raise UsageError(f"A search chooses the sequences itself; leave `{name}` out.")
    options = {**options, "config": _training_options(configured), "out": out}
    replaces = configured.get("overwrite") if overwrite is None else overwrite
    return _search(request, options, replaces, on_round)


@dataclass(frozen=True)
class _Request:
    """What to search for, and at which cost."""

    options: SearchOptions
    goal: SearchGoal
    budget: int
    metric: str


def _read_request(
    configured: Mapping[str, Any],
    search_options: SearchOptions | Mapping[str, Any] | None,
    goal: SearchGoal | None,
    budget: int | None,
    metric: str | None,
) -> _Request:
    """Return what to search for; arguments take precedence over the configuration."""
    values = {
        **SearchOptions.options_in(configured.get("search")),
        **SearchOptions.options_in(search_options),
    }
    options = SearchOptions(**values)
    goal = convert_option("goal", goal or configured.get("goal") or "worst", SearchGoal)
    if budget is None:
        budget = convert_option("budget", configured.get("budget"), int | None)
    runs = _BUDGET if budget is None else budget
    metric = convert_option("metric", metric or configured.get("metric") or DEFAULT_METRIC, str)
    options.limit(runs, 1)  # an error before data is loaded
    return _Request(options, goal, runs, METRICS.resolve(metric))


def _training_options(configured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a configuration that do not choose sequences."""
    not_of_run = {"goal", "search", "budget", "metric", *_CHOSEN, *CALL_OPTIONS}
    trained = {name: value for name, value in configured.items() if name not in not_of_run}
    for group, chosen in (("training", _CHOSEN_TRAINING), ("execution", _CHOSEN_EXECUTION)):
        values = GROUPS[group].options_in(trained.get(group))
        trained[group] = {name: value for name, value in values.items() if name not in chosen}
    return trained


def _search(
    request: _Request,
    options: Mapping[str, Any],
    replaces: bool | None,
    on_round: Callable[[Sequence[Trial]], None] | None,
) -> SearchResult:
    """Search, and confirm the answer.

    Args:
        request: what to search for.
        options: of `run`.
        replaces: whether existing results are deleted.
        on_round: called with all trials so far after every round.
    """
    space, order_seed = _inspect_run(options)
    limit = request.options.limit(request.budget, space.tasks)
    trainer = _Trainer(options, request.metric, request.options.classifier)
    first_count = first_sequences(limit // space.tasks)
    sequences = trainer.train_first(first_count, overwrite=replaces)
    predictors: dict[str, Predictors] = {}
    # Classes without names, or with names that the bundled encoder lacks, have no similarity.
    with suppress(DataError, PrerequisiteError):
        similarity = trainer.experiment.similarity()
        predictors["similarity"] = objective_predictors(similarity, space)
    strategy = Strategy(
        space,
        request.goal,
        limit=limit,
        seed=order_seed,
        batch=request.options.batch,
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
        if not trainer.has_trained(proposed):
            trainer.train(sequences={SEARCH: proposed}, keep_states=True)
        sequences += proposed
        proposals += proposed
    chosen = strategy.choose(sequences, values)
    confirmations = trainer.confirm(sequences[chosen], request.options.confirm)
    trainer.remove_states(proposals)
    value = values[sequences.index(sequences[chosen])]
    return SearchResult(
        trainer.method,
        request.goal,
        request.metric,
        sequences[chosen],
        trainer.sign * value,
        tuple(trainer.sign * confirmation for confirmation in confirmations),
        _share_beyond(strategy, sequences, values, sequences[chosen], confirmations),
        trainer.trials(sequences),
        len(trainings(*sequences)) + len(confirmations) * space.tasks,
        tuple(predictors),
        trainer.experiment,
        request.budget,
    )


def _inspect_run(options: Mapping[str, Any]) -> tuple[SequenceSpace, int]:
    """Return the space of class orders, and the seed for choosing orders."""
    from edgecil.training.planner import inspect

    run_options = {name: value for name, value in options.items() if name not in ("config", "out")}
    config, _ = resolve_options(options["config"], run_options)
    methods = config.method
    if len(methods) != 1:
        raise UsageError(
            f"A search requires exactly one method. Got {len(methods)}: {', '.join(methods)}."
        )
    if config.given_tasks is not None:
        raise UsageError("A search arranges the classes itself; leave `given_tasks` out.")
    inspection = inspect(config)
    assert inspection is not None  # an unknown dataset is an error here
    return inspection.space, config.order_seed or 0


def _share_beyond(
    strategy: Strategy,
    sequences: Sequence[ClassSequence],
    values: Sequence[float],
    chosen: ClassSequence,
    confirmations: Sequence[float],
) -> float:
    """Return the share of random orders that are less extreme than the chosen one."""
    value = values[list(sequences).index(chosen)]
    if len(set(sequences)) == strategy.space.size:
        gains = np.array(values) - value
        is_beyond = gains > SAME if strategy.goal == "worst" else gains < -SAME
        return float(np.mean(is_beyond))
    count = len(confirmations)
    trained = [*sequences, *[chosen] * count]
    results = [*values, *confirmations]
    mean = float(np.mean(confirmations)) if count else value
    error = strategy.noise(trained, results) / np.sqrt(max(count, 1))
    return strategy.share_beyond(trained, results, mean, error)


class _Trainer:
    """Trains sequences and reads their values, of which a higher one is always better."""

    def __init__(self, options: Mapping[str, Any], metric: str, classifier: str | None) -> None:
        self._options = dict(options)
        self._metric = metric
        self._classifier = classifier
        self.sign = 1.0 if METRICS[metric].higher_is_better else -1.0

    def train_first(self, count: int, *, overwrite: bool | None) -> list[ClassSequence]:
        """Train Latin orders and, if the classes have a similarity, the probes; return them."""
        probe_count = PROBES.default_budget
        if count > probe_count:
            with_probes = {PROBES.name: None, LATIN.name: count - probe_count}
            with suppress(PrerequisiteError):
                return self._train_protocols(with_probes, overwrite=overwrite)
        return self._train_protocols({LATIN.name: count}, overwrite=overwrite)

    def _train_protocols(
        self, protocols: Mapping[str, int | None], *, overwrite: bool | None
    ) -> list[ClassSequence]:
        self._first: dict[str, Any] = {"protocol": format_protocols(protocols)}
        self.train(**self._first, keep_states=True, overwrite=overwrite)
        stored = self.experiment.sequences()
        sequences: dict[ClassSequence, None] = {}
        for name in protocols:
            sequences |= dict.fromkeys(run.sequence for run in stored[name])
        return list(sequences)

    def train(self, *, keep_states: bool = False, **options: Any) -> None:
        """Train with one seed for all orders, and read all values."""
        execution = {**self._options["execution"], "keep_states": keep_states}
        training = {**self._options["training"], "one_seed": True}
        changes = {"repeats": 1, **options, "training": training, "execution": execution}
        with warnings.catch_warnings():  # the confirmation repeats, and probes may take class means
            for expected in ("One training per order", ".*that of class means of"):
                warnings.filterwarnings("ignore", expected, EdgecilWarning)
            self.experiment: Experiment = run(**{**self._options, **changes})
        results = self.experiment.results()
        self.method = results[0].method
        self._values = {
            (run.sequence, run.seed): run.metric(self._metric, self._classifier) for run in results
        }

    def confirm(self, sequence: ClassSequence, count: int) -> list[float]:
        """Train a sequence with other training seeds, and return the values."""
        if not count:
            return []
        self.train(sequences={CONFIRMATION: [sequence]}, repeats=count + 1)
        return [self.value(sequence, seed) for seed in range(1, count + 1)]

    def has_trained(self, sequences: Sequence[ClassSequence]) -> bool:
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
        """Delete the states that were kept for later proposals."""
        self.train(**self._first)
        if proposals:
            self.train(sequences={SEARCH: list(proposals)})
