"""Run an experiment: train every method on every class sequence and store the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from edgecil.data.data_slot import dataset_text
from edgecil.errors import UsageError, unknown_name_error
from edgecil.experiments.chosen_similarity import SIMILARITY_FILE
from edgecil.experiments.config import GROUPS, Data, Execution, ExperimentConfig, Training
from edgecil.experiments.config_values import (
    CALL_OPTIONS,
    Config,
    build_config,
    is_config,
    merge_options,
    read_config,
)
from edgecil.experiments.default_directory import default_directory
from edgecil.experiments.experiment import Experiment, TrainingFailedError, stored_answers
from edgecil.experiments.experiment_files import remove_features, writing
from edgecil.experiments.plan import Node
from edgecil.experiments.progress import ProgressWriter
from edgecil.experiments.status import TimeLeft
from edgecil.experiments.store import DATABASE
from edgecil.io.cache import writable_cache
from edgecil.io.device import use_portable_kernels
from edgecil.io.directory import check_owner, check_path
from edgecil.io.packages import require_training
from edgecil.io.progress_bar import Progress
from edgecil.options import checked, place_in_groups
from edgecil.runs.identity import PROCESSOR, VERSIONS
from edgecil.sequences.protocols import RANDOM, REPEATS, find_protocol, parse_protocols
from edgecil.sequences.user_sequences import UserSequence
from edgecil.similarity import save_similarity
from edgecil.similarity.build import SimilaritySource
from edgecil.training.main_guard import refuse_while_importing
from edgecil.training.until import FIRST_LOOK, Goal, check_goal, next_look, parse_goal

if TYPE_CHECKING:
    from edgecil.experiments.store import Store
    from edgecil.training.loading import Prepared
    from edgecil.training.node_training import Outcome

As: TypeAlias = Literal["paper", "authors"]
DatasetLike: TypeAlias = str | Path | Any
Methods: TypeAlias = Sequence[str | Callable[..., Any]] | str | Callable[..., Any]
Sequences: TypeAlias = str | Path | Sequence[UserSequence] | Mapping[str, Sequence[UserSequence]]

GivenTasks: TypeAlias = str | Path | Mapping[str, Sequence[str | int]] | Sequence[str]

_MOST_ORDERS = 30


@checked
def run(
    dataset: DatasetLike | None = None,
    *,
    method: Methods | None = None,
    tasks: int | None = None,
    base: int | None = None,
    increment: int | None = None,
    sizes: Sequence[int] | None = None,
    given_tasks: GivenTasks | None = None,
    protocol: Sequence[str] | str | None = None,
    sequences: Sequences | None = None,
    budget: int | None = None,
    order_seed: int | None = None,
    repeats: int | None = None,
    metric: str | None = None,
    as_: As | None = None,
    out: str | Path | None = None,
    config: Config = None,
    overwrite: bool | None = None,
    data: Data | Mapping[str, Any] | None = None,
    similarity: SimilaritySource | Mapping[str, Any] | str | Path | None = None,
    training: Training | Mapping[str, Any] | None = None,
    execution: Execution | Mapping[str, Any] | None = None,
    **options: Any,
) -> Experiment:
    """Train every method on every sequence, and resume where an earlier call stopped.

    Every finished task training is stored at once. A call with the same options resumes; a call
    with other methods, protocols or a larger budget adds to the experiment; any other change is
    refused.

    Args:
        dataset: name of a dataset, path of a folder of images or shards or of an .npz file, `hf:ID`
            for a dataset of the Hugging Face hub, or `FILE.py:function`. In Python also arrays, a
            dataset of torch or Hugging Face, or a pair of them for training and testing.
        method: names of the methods, or `FILE.py:Class` for your own learner. In Python also
            classes and functions.
        tasks: see :class:`edgecil.sequences.space.TaskSizes`.
        base: see :class:`edgecil.sequences.space.TaskSizes`.
        increment: see :class:`edgecil.sequences.space.TaskSizes`.
        sizes: see :class:`edgecil.sequences.space.TaskSizes`.
        given_tasks: see :class:`edgecil.sequences.space.TaskSizes`.
        protocol: protocols that choose the class sequences; by default three random orders for the
            distribution and two `probes`, which show what random orders hardly ever do.
        sequences: file with your own class sequences, in place of protocols or beside them. In
            Python also a list, or lists by the name under which results are stored.
        budget: number of sequences of each protocol; 3 by default for most protocols.
        order_seed: seed for choosing class orders.
        repeats: number of trainings of each sequence, numbered 0, 1, … (default: 1);
            each sequence and repeat has its own training seed.
        metric: metric that analyses of the experiment use by default; results do not depend on it
            (default: accuracy).
        as_: follow the EDGE `paper`, or the code of its `authors`: protocols, encoder and template,
            setup, training seeds and metric, unless they are given.
        out: the experiment directory, which is created if necessary; by default the directory in
            `config`, or else a folder under `runs/` that is named after the dataset, the methods
            and the settings.
        config: TOML file, bundled recipe (`recipe:demo`), JSON file of PyCIL or PILOT, or directory
            of an experiment, with options; those that are given beside it take precedence. In
            Python also a mapping or a configuration.
        overwrite: delete existing results in `out` and start over.
        data: classes and inputs; like the other groups an object or a mapping of its options.
        similarity: where the similarity of the classes comes from.
        training: how learners are trained.
        execution: how the experiment is computed and where results go.
        options: options of these four groups by their names alone, such as `epochs=3`.

    Returns:
        The experiment, with the work of this call in `summary`.

    Raises:
        TrainingFailedError: if a task training raised. All other results are stored by then; the
            error carries the experiment.
    """
    of_call = ("out", "config", "overwrite", "options")
    values = {name: value for name, value in locals().items() if name not in (*of_call, "of_call")}
    refuse_while_importing()
    require_training()
    request = read_request(config, {**values, **options}, out=out, overwrite=overwrite)
    return _run_with_progress(request)


def _run_with_progress(request: RunRequest) -> Experiment:
    """Train what a call asks for, and show how far it is and how long it still takes."""
    left = TimeLeft((), {})

    with Progress("tasks", shown=request.execution.progress, estimate=lambda: left.seconds) as bar:

        def start(prepared: Prepared, store: Store, capacity: int) -> None:
            nonlocal left
            if request.is_default_folder:
                bar.note(f"Results are stored in {request.out}.", once="out")
            if bar.shown:
                for name, sentence in prepared.notes.items():
                    bar.note(sentence, once=name)  # with `until`, a protocol grows
                measured = {node: result.seconds for node, result in store.done().items()}
                finished = {*measured, *(step for run in store.whole_runs() for step in run.path)}
                remaining = [node for node in prepared.plan if node not in finished]
                left = TimeLeft(remaining, measured, workers=capacity)
                bar.start(len(prepared.plan), len(prepared.plan) - len(remaining))

        def advance(node: Node, outcome: Outcome) -> None:
            left.end(node, None if outcome.result is None else outcome.result.seconds)
            bar.advance(node.method)

        return run_request(request, start, advance)


@dataclass(frozen=True)
class RunRequest:
    """What a call of `run` asks for; with a goal, the protocol adds random orders.

    `is_default_folder` is true if neither the call nor its configuration names the directory.
    """

    config: ExperimentConfig
    execution: Execution
    out: Path
    overwrite: bool
    goal: Goal | None
    is_default_folder: bool = False


def read_request(
    config: Config,
    options: Mapping[str, Any],
    *,
    out: str | Path | None = None,
    overwrite: bool | None = None,
) -> RunRequest:
    """Return what a configuration and the options beside it ask for.

    Options of groups may be given by their names alone. A file of an experiment may be given in
    place of the dataset.
    """
    options = place_in_groups(options, GROUPS)
    if config is None and is_config(options.get("dataset")):
        config, options = options["dataset"], {**options, "dataset": None}
    values = read_config(config, options=options)
    experiment, execution = resolve_options(values, options)
    is_default_folder = out is None and not values.get("out")
    folder = default_directory(experiment) if is_default_folder else find_directory(values, out)
    overwrite = bool(values.get("overwrite") if overwrite is None else overwrite)
    goal = None if execution.until is None else parse_goal(execution.until)
    if goal is not None:
        has_protocol = merge_options(values, options).get("protocol") is not None
        experiment = for_goal(
            goal, experiment, folder, has_protocol=has_protocol, overwrite=overwrite
        )
    return RunRequest(experiment, execution, folder, overwrite, goal, is_default_folder)


def run_request(
    request: RunRequest,
    on_start: Callable[[Prepared, Store, int], None] = lambda *_: None,
    on_node: Callable[[Node, Outcome], None] = lambda node, outcome: None,
) -> Experiment:
    """Train what a call asks for."""
    config, most = request.config, request.execution.repeats_on
    train = partial(_run, on_start=on_start, on_node=on_node)
    experiment = (
        train(request) if request.goal is None else _run_until(request.goal, request, train)
    )
    if most is not None:
        repeated = replace(
            config,
            protocol=(REPEATS,),
            sequences={REPEATS: tuple(map(str, experiment.first_orders(most)))},
            repeats=max(2, config.repeats),
            training=replace(config.training, one_seed=config.shares_seed),
            budget=None,
        )
        again = train(replace(request, config=repeated, overwrite=False))
        experiment = _add_up(experiment, again)
    return experiment


def for_goal(
    goal: Goal, config: ExperimentConfig, out: Path, *, has_protocol: bool, overwrite: bool
) -> ExperimentConfig:
    """Return the configuration of a run that adds random orders, at most as many as its budget."""
    from edgecil.methods import get_method  # it imports torch

    chosen = config.protocol if has_protocol else (RANDOM.name,)
    budgets = parse_protocols(chosen, user_sequences=config.sequences)
    random = all(find_protocol(name).independent for name in budgets)
    if len(budgets) != 1 or not random or config.sequences:
        raise UsageError(
            f"`until` adds random orders and requires a protocol like {RANDOM.name!r}. Got "
            f"{', '.join(map(repr, config.protocol))} instead."
        )
    available = [get_method(spec).name for spec in config.method]
    if not overwrite and (out / DATABASE).exists():
        available += [run.method for run in Experiment.open(out).results()]
    for name in goal.methods:
        if name not in available:
            raise unknown_name_error("method in `until`", name, list(dict.fromkeys(available)))
    name, budget = budgets.popitem()
    return replace(config, protocol=(name,), budget=budget or config.budget or _MOST_ORDERS)


def _run_until(goal: Goal, request: RunRequest, train: Callable[..., Experiment]) -> Experiment:
    """Add orders until the goal is decided or the budget is spent."""
    config, done = request.config, None
    most = config.budget or _MOST_ORDERS
    budget = min(FIRST_LOOK, most)
    while True:
        overwrite = request.overwrite and done is None
        request_so_far = replace(
            request, config=replace(config, budget=budget), overwrite=overwrite
        )
        experiment = train(request_so_far)
        done = experiment if done is None else _add_up(done, experiment)
        table = experiment.table(config.metric)
        accuracies = {
            name: table.orders(name, config.protocol_names[0]).by_sequence()
            for name in table.methods
        }
        status = check_goal(
            goal, accuracies, one_seed=table.shares_seeds, level=request.execution.level
        )
        done = replace(done, goal=status)
        if status.answer is not None or budget >= min(most, table.space.size):
            return done
        budget = min(next_look(budget), most)


def _add_up(first: Experiment, second: Experiment) -> Experiment:
    """Return an experiment whose summary counts the work of two calls."""
    assert first.summary is not None
    assert second.summary is not None
    trained = first.summary.trained + second.summary.trained
    return replace(first, summary=replace(first.summary, trained=trained))


def _run(
    request: RunRequest,
    on_start: Callable[[Prepared, Store, int], None],
    on_node: Callable[[Node, Outcome], None],
) -> Experiment:
    """Train every run of one configuration."""
    config, execution, out = request.config, request.execution, request.out
    use_portable_kernels(precision=config.training.precision, device=config.training.device)
    writable_cache()  # before worker processes, which have the same
    from edgecil.experiments.trackers import TRACKERS, open_trackers
    from edgecil.training import scheduler
    from edgecil.training.executors import get_executor
    from edgecil.training.learner_records import LearnerRecords, unchecked_learners
    from edgecil.training.loading import prepare
    from edgecil.training.order_evaluation import evaluate_orders

    trackers = open_trackers(**{name: getattr(execution, name) for name in TRACKERS})
    check_owner(out, "experiment")
    answered = {} if request.overwrite else stored_answers(out)
    prepared = prepare(config, answered, remote=execution.executor == "ray")
    if execution.part is not None:
        prepared = replace(prepared, plan=prepared.plan.shard(*execution.part))
    shared = str((out / "shared").absolute())
    environment = replace(prepared.context.environment, shared=shared)
    own_learners = prepared.context.methods
    context = replace(
        prepared.context,
        environment=environment,
        allow_mismatch=execution.allow_mismatch,
        unchecked=unchecked_learners(None if request.overwrite else out, own_learners),
    )
    executor = get_executor(execution, context, out)
    with closing(executor), writing(out, overwrite=request.overwrite) as store:
        allowed = (PROCESSOR, *VERSIONS) if execution.allow_mismatch else (PROCESSOR,)
        records = LearnerRecords(store, own_learners)
        identity = {**prepared.identity, **executor.identity, **records.identity()}
        unequal = store.check_identity(identity, allowed=allowed)
        if prepared.doubts:
            store.add_remark("data", prepared.doubts)
        for name in own_learners:
            records.add_files(name, context.files_of(name))
        if PROCESSOR in unequal:
            sentence = (
                f"{out} was begun on another type of processor ({unequal[PROCESSOR]}): new results "
                "differ from those of the first as with another training seed."
            )
            prepared = replace(prepared, notes={**prepared.notes, PROCESSOR: sentence})
        _store_plan(store, prepared, out)
        on_start(prepared, store, executor.capacity)
        with ProgressWriter(out, workers=executor.capacity, shard=execution.shard) as progress:

            def take(node: Node, outcome: Outcome) -> None:
                records.take(node, outcome)
                on_node(node, outcome)

            observer = scheduler.Observer(
                on_job=lambda job: progress.begin(job.first),
                on_job_end=lambda job: progress.end(job.first),
                on_node=take,
            )
            scenario, methods = context.scenario, prepared.context.configs
            evaluated = evaluate_orders(
                prepared.plan,
                [name for name in methods if context.entry(name).order_free],
                scenario.test.labels.cpu().numpy(),
                store,
                executor,
                observer,
                worker=unequal,
            )
            summary = scheduler.execute(
                evaluated.plan,
                store,
                executor,
                observer,
                keep_states=execution.keep_states,
                retries=execution.retries,
                worker=unequal,
            )
            summary = replace(
                summary,
                trained=summary.trained + evaluated.added,
                reused=summary.reused + evaluated.reused,
            )
        if not summary.failed:
            remove_features(out)
    experiment = Experiment(out, summary)
    for tracker in trackers:
        tracker(experiment.results())
    if summary.failed:
        failures = experiment.failures()
        raise TrainingFailedError(
            experiment, [failure for failure in failures if failure.node in summary.failed]
        )
    return experiment


def _store_plan(store: Store, prepared: Prepared, out: Path) -> None:
    """Store the sequences, the similarity they were chosen by, and the configuration."""
    for name, runs in prepared.sequences.items():
        is_users = name in prepared.config.sequences  # these add to sequences of earlier calls
        store.add_sequences(name, runs, keep="all" if is_users else "finished")
    if prepared.similarity is not None and not (out / SIMILARITY_FILE).exists():
        save_similarity(prepared.similarity, out / SIMILARITY_FILE)
    store.add_config(asdict(prepared.config))


def resolve_options(
    values: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[ExperimentConfig, Execution]:
    """Build the experiment and its execution from a configuration and further options."""
    merged = merge_options(values, options)
    reading = merged.pop("as_", None)  # the keyword; `as` is not a name in Python
    merged |= {} if reading is None else {"as": reading}
    if merged.get("as") or Training.options_in(merged.get("training")).get("setup") is not None:
        require_training()
        from edgecil.training.presets import expand_presets  # it imports torch

        merged = expand_presets(merged)
    values = {name: value for name, value in merged.items() if name not in CALL_OPTIONS}
    values["method"] = _method_specs(values.get("method"))
    if values.get("dataset") is not None:
        values["dataset"] = dataset_text(values["dataset"])
    config, execution = build_config(values), Execution.from_value(values.get("execution"))
    device = config.training.device
    if execution.devices is not None and device not in ("auto", "cuda"):
        raise UsageError(f"`devices` are GPUs, but `device` is {device!r}; leave it out.")
    return config, execution


def find_directory(values: Mapping[str, Any], out: str | Path | None) -> Path:
    """Return the experiment directory: `out`, or else the one in a configuration."""
    directory = values.get("out") if out is None else out
    if not isinstance(directory, (str, Path)) or not str(directory):
        raise UsageError("`out` is required: give the experiment directory.")
    check_path(Path(directory))
    return Path(directory)


def _method_specs(methods: Any) -> Any:
    """Return methods as text: classes and functions are replaced by `path/to/file.py:Name`."""
    from edgecil.methods import resolve_method

    if isinstance(methods, (list, tuple)):
        return tuple(_method_specs(method) for method in methods)
    if methods is None or isinstance(methods, str):
        return methods
    return resolve_method(methods).spec
