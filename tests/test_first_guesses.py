"""Calls that somebody tries first in a notebook, and what a traceback shows of a wrong one."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy import stats

import edgecil
from edgecil.errors import EdgecilError, UsageError
from edgecil.experiments.config import GROUPS
from edgecil.experiments.default_directory import default_directory
from edgecil.hints import class_types, function_types
from edgecil.options import DEBUG
from edgecil.search.run_search import SearchOptions

FEW = {"method": "simplecil", "tasks": 3, "protocol": "random", "progress": False, "workers": 1}
ACCURACIES = {"ours": [64.1, 63.0, 65.2, 64.4], "base": [60.1, 61.0, 62.2, 61.1]}


def vectors(count: int) -> tuple[np.ndarray, np.ndarray]:
    labels = np.arange(count) % 6
    values = np.random.default_rng(count).normal(size=(count, 4)).astype(np.float32)
    values[:, 0] += 2 * labels
    return values, labels


@pytest.fixture(autouse=True)
def _in_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_run_needs_no_folder_and_takes_a_pair_of_pairs_and_options_by_name(capsys) -> None:
    pair = vectors(60), vectors(30)
    options = {**FEW, "progress": True}
    experiment = edgecil.run(pair, **options)
    folder = experiment.directory
    assert folder.parent == Path("runs")
    assert folder.name.startswith("arrays-")
    assert f"Results are stored in {folder}." in capsys.readouterr().err
    assert experiment.config is not None
    assert len(experiment.results()) == 3
    again = edgecil.run(pair, **options)
    assert (again.directory, again.summary.trained) == (folder, 0)
    flat = edgecil.run((*pair[0], *pair[1]), out="flat", **FEW)
    assert flat.table().values.tolist() == experiment.table().values.tolist()


def test_the_folder_of_a_run_depends_on_settings_alone() -> None:
    def folder(**changes: object) -> Path:
        values = {"method": ("ewc",), "dataset": "quickdraw", "tasks": 3, **changes}
        return default_directory(edgecil.experiments.ExperimentConfig(**values))

    assert folder() == folder(budget=5, repeats=2, protocol=("latin",), metric="last")
    assert folder(method=("a.py:Mine", "ewc")).name.startswith("quickdraw-Mine-ewc-")
    assert folder(method=("a", "b", "c", "d")).name.startswith("quickdraw-4-methods-")
    assert folder(dataset="data/birds.npz").name.startswith("birds-ewc-")
    assert folder(dataset="python:arrays-1f") == folder(dataset="python:arrays-2e")
    others = [{"tasks": 2}, {"training": {"epochs": 3}}, {"data": {"classes": 6}}]
    assert len({folder(), *(folder(**other) for other in others)}) == 4


def test_options_of_groups_have_one_name_each() -> None:
    """Otherwise they could not be given by their names alone."""
    groups = [class_types(group) for group in (SearchOptions, *GROUPS.values())]
    names = [name for group in groups for name in group]
    own = {*function_types(edgecil.run), *function_types(edgecil.search_orders)}
    assert len(names) == len(set(names))
    assert own.isdisjoint(names)


def test_options_may_be_flat_or_in_their_groups() -> None:
    flat = edgecil.check("quickdraw", classes=6, epochs=2, **FEW)
    given = {name: value for name, value in FEW.items() if name not in ("progress", "workers")}
    nested = edgecil.check(
        "quickdraw",
        data={"classes": 6},
        training={"epochs": 2},
        execution={"progress": False, "workers": 1},
        **given,
    )
    assert (flat.orders, flat.workers) == (nested.orders, nested.workers)
    assert [part.runs for part in flat.methods] == [part.runs for part in nested.methods]
    with pytest.raises(UsageError, match=r"Unknown option 'epoch'\. Did you mean 'epochs'\?"):
        edgecil.run("quickdraw", epoch=2, **FEW)
    with pytest.raises(UsageError, match="'epochs' must be at least 1"):
        edgecil.run("quickdraw", epochs=0, **FEW)


@pytest.mark.parametrize(
    "numbers",
    [
        [64.1, 63, 65.2, 64.4],
        (64.1, 63.0, 65.2, 64.4),
        np.array([64.1, 63.0, 65.2, 64.4]),
        pandas.Series([64.1, 63.0, 65.2, 64.4]),
    ],
)
def test_accuracies_are_analysed_as_plain_numbers(numbers) -> None:
    (dataset,) = edgecil.analyze(numbers).datasets
    (method,) = dataset.methods.values()
    assert method.claims.mean.value == pytest.approx(64.175)
    assert method.claims.population == "runs like these"
    assert (method.claims.lowest, method.claims.highest) == (63.0, 65.2)


def test_methods_are_compared_as_a_dict_of_plain_numbers() -> None:
    comparison = edgecil.compare(ACCURACIES)
    frame = {"ours": pandas.DataFrame({"accuracy": ACCURACIES["ours"]}), "base": ACCURACIES["base"]}
    assert str(edgecil.compare(frame)) == str(comparison)
    assert [(pair.ahead, pair.behind) for pair in comparison] == [("ours", "base")]
    for wrong in ({"ours": [[1.0]], "base": [2.0]}, {"ours": ["a"], "base": [2.0]}):
        with pytest.raises(UsageError, match="accuracies, a DataFrame"):
            edgecil.compare(wrong)
    with pytest.raises(UsageError, match=r"one for each run\. Got an array of shape \(1, 2\)"):
        edgecil.analyze(np.array([[60.0, 61.0]]))


def test_several_files_are_named_one_by_one_as_on_the_command_line() -> None:
    for name, values in ACCURACIES.items():
        rows = [f"{seed},{value}" for seed, value in enumerate(values)]
        Path(f"{name}.csv").write_text("\n".join(["seed,accuracy", *rows]))
    files = ("ours.csv", "base.csv")
    together = edgecil.compare(list(files))
    assert str(edgecil.compare(*files)) == str(together)
    assert together["base", "ours"].ahead == "ours"
    assert edgecil.analyze(*files)["ours"].mean == pytest.approx(64.175)
    assert edgecil.next_runs(*files)["base"].unit == "run"
    assert len(edgecil.write_report(*files, out="report").pages) == 1
    assert len(edgecil.compare(*files, method="ours, base")) == 1


def test_answers_are_mappings_and_sequences_with_the_same_members() -> None:
    analysis, comparison = edgecil.analyze(ACCURACIES), edgecil.compare(ACCURACIES)
    advice = edgecil.next_runs(ACCURACIES)
    assert list(analysis) == list(advice) == list(analysis.methods) == ["ours", "base"]
    assert [name for name, _ in analysis.items()] == ["ours", "base"]
    assert ("ours" in analysis, "x" in advice, len(advice)) == (True, False, 2)
    assert (("base", "ours") in comparison, "ours" in comparison) == (True, True)
    assert [pair.ahead for pair in comparison] == [comparison[0].ahead] == ["ours"]
    assert advice["ours"].order_count > 0
    for answer in (analysis, comparison, advice):
        first = str(answer).splitlines()[1]
        assert first in repr(answer)
        assert answer._repr_html_().count("<p>") == len(str(answer).splitlines())
        assert len(answer.to_pandas()) == len(answer)
    for answer in (analysis, comparison):
        assert answer.plot().get_xlabel()
        answer.save("answer.json")
        assert str(type(answer).load("answer.json")) == str(answer)
    with pytest.raises(KeyError, match="Unknown method 'other'"):
        comparison["ours", "other"]


# What somebody may type who has read README only; `results.csv` is its table.
GUESSES = """
print(edgecil.analyze("results.csv"))
edgecil.analyze("results.csv")["ours"].mean + 1.0
edgecil.analyze("results.csv")["ours"].low < edgecil.analyze("results.csv")["ours"].high
edgecil.analyze("results.csv", level=0.9)["ours"].interval
edgecil.analyze("results.csv").plot().get_xlabel()
edgecil.analyze("results.csv").to_pandas()[["method", "mean", "low", "high"]]
edgecil.analyze("results.csv").to_latex()
edgecil.analyze("results.csv").compare("ours", "baseline").difference
edgecil.analyze(pandas.read_csv("results.csv")).methods
edgecil.analyze({"ours": [64.1, 62.8, 65.3], "baseline": [61.9, 62.0, 62.7]})["baseline"].std
"ours" in edgecil.analyze("results.csv") and len(edgecil.analyze("results.csv")) == 2
[method for method in edgecil.analyze("results.csv")] == ["ours", "baseline"]
edgecil.compare("results.csv").p < edgecil.compare("results.csv", anytime=True).difference
edgecil.compare("results.csv")["ours", "baseline"].grade == edgecil.compare("results.csv").grade
edgecil.compare("results.csv")["baseline"][0].ahead
edgecil.compare([64.1, 62.8, 65.3], [61.9, 62.0, 62.7]).low
edgecil.compare("ours.csv", "baseline.csv").plot().get_xlabel()
edgecil.compare("results.csv", baseline="baseline").to_pandas()
edgecil.next("results.csv")["ours"].order_count
edgecil.next_runs("results.csv").to_pandas()
edgecil.read("results.csv")
edgecil.analyze("results.csv").plot("claims.png").get_xlabel()
edgecil.compare("results.csv").plot(path="difference.pdf").get_xlabel()
edgecil.analyze("results.csv")["ours"].to_latex().startswith("ours & ")
"baseline" in edgecil.compare("results.csv").to_latex()
edgecil.compare("results.csv").new_run_probability < edgecil.compare("results.csv").probability
edgecil.sequences(["cat", "dog", "car", "truck"], tasks=2, protocol="edge")["hard"].tasks
"easy" in edgecil.choose_sequences(["cat", "dog", "car", "truck"], tasks=2, protocol="edge")
"""
GUESSES_OF_RUNS = """
edgecil.run(dataset=(vectors(60), vectors(30)), method="simplecil", tasks=3, out="e")
edgecil.Experiment("e").analyze()["simplecil"].population
edgecil.Experiment("e").next_runs()["simplecil"].order_count
edgecil.Experiment("e").plot("e.png").get_xlabel()
not hasattr(edgecil.Experiment("e"), "to_dataframe")
edgecil.analyze("e").save("analysis.json")
edgecil.Experiment("e")["simplecil"].mean
edgecil.report("e", out="page").pages
edgecil.search((vectors(60), vectors(30)), method="simplecil", tasks=3, out="w", budget=6)
"""


def test_first_guesses_work(capsys) -> None:
    rows = [("ours", (64.1, 62.8, 65.3)), ("baseline", (61.9, 62.0, 62.7))]
    lines = [f"{name},{seed},{own[seed]}" for name, own in rows for seed in range(3)]
    Path("results.csv").write_text("\n".join(["method,seed,accuracy", *lines]))
    for name, own in rows:
        lines = [f"{seed},{value}" for seed, value in enumerate(own)]
        Path(f"{name}.csv").write_text("\n".join(["seed,accuracy", *lines]))
    check_guesses(GUESSES)
    assert "ours reaches 64.1 %" in capsys.readouterr().out


def test_guesses_that_fail_name_what_was_meant() -> None:
    analysis, comparison = edgecil.analyze(ACCURACIES), edgecil.compare(ACCURACIES)
    for answer in (analysis, comparison):
        with pytest.raises(UsageError, match=r"report.html.*edgecil.write_report"):
            answer.save("report.html")
        with pytest.raises(UsageError, match=r"png.*Got figure.docx"):
            answer.plot("figure.docx")
    assert not Path("report.html").exists()
    assert not Path("figure.docx").exists()
    for answer in (analysis, comparison, edgecil.next(ACCURACIES)):
        with pytest.raises(AttributeError, match=r"no attribute 'to_dataframe'.*'to_pandas'"):
            answer.to_dataframe()
        assert not hasattr(answer, "other")


@pytest.mark.parametrize("seeds_are", [None, "trainings", "orders"])
def test_tables_count_what_the_sentences_count(seeds_are) -> None:
    rows = [
        {"method": name, "seed": seed, "accuracy": values[seed]}
        for name, values in ACCURACIES.items()
        for seed in range(4)
    ]
    table = pandas.DataFrame(rows)
    analysis = edgecil.analyze(table, seeds_are=seeds_are)
    unit = {None: "run", "trainings": "training", "orders": "order"}[seeds_are]
    assert f"The 4 {unit}s lie" in str(analysis)
    assert f"<th>{unit}s</th>" in analysis._repr_html_()
    assert f"& {unit}s \\\\" in analysis.to_latex()
    assert analysis["ours"].claims.tail.reason == f"requires 5 {unit}s; got 4"
    advice = edgecil.next(table, seeds_are=seeds_are)
    assert f"<td>{unit}s</td>" in advice._repr_html_()
    page = edgecil.write_report(analysis, out="page").pages[0].read_text()
    assert f"on the {unit}s of both" in page
    assert "report &#39;a DataFrame&#39;" not in page


@pytest.mark.parametrize("methods", [1, 2, 6])
def test_the_legend_of_a_plot_covers_nothing(methods) -> None:
    runs = {f"method {number}": [60.0, 61.5, 62.0 + number] for number in range(methods)}
    axes = edgecil.analyze(runs).plot("claims.png")
    legend = axes.get_legend().get_window_extent()
    assert not legend.overlaps(axes.xaxis.label.get_window_extent())
    assert not legend.overlaps(axes.get_window_extent())


def test_chosen_sequences_are_shown_and_found_by_label() -> None:
    chosen = edgecil.sequences(["cat", "dog", "car", "truck"], tasks=2, protocol="edge")
    assert [scored.label for scored in chosen] == ["hard", "median", "easy"]
    assert chosen["easy"] is chosen[-1]
    assert chosen[0] in chosen
    assert "other" not in chosen
    hard = " | ".join(", ".join(chosen.names[id_] for id_ in task) for task in chosen[0].tasks)
    assert f"hard: {hard}" in str(chosen)
    assert f"<td>hard</td><td>{hard}</td>" in chosen._repr_html_()
    with pytest.raises(KeyError, match=r"Unknown label 'hrd'. Did you mean 'hard'"):
        chosen["hrd"]


def test_a_file_of_class_names_is_no_dataset() -> None:
    Path("names.txt").write_text("cat\ndog\ncar\n")
    with pytest.raises(UsageError, match=r"Got names.txt instead; .* is 'names'"):
        edgecil.sequences(dataset="names.txt", tasks=3)


@pytest.mark.slow
def test_first_guesses_of_runs_work() -> None:
    check_guesses(GUESSES_OF_RUNS)


def check_guesses(guesses: str) -> None:
    """Evaluate each line; training uses no further process."""
    names = {"edgecil": edgecil, "pandas": pandas, "vectors": vectors}
    for guess in guesses.strip().splitlines():
        if "run(" in guess or "search(" in guess:
            guess = guess.replace("tasks=3", "tasks=3, workers=1, progress=False")
        answer = eval(guess, names)
        assert answer is not False, guess


@pytest.mark.parametrize(
    "call",
    [
        lambda: edgecil.analyze("missing.csv"),
        lambda: edgecil.compare({"a": [1.0, 2.0, 3.0]}),
        lambda: edgecil.run("quickdraw", method="icrl", tasks=3),
        lambda: edgecil.search_orders("quickdraw", method="ewc", tasks=3, out="x", goal="slow"),
        lambda: edgecil.build_similarity(dataset="nowhere"),
        lambda: edgecil.choose_sequences(dataset="cifar100", tasks=7),
        lambda: edgecil.next_runs("missing.csv"),
        lambda: edgecil.write_report("missing.csv"),
        lambda: edgecil.export_runs("missing.csv", "out.csv"),
        lambda: edgecil.check("quickdraw", method="ewc", tasks=3, epochs=0),
        lambda: edgecil.Experiment.open("missing"),
    ],
)
def test_a_traceback_of_a_wrong_call_ends_at_the_call(
    call: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def frames() -> list[str]:
        with pytest.raises(EdgecilError) as refused:
            call()
        text = "".join(traceback.format_exception(refused.value))
        assert "direct cause" not in text
        return [entry.filename for entry in traceback.extract_tb(refused.value.__traceback__)]

    files = frames()
    assert len([file for file in files if "edgecil" in Path(file).parts[:-1]]) <= 1
    monkeypatch.setenv(DEBUG, "1")
    with pytest.raises(EdgecilError) as refused:
        call()
    assert len(traceback.extract_tb(refused.value.__traceback__)) >= len(files)


ROWS = [
    {"method": method, "seed": seed, "accuracy": accuracy}
    for method, accuracies in (("ours", (64.1, 62.8, 65.3)), ("baseline", (61.9, 62.0, 62.7)))
    for seed, accuracy in enumerate(accuracies)
]


def test_rows_and_wide_tables_are_the_table() -> None:
    frame = pandas.DataFrame(ROWS)
    wide = frame.pivot(index="seed", columns="method", values="accuracy")
    mean = edgecil.analyze(frame)["ours"].mean
    for table in (ROWS, wide, wide.reset_index(), wide.reset_index(drop=True)):
        analysis = edgecil.analyze(table)
        assert set(analysis) == {"ours", "baseline"}
        assert analysis["ours"].mean == pytest.approx(mean)


def test_a_published_mean_is_typed() -> None:
    frame = pandas.DataFrame(ROWS)
    spread = edgecil.compare(frame, {"DER": "52.9 ± 0.8"}, n=5, std_ddof=0)
    assert spread["ours", "DER"].better == "ours"
    constant = edgecil.compare(frame, {"DER": "62.9"})["ours", "DER"]
    assert constant.difference == pytest.approx(64.0667 - 62.9, abs=1e-3)
    assert constant.p == pytest.approx(stats.ttest_1samp((64.1, 62.8, 65.3), 62.9).pvalue, rel=0.1)
    with pytest.raises(EdgecilError, match="a published mean"):
        edgecil.compare(frame, {"DER": "good"})
