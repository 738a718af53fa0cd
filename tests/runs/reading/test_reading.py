"""How tables are understood: settings, steps, directions, units, published means, logged orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import edgecil
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.runs.cells.cell_table import CellTable
from edgecil.runs.cells.run_log import run_table
from edgecil.runs.published import PublishedResult
from edgecil.runs.reading import Reading, ReadingQuestion
from edgecil.runs.reading.reading import read_cells

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(text: str, name: str = "a.csv") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def values_of(reading: Reading) -> dict[str, list[float]]:
    return {
        f"{method} {table.dataset}".strip(): table.values[table.method == number].tolist()
        for table in reading.runs
        for number, method in enumerate(table.methods)
    }


def test_settings_that_differ_are_kept_apart_and_others_are_not(write: Write) -> None:
    rows = [
        f"er,{buffer},0.1,{seed},{50 + buffer / 100 + seed}"
        for buffer in (200, 500)
        for seed in (0, 1)
    ]
    path = write("\n".join(["method,buffer,lr,seed,accuracy", *rows]))
    reading = edgecil.read(path)
    assert values_of(reading) == {
        "er (buffer 200)": [52.0, 53.0],
        "er (buffer 500)": [55.0, 56.0],
    }
    assert "buffer kept apart" in reading.line
    with pytest.raises(DataError, match="repeats row 2"):  # two runs of one seed are no seeds
        edgecil.read(path, by=["lr"])
    assert values_of(edgecil.read(path, only={"buffer": "500"})) == {"er": [55.0, 56.0]}


def test_the_last_step_counts_and_others_on_request(write: Write) -> None:
    rows = [f"er,{seed},{step},{80 - 10 * step + seed}" for seed in (0, 1) for step in (1, 2, 3)]
    path = write("\n".join(["method,seed,session,avg_acc", *rows]))
    assert values_of(edgecil.read(path)) == {"er": [50.0, 51.0]}
    assert "last of 3 tasks" in edgecil.read(path).line
    assert values_of(edgecil.read(path, at=1)) == {"er": [70.0, 71.0]}
    best = edgecil.read(path, at="best")
    assert (values_of(best), "best of 3 tasks" in best.line) == ({"er": [70.0, 71.0]}, True)
    with pytest.raises(DataError, match="has session 9"):
        edgecil.read(path, at=9)


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_a_verdict_on_forgetting_does_not_depend_on_its_scale(unit: float) -> None:
    values = {"a": (31.0, 30.0, 32.0, 31.5), "b": (21.0, 22.0, 20.0, 21.5)}
    frame = pandas.DataFrame(
        [
            {"method": method, "seed": seed, "forgetting": value * unit}
            for method, own in values.items()
            for seed, value in enumerate(own)
        ]
    )
    pair = edgecil.compare(frame)["a", "b"]
    assert pair.difference == pytest.approx(10.0)
    assert "b is clearly better than a" in str(edgecil.compare(frame)).replace("\n", " ")


def test_losses_and_errors_keep_their_unit(write: Write) -> None:
    path = write("method,seed,test_err\ner,0,0.388\ner,1,0.396\n")
    reading = edgecil.read(path)
    assert (values_of(reading), reading.higher_is_better) == ({"er": [0.388, 0.396]}, False)


def test_an_unknown_direction_is_one_question_and_travels_to_the_verdict(write: Write) -> None:
    values = {"a": (55, 56.3, 57, 58.2), "b": (50, 51, 52, 53)}
    rows = [f"{name},{seed},{value}" for name in values for seed, value in enumerate(values[name])]
    path = write("\n".join(["method,seed,score2", *rows]))
    with pytest.raises(ReadingQuestion, match="'score2' may be better high or low") as asked:
        edgecil.compare(path)
    assert asked.value.options == {"higher_is_better": [True, False]}
    high = str(edgecil.compare(path, higher_is_better=True))
    low = str(edgecil.compare(path, lower_is_better=True))
    assert "a is clearly better than b" in high.replace("\n", " ")
    assert "b is clearly better than a" in low.replace("\n", " ")
    with pytest.raises(UsageError, match="not both"):
        edgecil.read(path, higher_is_better=True, lower_is_better=True)


def test_a_column_that_may_be_three_things_is_asked_about(write: Write) -> None:
    path = write("method,foo,accuracy\ner,0,61\ner,1,62\nder,0,63\nder,1,64\n")
    with pytest.raises(ReadingQuestion, match="'foo'") as asked:
        edgecil.read(path)
    counts = {}
    for answer in asked.value.options["columns"]:
        counts[answer.partition("=")[0]] = values_of(edgecil.read(path, columns=answer))
    assert counts["seed"] == {"er": [61.0, 62.0], "der": [63.0, 64.0]}
    assert counts["step"] == {"er": [62.0], "der": [64.0]}
    assert list(counts["setting"]) == ["er (foo 0)", "er (foo 1)", "der (foo 0)", "der (foo 1)"]


def test_rows_of_training_and_means_are_no_runs(write: Write) -> None:
    rows = ["er,0,train,90", "er,0,test,61", "er,1,train,91", "er,1,test,63", "er,mean,test,62"]
    reading = edgecil.read(write("\n".join(["method,seed,split,accuracy", *rows])))
    assert values_of(reading) == {"er": [61.0, 63.0]}
    assert any("no runs" in note for note in reading.notes)


def test_files_of_seeds_belong_together(write: Write, tmp_path: Path) -> None:
    for method, value in (("er", 60), ("der", 70)):
        for seed in range(3):
            write(f"accuracy,forgetting\n{value + seed},20\n", f"{method}_seed{seed}.csv")
    reading = edgecil.read(tmp_path)
    assert values_of(reading) == {"der": [70.0, 71.0, 72.0], "er": [60.0, 61.0, 62.0]}
    assert "3 seeds" in reading.line


MEANS = "method,dataset,accuracy_mean,accuracy_std{}\ner,toy,80.5,1.5{}\nder,toy,82,0{}\n"


def test_means_with_spreads_are_published_results(write: Write) -> None:
    reading = edgecil.read(write(MEANS.format(",n_seeds", ",3", ",3")))
    assert reading.runs == []
    assert [(it.method, it.mean, it.std, it.n, it.ddof) for it in reading.published] == [
        ("er", 80.5, 1.5, 3, None),
        ("der", 82.0, 0.0, 3, None),
    ]
    assert reading.published[0].sample_std == pytest.approx(1.5 * np.sqrt(3 / 2))
    path = write(MEANS.format("", "", ""))
    with pytest.raises(ReadingQuestion) as asked:
        edgecil.read(path)
    assert asked.value.options == {"n": [3, 5, 10]}
    (er, _) = edgecil.read(path, n=5, std_ddof=1).published
    assert (er.n, er.ddof, er.sample_std) == (5, 1, 1.5)


def test_the_header_of_a_column_may_name_the_number_of_runs(write: Write) -> None:
    path = write("method,accuracy (5 seeds)\ner,80.5 ± 1.5\nder,82 ± 1\n")
    reading = edgecil.read(path, std_ddof=0)
    assert reading.metric == "accuracy"
    assert [result.n for result in reading.published] == [5, 5]


def test_columns_of_means_and_spreads_are_methods_unless_they_name_metrics(write: Write) -> None:
    methods = "er_mean,er_std,icarl_mean,icarl_std,dataset\n60,1.5,65,2,toy\n50,1,55,3,cub\n"
    reading = edgecil.read(write(methods), n=3)
    values = [(it.method, it.dataset, it.mean, it.std) for it in reading.published]
    assert sorted(values, key=str) == [
        ("er", "cub", 50.0, 1.0),
        ("er", "toy", 60.0, 1.5),
        ("icarl", "cub", 55.0, 3.0),
        ("icarl", "toy", 65.0, 2.0),
    ]
    metrics = (
        "method,acc_mean,acc_std,forgetting_mean,forgetting_std\ner,60,1.5,20,2\nder,65,1,15,1\n"
    )
    for name, means in (("accuracy", [60.0, 65.0]), ("forgetting", [20.0, 15.0])):
        reading = edgecil.read(write(metrics), n=3, metric=name)
        assert [(it.method, it.mean) for it in reading.published] == list(
            zip(("er", "der"), means, strict=True)
        )


def published(caption: str, cell: str = "80.5 ± 1.5", **options: Any) -> PublishedResult:
    table = CellTable(
        "Markdown table", "paper.md", ("Method", "Accuracy"), (("ER", cell),), caption=caption
    )
    (result,) = read_cells([table], **options).published
    return result


def test_captions_say_what_a_spread_is_and_of_how_many_runs() -> None:
    result = published("Mean and standard deviation over five seeds.")
    assert (result.mean, result.std, result.n) == (80.5, 1.5, 5)
    error = published("Mean and standard error of 4 runs")
    assert (error.std, error.n, error.ddof) == (pytest.approx(3.0), 4, 1)
    constant = published("", "80.5")
    assert (constant.std, constant.n, constant.is_constant) == (None, None, True)
    with pytest.raises(ReadingQuestion, match="standard deviations or standard errors") as asked:
        published("Results", "80.5 ± 1.5")
    assert set(asked.value.options) == {"n", "std_ddof"}
    assert published("Results", n=3, std_ddof=0).std == 1.5


def log(seed: int, order: Sequence[int], last: float, place: str = "", **facts: Any) -> CellTable:
    table = run_table(
        "PyCIL log",
        f"logs/{seed}.log",
        accuracies=[[90.0], [last, 80.0]],
        facts={
            "method": "er",
            "dataset": "toy",
            "seed": seed,
            "class_order": " ".join(map(str, order)),
            "task_sizes": "2 2",
            "unit": "%",
            **facts,
        },
    )
    return CellTable(
        table.form, table.source, table.header, table.rows, place, "", table.facts, table.roles
    )


def test_logs_of_one_order_are_trainings_and_those_of_several_are_orders() -> None:
    same = read_cells([log(seed, [3, 1, 0, 2], 60.0 + seed) for seed in range(3)])
    design = same.runs[0].design("er")
    assert (design.varies, design.runs, design.orders) == ("trainings", 3, 1)
    assert same.runs[0].values.tolist() == [70.0, 70.5, 71.0]
    orders = {seed: np.random.RandomState(seed).permutation(4).tolist() for seed in (0, 3, 6)}
    drawn = read_cells([log(seed, orders[seed], 60.0, shuffle="True") for seed in orders])
    assert drawn.runs[0].protocols == ("random-legacy",)
    assert drawn.runs[0].design("er").varies == "both"


def test_logs_of_other_settings_and_tasks_are_kept_apart() -> None:
    order = [3, 1, 0, 2]
    reading = read_cells([log(0, order, 60.0, lr="0.1"), log(1, order, 61.0, lr="0.2")])
    assert reading.methods == ("er (lr 0.1)", "er (lr 0.2)")
    three = CellTable(
        "PyCIL log",
        "logs/9.log",
        ("after task", "accuracy of all classes"),
        ((0, 90.0), (1, 80.0), (2, 70.0)),
        facts={**log(9, order, 0.0).facts, "task_sizes": "2 1 1"},
        roles={"after task": "step", "accuracy of all classes": "curve"},
    )
    apart = read_cells([log(0, order, 60.0), three], metric="last")
    assert apart.datasets == ("toy (tasks 2 of 2)", "toy (tasks 2 and 2 of 1)")


def test_of_two_runs_of_one_seed_in_a_log_the_later_one_counts() -> None:
    order = [3, 1, 0, 2]
    restarted = [log(0, order, 10.0, "run 1"), log(0, order, 60.0, "run 2")]
    reading = read_cells(restarted)
    assert reading.runs[0].values.tolist() == [70.0]
    assert any("later one counts" in note for note in reading.notes)


@pytest.mark.parametrize("name", ["order_seed", "class_order"])
def test_one_order_and_several_seeds_in_a_table_are_trainings(name: str, write: Write) -> None:
    rows = [f"{method},1993,{seed},{60 + seed}" for method in ("er", "der") for seed in range(3)]
    table = edgecil.read(write("\n".join([f"method,{name},seed,accuracy", *rows]))).runs[0]
    design = table.design("er")
    assert (design.varies, design.runs, design.paired_by) == ("trainings", 3, "nothing")


def test_a_reading_is_shown_saved_and_used_again(write: Write, tmp_path: Path) -> None:
    text = "name2,graine,exactitude\na,0,61\na,1,62\n"
    options: dict[str, Any] = {
        "columns": {"method": "name2", "seed": "graine"},
        "metric": "exactitude",
        "higher_is_better": True,
    }
    reading = edgecil.read(write(text), **options)
    assert str(reading).startswith("Read: 1 method × 2 seeds; metric exactitude, higher is better.")
    assert "<p>Read: 1 method" in reading._repr_html_()
    reading.save(tmp_path / "reading.toml")
    other = write(text.replace("61", "71"), "b.csv")
    again = edgecil.read(other, reading=tmp_path / "reading.toml")
    assert (again.line, again.runs[0].values.tolist()) == (reading.line, [71.0, 62.0])
    (tmp_path / "reading.toml").write_text("colums = 'seed=a'\n")
    with pytest.raises(EdgecilError, match="Did you mean 'columns'"):
        edgecil.read(other, reading=tmp_path / "reading.toml")
    with pytest.raises(DataError, match="no file"):
        edgecil.read(other, reading=tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": "sead=a"}, "Did you mean 'seed'"),
        ({"columns": "seed=nothing"}, "'columns' must name columns"),
        ({"columns": "seed"}, "NAME=VALUE"),
        ({"only": "method=none"}, "No row of"),
        ({"at": "first"}, "'at' must be"),
        ({"n": 0}, "'n' must be"),
        ({"std_ddof": 2}, "'std_ddof' must be"),
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence(
    options: dict[str, Any], words: str, write: Write
) -> None:
    path = write("method,seed,accuracy\ner,0,61\ner,1,62\n")
    with pytest.raises(EdgecilError, match=words):
        edgecil.read(path, **options)


def test_names_of_a_hostile_file_are_escaped_and_short(write: Write) -> None:
    name = "<script>alert(1)</script>" + "x" * 200
    reading = edgecil.read(write(f"method,seed,accuracy\n{name},0,61\n{name},1,62\n"))
    assert "<script>" not in reading._repr_html_()
    assert len(reading.methods[0]) <= 80


def test_many_rows_are_read_in_one_pass_over_different_cells() -> None:
    count = 20_000
    frame = pandas.DataFrame(
        {
            "method": [f"m{row % 10}" for row in range(count)],
            "seed": [row // 10 for row in range(count)],
            "accuracy": np.random.default_rng(0).uniform(50, 60, count),
        }
    )
    (table,) = edgecil.read(frame).runs
    assert len(table) == count
    assert table.values.tolist() == frame["accuracy"].tolist()
