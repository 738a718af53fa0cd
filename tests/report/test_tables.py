"""The tables hold the numbers of the analysis."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pandas
import pytest

from edgecil.analysis.analysis import analyze
from edgecil.report import analysis_tables as tables
from edgecil.report.analysis_tables import comparisons_table, summary_table, terminal_tables
from edgecil.report.drawing import Text
from edgecil.report.narrative import about_training
from edgecil.report.order_table import OrderTable
from edgecil.report.overview import build_overview
from edgecil.report.table import as_csv, as_latex, as_markdown
from tests.analysis.tables import SPACE, build, noisy, rows, runs_of, six_classes, table_of


def rows_of(table):
    return [dict(zip(table.headers, row, strict=True)) for row in table.rows]


def test_the_summary_has_mean_range_and_ends_with_the_highest_mean_first(dataset) -> None:
    steady, varied = rows_of(summary_table(dataset))
    assert (steady["method"], steady["mean"]) == ("steady", 80.0)
    truth = dataset.methods["varied"].truth.accuracies
    assert varied["mean"] == pytest.approx(truth.mean())
    assert (varied["worst"], varied["best"], varied["orders"]) == (40.0, 80.0, 90)
    assert varied["r"] == dataset.methods["varied"].correlation.pearson
    assert not {"from", "to"} & varied.keys()  # of all orders


def test_every_order_is_in_the_table_and_in_its_csv(dataset) -> None:
    table = tables.orders_table(dataset, OrderTable.of(dataset))
    assert len(table.rows) == 90
    rows = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert len(rows) == 90
    accuracies = [float(row["varied"]) for row in rows]
    assert (min(accuracies), max(accuracies)) == (40.0, 80.0)
    assert len({row["classes"] for row in rows}) == 90
    assert "bee & bug" in rows[0]["classes"]
    assert any("edge hard" in row["chosen by"] for row in rows)


def test_the_terminal_and_the_page_have_the_same_tables(dataset, page) -> None:
    on_page = {table.name: table for table in page.tables}
    printed = terminal_tables(dataset)
    assert [table.name for table in printed] == ["summary", "boundaries", "comparisons"]
    assert all(on_page[table.name].rows == table.rows for table in printed)


def test_the_paper_s_view_has_the_ends_and_the_population_std_of_each_protocol(dataset) -> None:
    for row in rows_of(tables.boundary_table(dataset)):
        values = dataset.table.orders(row["method"], row["protocol"]).accuracies
        assert (row["lowest"], row["highest"]) == (values.min(), values.max())
        assert (row["mean"], row["std"]) == (values.mean(), values.std(ddof=0))
    table = dataset.table
    alone = replace(dataset, table=table.take(table.rows(protocol="random")))
    assert not tables.boundary_table(alone).rows


def test_latex_of_every_table_is_ascii(page) -> None:
    for table in page.tables:
        assert as_latex(table).isascii(), table.name


def bold_cells(table):
    """By column, the first cells of the rows that have a bold cell in it."""
    cells = {}
    for row, column in sorted(table.bold):
        cells.setdefault(table.headers[column], []).append(table.rows[row][0])
    return cells


def made_of(**means):
    """An analysis of methods on 12 random orders, with these means and a spread of 1 point."""
    methods = {
        name: noisy(seed, mean=mean, std=1.0) for seed, (name, mean) in enumerate(means.items())
    }
    every = rows(table_of(methods, ("enumerate",)))
    chosen = {run.sequence for run in every[:90:8]}
    runs = (replace(run, protocol="random") for run in every if run.sequence in chosen)
    return analyze(build(runs), similarity=six_classes()).datasets[0]


def test_the_summary_has_the_interval_of_the_mean_and_the_best_in_bold() -> None:
    dataset = made_of(low=50.0, high=60.0, equal=60.0)
    table = summary_table(dataset)
    for row in rows_of(table):
        assert (row["low"], row["high"]) == dataset.methods[row["method"]].claims.mean.interval
    bold = bold_cells(table)
    assert {title: sorted(names) for title, names in bold.items()} == {"mean": ["equal", "high"]}
    text = as_latex(table)
    best = table.columns[1].format(table.rows[0][1])
    low, high = dataset.methods[table.rows[0][0]].claims.mean.interval
    assert f"& \\textbf{{{best} ({low:.1f}--{high:.1f})}} &" in text
    assert text.count(" & ") == 5 * 4  # six columns fit a paper
    assert "\\toprule" in text
    assert text.count("\\textbf{") == len(table.bold)
    assert f"**{best}**" in as_markdown(table)
    assert "*" not in as_csv(table)


def test_the_better_method_of_a_clear_pair_is_bold() -> None:
    table = comparisons_table(made_of(low=50.0, high=60.0, equal=60.0))
    names = [{row[0], row[1]} for row in table.rows]
    bold = {table.rows[row][column] for row, column in table.bold}
    assert names == [{"low", "high"}, {"low", "equal"}, {"high", "equal"}]
    assert (len(table.bold), bold) == (2, {"high", "equal"})


def test_less_forgetting_is_better(dataset) -> None:
    plain = summary_table(dataset)
    other = summary_table(replace(dataset, metric="forgetting"))
    assert bold_cells(plain)["mean"] == ["steady"]
    assert bold_cells(other)["mean"] == ["varied"]
    ends = [[it for it in one.headers if it in ("worst", "best")] for one in (plain, other)]
    assert ends == [["worst", "best"], ["best", "worst"]]
    assert plain.rows == other.rows[::-1]  # best first
    assert plain.title == "Accuracy over class orders"
    assert other.title == "Forgetting over class orders"


def test_correlations_of_fewer_than_eight_orders_are_left_out() -> None:
    few = analyze(table_of({"m": noisy(0)}, ("latin",)), similarity=six_classes()).datasets[0]
    assert few.methods["m"].correlation.pearson is not None
    summary = summary_table(few)
    assert "r" not in summary.headers
    assert "correlation" not in summary.caption
    many = analyze(table_of({"m": noisy(0)}), similarity=six_classes()).datasets[0]
    assert "r" in summary_table(many).headers


def test_orders_chosen_by_results_are_run_but_do_not_count() -> None:
    runs = runs_of("m", "latin", noisy(0))[:3]
    seen = {run.sequence for run in runs}
    free = next(order for order in SPACE.enumerate() if order not in seen)
    chosen = replace(runs[0], protocol="search", label="1", sequence=free)
    (dataset,) = analyze(build((*runs, chosen))).datasets
    assert dataset.methods["m"].claims.order_count == 3
    summary = summary_table(dataset)
    assert summary.paper is not None
    assert [rows_of(one)[0]["orders"] for one in (summary, summary.paper)] == [3, 3]  # of the mean
    assert "mean over 3 class orders" in about_training(dataset)


def test_the_worst_and_the_best_are_those_of_the_sentence_and_trainings_are_counted() -> None:
    runs = runs_of("m", "latin", noisy(0))[:3]
    again = [
        replace(run, seed=1, accuracy=value)
        for run, value in zip(runs, (5.0, 95.0, 50.0), strict=True)
    ]
    (dataset,) = analyze(build((*runs, *again))).datasets
    (row,) = rows_of(summary_table(dataset))
    said = dataset.methods["m"].claims
    assert (row["worst"], row["best"]) == (said.lowest, said.highest)
    figure = build_overview(dataset, ["m"], OrderTable.of(dataset))
    texts = {mark.text for mark in figure.wide.marks if isinstance(mark, Text)}
    assert {f"{said.lowest:.1f}", f"{said.highest:.1f}"} <= texts
    assert about_training(dataset).endswith("mean over 3 class orders, 6 trainings.")


def test_trainings_of_unknown_orders_are_counted() -> None:
    frame = pandas.DataFrame(
        {"accuracy": [60, 61, 62, 63.0], "seed": [0, 1, 2, 3], "order_seed": [7, 7, 8, 9]}
    )
    (dataset,) = analyze(frame).datasets
    assert about_training(dataset).endswith("mean over 3 class orders, 4 trainings.")
