"""Log files in the format of PyCIL and PILOT, read back as results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgecil.errors import DataError, EdgecilWarning, UsageError
from edgecil.experiments.experiment import Experiment
from edgecil.interop.logs import by_task, import_logs, read_log
from edgecil.runs.metrics import METRICS
from edgecil.sequences import PROTOCOLS, ClassSequence, SequenceSpace, seeded
from edgecil.similarity import SimilaritySource, choose_similarity

SETTINGS = {
    "config": "./exps/icarl.json",
    "prefix": "reproduce",
    "dataset": "cifar100",
    "shuffle": True,
    "init_cls": 50,
    "increment": 25,
    "model_name": "icarl",
    "device": "[device(type='cuda', index=0)]",
    "seed": 1993,
}


def order_of(seed: int, classes: int = 100) -> list[int]:
    return np.random.RandomState(seed).permutation(classes).tolist()


def accuracy_of(label: int, task: int) -> float:
    """What class `label` scores after a task: any function will do."""
    return 90.0 - 3.0 * task + label % 7


def results(
    sizes: list[int], task: int, group: int | None, *, shift: float = 0.0, numpy_2: bool = False
) -> str:
    """A line of results after a task; groups of so many classes, or one per task."""
    seen = sum(sizes[: task + 1])
    starts = [sum(sizes[:index]) for index in range(task + 1)]
    if group is not None:
        starts = list(range(0, seen, group))
    means = {"total": np.mean([accuracy_of(label, task) for label in range(seen)])}
    for start, end in zip(starts, [*starts[1:], seen], strict=True):
        claimed = start + group if group is not None else end
        mean = np.mean([accuracy_of(class_, task) for class_ in range(start, end)])
        means[f"{start:02d}-{claimed - 1:02d}"] = mean
    kind = np.float64 if numpy_2 else float
    return str({key: kind(round(float(value) + shift, 4)) for key, value in means.items()})


def write_log(
    path: Path,
    *,
    group: int | None = 10,
    tasks: int | None = None,
    nme: bool = True,
    numpy_2: bool = False,
    order: list[int] | None = None,
    **changes: Any,
) -> Path:
    settings = {**SETTINGS, **changes}
    order = order or order_of(settings["seed"])
    sizes = [settings["init_cls"]]
    while sum(sizes) < len(order):
        sizes.append(min(settings["increment"], len(order) - sum(sizes)))
    lines = [f"[trainer.py] => {key}: {value}" for key, value in settings.items()]
    lines.append(f"[data_manager.py] => {order}")
    for task in range(len(sizes) if tasks is None else tasks):
        lines.append("[trainer.py] => All params: 464154")
        lines.append(f"[icarl.py] => Task {task}, Epoch 200/200 => Loss 0.1, Train_accy 99.00")
        head = results(sizes, task, group, numpy_2=numpy_2)
        lines.append(f"[trainer.py] => CNN: {head}")
        if nme:
            lines.append(f"[trainer.py] => NME: {results(sizes, task, group, shift=1.0)}")
        lines.append("[trainer.py] => CNN top1 curve: [80.0]")
        lines.append("[trainer.py] => Average Accuracy (CNN): 80.0")
    path.write_text(
        "".join(f"2024-01-01 10:00:00,123 {line}\n" for line in lines), encoding="utf-8"
    )
    return path


def replaced(path: Path, old: str, new: str) -> Path:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def imported(logs: list[Path], tmp_path: Path, **options: Any) -> Experiment:
    """The experiment that holds them; a run that is left out is a warning, and so an error."""
    return import_logs(logs, out=tmp_path / "out", **options)


def left_out(logs: list[Path], tmp_path: Path) -> tuple[Experiment, list[str]]:
    """The experiment, and the sentences on the runs that are not in it."""
    with pytest.warns(EdgecilWarning) as caught:
        experiment = import_logs(logs, out=tmp_path / "out")
    return experiment, [str(one.message).removeprefix("Left out: ") for one in caught]


@pytest.mark.parametrize("numpy_2", [False, True])
@pytest.mark.parametrize(("group", "increment"), [(10, 10), (25, 25), (None, 25), (None, 15)])
def test_groups_that_make_up_the_tasks_give_the_matrix(tmp_path, group, increment, numpy_2) -> None:
    path = tmp_path / "a.log"
    [run] = read_log(write_log(path, group=group, numpy_2=numpy_2, increment=increment))
    sizes = run.sequence.sizes
    reported = run.reported()["head"]
    starts = np.cumsum([0, *sizes])
    for task, row in enumerate(reported.rows):
        for old, entry in enumerate(row):
            labels = range(starts[old], starts[old + 1])
            assert entry == pytest.approx(np.mean([accuracy_of(c, task) for c in labels]), abs=1e-3)
    assert reported.accuracy == pytest.approx(np.mean(reported.rows[-1]))
    last = np.mean([accuracy_of(label, len(sizes) - 1) for label in range(100)])
    assert reported.last == pytest.approx(last, abs=1e-3)
    assert reported.average is not None
    assert reported.average > reported.last
    assert METRICS["forgetting"].compute(reported.counts) > 0.0


def test_the_order_and_the_classifiers_are_those_of_the_log(tmp_path) -> None:
    [run] = read_log(write_log(tmp_path / "a.log", increment=10))
    legacy = seeded(SequenceSpace.base_increment(100, 50, 10), 1993, legacy=True)
    assert run.sequence == legacy
    assert run.label == "seed-1993"
    reported = run.reported()
    assert list(reported) == ["head", "nme"]
    assert reported["nme"].accuracy == pytest.approx(reported["head"].accuracy + 1.0)
    [alone] = read_log(write_log(tmp_path / "b.log", increment=10, nme=False))
    assert list(alone.reported()) == ["head"]


def test_equal_tasks_of_a_balanced_dataset_need_no_groups(tmp_path) -> None:
    """With five classes per task and groups of ten, only the curve is left: A(O) = A_last."""
    [run] = read_log(write_log(tmp_path / "a.log", init_cls=5, increment=5))
    reported = run.reported()["head"]
    assert reported.accuracy == reported.last
    assert reported.rows == ()
    assert np.isnan(reported.counts.accuracies).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"init_cls": 45, "increment": 5},
        {"init_cls": 5, "increment": 5, "dataset": "imagenetr"},
        {"init_cls": 50, "increment": 10, "dataset": "imagenetr"},
    ],
    ids=["unequal tasks", "unbalanced classes", "unbalanced groups"],
)
def test_an_unknown_mean_over_tasks_is_an_error(tmp_path, changes) -> None:
    [run] = read_log(write_log(tmp_path / "a.log", **changes))
    with pytest.raises(DataError, match="mean over tasks"):
        run.reported()


def test_several_seeds_share_a_file(tmp_path) -> None:
    one, two = (
        write_log(tmp_path / f"{seed}.log", increment=10, seed=seed).read_text(encoding="utf-8")
        for seed in (1, 2)
    )
    (tmp_path / "both.log").write_text(one + two, encoding="utf-8")
    runs = read_log(tmp_path / "both.log")
    assert [run.label for run in runs] == ["seed-1", "seed-2"]
    assert [run.order for run in runs] == [order_of(1), order_of(2)]
    assert all(len(run.totals["head"]) == 6 for run in runs)


def test_logs_become_results_like_any(tmp_path) -> None:
    logs = [write_log(tmp_path / f"{seed}.log", increment=10, seed=seed) for seed in (0, 1)]
    logs.append(write_log(tmp_path / "wa.log", increment=10, seed=0, model_name="wa"))
    for _ in range(2):
        experiment = imported(logs, tmp_path)
    drawn = experiment.sequences()["random-legacy"]
    assert [run.label for run in drawn] == ["seed-0", "seed-1"]
    results = experiment.results()
    assert {(run.method, run.seed) for run in results} == {("icarl", 0), ("icarl", 1), ("wa", 0)}
    assert len(results) == 3
    assert all(run.accuracy == run.metric("accuracy", "head") for run in results)
    assert experiment.names is not None
    assert experiment.names[:2] == ("apple", "aquarium_fish")
    assert len(imported(logs[:1], tmp_path).results()) == 3, "earlier imports are kept"
    table = experiment.table()
    assert not table.shares_seeds
    assert table.missing == 0, "no order is expected with another one's seed"
    assert table.repeat.tolist() == [0, 0, 0]
    assert (experiment.status().finished, experiment.status().planned) == (3, 3)


def test_incomplete_runs_are_left_out_and_named(tmp_path) -> None:
    whole = write_log(tmp_path / "a.log", increment=10)
    halves = [
        write_log(tmp_path / f"{n}.log", increment=10, tasks=n).read_text(encoding="utf-8")
        for n in (3, 0)
    ]
    whole.write_text("".join(halves) + whole.read_text(encoding="utf-8"), encoding="utf-8")
    experiment, [sentence] = left_out([whole], tmp_path)
    assert len(experiment.results()) == 1
    assert "after 3 of 6 tasks" in sentence
    with pytest.raises(DataError, match="these logs"), pytest.warns(EdgecilWarning, match="3 of 6"):
        import_logs([tmp_path / "3.log"], out=tmp_path / "out")


def test_a_second_run_on_one_order_is_a_repeat(tmp_path) -> None:
    logs = [write_log(tmp_path / name, increment=10) for name in ("a.log", "b.log")]
    replaced(logs[1], "'total': 7", "'total': 6")
    experiment = imported(logs, tmp_path)
    assert sorted(run.seed for run in experiment.results()) == [1993, 1994]
    assert sorted(experiment.table().repeat.tolist()) == [0, 1]


def test_a_copy_of_a_run_counts_once(tmp_path) -> None:
    log = write_log(tmp_path / "a.log", increment=10)
    copy = write_log(tmp_path / "b.log", increment=10)
    experiment, sentences = left_out([log, copy, log], tmp_path)
    assert len(experiment.results()) == 1
    assert [sentence.partition(":")[0] for sentence in sentences] == [str(copy), str(log)]


def test_orders_of_one_seed_that_differ_are_all_kept(tmp_path) -> None:
    orders = [order_of(seed) for seed in (1, 2, 3)]
    logs = [
        write_log(tmp_path / f"{index}.log", increment=10, seed=5, order=order)
        for index, order in enumerate(orders)
    ]
    imported(logs[:2], tmp_path)
    experiment = imported(logs[2:], tmp_path)
    assert len(experiment.results()) == 3
    sequences = experiment.sequences()["logs"]
    labels = [run.label for run in sequences]
    assert labels[0] == "seed-5"
    assert len(set(labels)) == 3
    assert all(label.startswith("seed-5-") for label in labels[1:])
    cut = (50, *[10] * 5)
    assert [run.sequence for run in sequences] == [
        ClassSequence.from_order(order, cut) for order in orders
    ]


def test_another_run_does_not_replace_one(tmp_path) -> None:
    first = write_log(tmp_path / "a.log", increment=10)
    imported([first], tmp_path)
    replaced(first, "'total': 7", "'total': 6")
    with pytest.raises(UsageError, match="'icarl'"):
        import_logs([first], out=tmp_path / "out")
    imported([first], tmp_path, overwrite=True)


def test_logs_of_other_tasks_do_not_mix(tmp_path) -> None:
    logs = [write_log(tmp_path / f"{i}.log", increment=i, init_cls=i) for i in (10, 20)]
    with pytest.raises(UsageError, match=r"10\.log and .*20\.log .*: sizes: \[10.* against \[20"):
        import_logs(logs, out=tmp_path / "out")
    write_log(logs[1], increment=10, init_cls=10, lrate=0.1)
    with pytest.raises(UsageError, match=r"method icarl: lrate None against '0\.1'"):
        import_logs(logs, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_one_training_seed_for_all_orders_is_one(tmp_path) -> None:
    logs = [
        write_log(tmp_path / f"{n}.log", increment=10, shuffle=False, order=order_of(n))
        for n in (1, 2)
    ]
    assert imported(logs, tmp_path).table().shares_seeds


def test_an_order_of_edge_has_its_label_and_is_not_random(tmp_path) -> None:
    space = SequenceSpace.base_increment(100, 50, 10)
    similarity = choose_similarity(SimilaritySource(), dataset="cifar100")
    hard = PROTOCOLS["edge"].draw(space, similarity=similarity)[0].sequence
    log = write_log(tmp_path / "a.log", increment=10, order=list(hard.order))
    shuffled = write_log(tmp_path / "b.log", increment=10)
    experiment = imported([log, shuffled], tmp_path)
    labels = {name: [run.label for run in runs] for name, runs in experiment.sequences().items()}
    assert labels == {"edge": ["hard"], "random-legacy": ["seed-1993"]}
    assert experiment.record().identity.protocols["edge"]["encoder"] == "minilm-bundled"
    for path, protocol in ((log, "random"), (shuffled, "edge"), (shuffled, "edge-released")):
        with pytest.raises(UsageError, match=f"{path.name}.*{protocol!r} did not choose it"):
            import_logs([path], out=tmp_path / "other", protocol=protocol)
    unknown = write_log(tmp_path / "c.log", increment=10, shuffle=False, order=order_of(3))
    with pytest.raises(UsageError, match="not what the protocol 'edge' chooses"):
        import_logs([unknown], out=tmp_path / "other", protocol="edge")
    assert not (tmp_path / "other").exists()


def test_all_logs_below_a_folder_are_read(tmp_path) -> None:
    folder = tmp_path / "logs"
    (folder / "deep").mkdir(parents=True)
    write_log(folder / "deep" / "0.log", increment=10, seed=0)
    write_log(folder / "1.log", increment=10, seed=1)
    (folder / "other.log").write_text("hello\n", encoding="utf-8")
    experiment, [sentence] = left_out([folder], tmp_path)
    assert sorted(run.seed for run in experiment.results()) == [0, 1]
    assert "other.log" in sentence
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty has no log files"):
        import_logs([tmp_path / "empty"], out=tmp_path / "out")


def fork_log(path: Path, choice: str, orders: list[list[int]], **changes: Any) -> Path:
    """A log of the EDGE authors' fork: three orders, each printed after the dataset's own."""
    parts = []
    for order in orders:
        text = write_log(path, order=order, shuffle=False, eval=choice, increment=10, **changes)
        lines = text.read_text(encoding="utf-8").splitlines(keepends=True)
        place = next(index for index, line in enumerate(lines) if "[data_manager.py]" in line)
        own = f"2024-01-01 10:00:00,123 [data_manager.py] => {list(range(100))}\n"
        parts += [*lines[:place], own, *lines[place:]]
    path.write_text("".join(parts), encoding="utf-8")
    return path


@pytest.mark.parametrize(("given", "stored"), [(None, "edge-released"), ("edge", "edge")])
def test_a_fork_log_of_edge_has_hard_easy_and_median(tmp_path, given, stored) -> None:
    orders = [order_of(seed) for seed in (5, 6, 7)]
    log = fork_log(tmp_path / "edge.log", "edge", orders)
    experiment = imported([log], tmp_path, protocol=given)
    [(protocol, runs)] = experiment.sequences().items()
    assert protocol == stored
    assert [run.label for run in runs] == ["hard", "easy", "median"]
    assert [run.sequence for run in runs] == [
        ClassSequence.from_order(order, (50, *[10] * 5)) for order in orders
    ]
    assert len(experiment.results()) == 3


def test_fork_logs_of_random_and_edge_share_an_experiment(tmp_path) -> None:
    drawn = [np.random.default_rng(seed).permutation(100).tolist() for seed in (0, 42, 1993)]
    chosen = [order_of(5), order_of(6), drawn[0]]
    logs = [
        fork_log(tmp_path / "random.log", "random", drawn),
        fork_log(tmp_path / "edge.log", "edge", chosen),
    ]
    experiment = imported(logs, tmp_path)
    labels = {name: [run.label for run in runs] for name, runs in experiment.sequences().items()}
    assert labels == {
        "rs": ["seed-0", "seed-42", "seed-1993"],
        "edge-released": ["hard", "easy", "median"],
    }
    space = SequenceSpace.base_increment(100, 50, 10)
    assert experiment.sequences()["rs"][1].sequence == seeded(space, 42)
    assert len({(run.seed, run.sequence) for run in experiment.results()}) == 6


def test_the_protocol_of_logs_can_be_given(tmp_path) -> None:
    logs = [write_log(tmp_path / f"{seed}.log", increment=10, seed=seed) for seed in (0, 1)]
    experiment = imported(logs, tmp_path, protocol="Random-Legacy")
    assert list(experiment.sequences()) == ["random-legacy"]
    with pytest.raises(UsageError, match="Unknown protocol 'rnadom'"):
        import_logs(logs, out=tmp_path / "out", protocol="rnadom")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("increment: 25", "increment: 0", "'increment'.*1"),
        ("init_cls: 50", "init_cls: -5", "'init_cls'"),
        ("'total': 8", "'total': 99", "not per cent in"),
        ("'total': ", "'sum': ", "no table of accuracies.*'total'"),
        ("'total': 8", "'total': 1j, '", "no table of accuracies"),  # was read as 1 %
        ("'total': 8", "'total': 1.2.", "no table of accuracies"),
        ("'00-", "'x-", "no table of accuracies"),
        ("increment: 25", f"increment: {'9' * 5000}", "'increment'"),
        ("init_cls: 50", "init: 50", "'init_cls'"),
        ("[data_manager.py] => [", "[data_manager.py] => (", "names no class order"),
    ],
)
def test_nonsense_in_a_log_is_refused(tmp_path, old, new, words) -> None:
    path = replaced(write_log(tmp_path / "a.log"), old, new)
    with pytest.raises(DataError, match=words):
        import_logs([path], out=tmp_path / "out")


def test_an_order_that_no_seed_drew_is_named_by_itself(tmp_path) -> None:
    order = order_of(7)
    [run] = read_log(write_log(tmp_path / "a.log", shuffle=False, order=order, increment=10))
    assert run.sequence == ClassSequence.from_order(order, (50, 10, 10, 10, 10, 10))
    assert run.label.startswith("order-")
    [same] = read_log(write_log(tmp_path / "b.log", shuffle=False, order=order, increment=10))
    assert same.label == run.label


@pytest.mark.parametrize(
    ("groups", "sizes", "balanced", "row"),
    [
        ([(0, 9, 50.0)], (5, 5), True, None),
        ([(0, 9, 50.0)], (10, 1), True, None),
        ([(0, 9, 50.0), (10, 19, 40.0)], (20,), False, None),
        ([(0, 9, 50.0), (10, 19, 40.0)], (20,), True, [45.0]),
        ([(0, 9, 50.0), (10, 19, 40.0)], (15,), True, [pytest.approx((10 * 50 + 5 * 40) / 15)]),
    ],
)
def test_groups_that_cross_tasks_or_are_missing_give_no_row(groups, sizes, balanced, row) -> None:
    assert by_task(groups, sizes, balanced=balanced) == row


def test_a_log_whose_config_asks_for_another_order_is_refused(tmp_path) -> None:
    order = order_of(7)
    asked = write_log(tmp_path / "a.log", order=order, class_order=order)
    assert read_log(asked)[0].order == order
    ignored = write_log(tmp_path / "b.log", order=list(range(100)), class_order=order)
    with pytest.raises(DataError, match="edgecil export"):
        read_log(ignored)
