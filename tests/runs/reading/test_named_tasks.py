"""Columns of orders: of classes, of given tasks, or of what is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgecil import analyze, compare, next_runs
from edgecil.analysis.sources import collect_runs
from edgecil.runs.reading.named_tasks import parse_task_order
from edgecil.sequences import ClassSequence

TASKS = ["dbpedia", "amazon reviews", "yahoo"]
NAMED = """method,order,accuracy
a,dbpedia > amazon reviews > yahoo,60
a,yahoo > dbpedia > amazon reviews,62
a,amazon reviews > yahoo > dbpedia,64
b,dbpedia > amazon reviews > yahoo,70
b,yahoo > dbpedia > amazon reviews,71
b,amazon reviews > yahoo > dbpedia,72
"""
NUMBERED = """method,order,accuracy
a,Order-1,60
a,Order-2,62
a,Order-3,64
b,Order-1,70
b,Order-2,71
b,Order-3,72
"""


@pytest.fixture
def write(tmp_path: Path):
    def write_table(text: str) -> Path:
        path = tmp_path / "published.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write_table


@pytest.mark.parametrize(
    "text",
    [
        "yahoo > dbpedia > amazon reviews",
        "Yahoo -> DBpedia -> Amazon Reviews",
        "yahoo→dbpedia→amazon reviews",
        "['yahoo', 'dbpedia', 'amazon reviews']",
        "yahoo;dbpedia;amazon reviews",
    ],
)
def test_an_order_of_tasks_is_read_by_their_names(text: str) -> None:
    assert parse_task_order(text, TASKS) == ClassSequence([[2], [0], [1]])


@pytest.mark.parametrize("text", ["yahoo > dbpedia", "yahoo > dbpedia > dbpedia", "Order-1", ""])
def test_other_texts_are_no_order_of_the_tasks(text: str) -> None:
    assert parse_task_order(text, TASKS) is None


def test_named_orders_of_given_tasks_are_sequences_in_the_space_of_their_permutations(
    write,
) -> None:
    path = write(NAMED)
    [dataset] = collect_runs(path, given_tasks=TASKS).datasets
    table = dataset.table
    assert (table.arranges, table.names, table.space.size) == ("tasks", tuple(TASKS), 6)
    assert ClassSequence([[2], [0], [1]]) in table.sequences
    text = str(compare(path, given_tasks=TASKS))
    assert "task orders" in text
    assert "class order" not in text
    following = str(next_runs(path, given_tasks=TASKS))
    assert "amazon reviews, dbpedia, yahoo" in following


@pytest.mark.parametrize(
    ("column", "options", "expected"),
    [
        ("order", {}, "orders and trainings like these"),
        ("order", {"given_tasks": TASKS}, "task orders and trainings like these"),
        ("task order", {}, "task orders and trainings like these"),
        ("class_order", {}, "class orders and trainings like these"),
    ],
)
def test_a_claim_is_about_what_the_orders_arrange(column, options, expected, write) -> None:
    path = write(NUMBERED.replace("order", column, 1))
    methods = analyze(path, **options).datasets[0].methods
    assert {method.claims.population for method in methods.values()} == {expected}


def test_two_files_of_task_orders_are_compared_as_task_orders(tmp_path: Path) -> None:
    header, *rows = NAMED.splitlines()
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, name in zip(paths, "ab", strict=True):
        path.write_text("\n".join([header, *(row for row in rows if row[0] == name)]))
    comparison = compare(paths, given_tasks=TASKS)["a", "b"]
    assert comparison.population == "task orders like these, for one training seed"
    [dataset] = collect_runs(paths, given_tasks=TASKS).datasets
    assert (dataset.table.arranges, dataset.table.chance) == ("tasks", None)


WIDE = """Method,{0},Order-2,Order-3,avg
IncLoRA,66,64.9,68.3,66.4
Replay,55.2,56.9,61.3,57.8
O-LoRA,75.4,75.7,76.3,75.8
"""
BENCHMARKS = """Testing accuracy (%)

| | four tasks | | | | fifteen tasks | | | |
|---|---|---|---|---|---|---|---|---|
| method | Order-1 | Order-2 | Order-3 | avg | Order-4 | Order-5 | Order-6 | avg |
| IncLoRA | 66 | 64.9 | 68.3 | 66.4 | 63.3 | 58.5 | 61.7 | 61.2 |
| O-LoRA | 75.4 | 75.7 | 76.3 | 75.8 | 72.3 | 64.8 | 71.6 | 69.6 |
"""
LATEX = r"""\begin{tabular}{l|cccc|cccc}
& \multicolumn{4}{c|}{\textbf{four tasks}} & \multicolumn{4}{c}{\textbf{fifteen tasks}} \\
\textbf{method} & \textbf{Order-1} & Order-2 & Order-3 & avg & Order-4 & Order-5 & Order-6 & avg \\
\midrule
IncLoRA & 66 & 64.9 & 68.3 & 66.4 & 63.3 & 58.5 & 61.7 & 61.2 \\
O-LoRA & \textbf{75.4} & 75.7 & 76.3 & 75.8 & 72.3 & 64.8 & 71.6 & 69.6 \\
\end{tabular}
"""


@pytest.mark.parametrize("first", ["Order-1", "order_1", "Task order 1", "Order 1"])
def test_a_column_for_each_order_is_read_without_their_average(write, first: str) -> None:
    table = analyze(write(WIDE.format(first)), higher_is_better=True).datasets[0].table
    assert [len(table.orders(method)) for method in table.methods] == [3, 3, 3]
    assert table.orders("O-LoRA").accuracies.tolist() == [75.4, 75.7, 76.3]


@pytest.mark.parametrize(("name", "text"), [("t.md", BENCHMARKS), ("t.tex", LATEX)])
def test_columns_of_orders_stand_below_their_benchmark(tmp_path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    datasets = analyze(path, higher_is_better=True).datasets
    tables = {dataset.dataset: dataset.table for dataset in datasets}
    assert list(tables) == ["four tasks", "fifteen tasks"]
    assert tables["four tasks"].orders("IncLoRA").accuracies.tolist() == [66.0, 64.9, 68.3]
    assert tables["fifteen tasks"].orders("O-LoRA").accuracies.tolist() == [72.3, 64.8, 71.6]
