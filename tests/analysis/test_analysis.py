"""What is analysed, saved and shown, and what is noted."""

from __future__ import annotations

import html
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from edgecil.analysis import Analysis, DatasetAnalysis, analyze, find_truth
from edgecil.analysis.plausibility import check_runs
from edgecil.errors import DataError, EdgecilError, UsageError
from edgecil.experiments import Store
from edgecil.experiments.chosen_similarity import SIMILARITY_FILE
from edgecil.io.json import to_plain
from edgecil.report.narrative import missing_facts, warnings
from edgecil.runs.run_table import Runs
from edgecil.sequences import ClassSequence
from edgecil.similarity import save_similarity
from tests.analysis.experiments import NAMES, write_experiment
from tests.analysis.tables import (
    SPACE,
    against_s,
    along_s,
    build,
    noisy,
    rows,
    runs_of,
    six_classes,
    table_of,
    two_hard_orders,
    write,
)

SIMILARITY = six_classes()


def quick(source: Any, **options: Any) -> Analysis:
    return analyze(source, **{"similarity": SIMILARITY, **options})


def judged(table: Runs) -> DatasetAnalysis:
    return quick(table).datasets[0]


@pytest.mark.filterwarnings("ignore:The 'float_precision' argument")
def test_an_experiment_a_csv_and_a_data_frame_give_the_same_numbers(tmp_path: Path) -> None:
    experiment = write_experiment(tmp_path / "a", {"m": noisy(0), "n": noisy(1)})
    write(rows(experiment.table()), tmp_path / "a.csv")
    # The usual parser of older pandas misses the last bit of some numbers.
    frame = pandas.read_csv(tmp_path / "a.csv", dtype={"accuracy": str})
    frame = frame.astype({"accuracy": float})  # as Python reads numbers
    whole = [quick(source) for source in (experiment, tmp_path / "a.csv", frame)]
    methods = [to_plain(analysis.datasets[0].methods) for analysis in whole]
    seconds = [[own["next_step"].pop("seconds") for own in one.values()] for one in methods]
    assert [None in own for own in seconds] == [False, True, True]  # files have no durations
    assert methods[0] == methods[1] == methods[2]
    assert whole[0].sources == (str(tmp_path / "a"),)


def test_a_saved_analysis_is_a_source_with_its_own_options(tmp_path: Path) -> None:
    directory, saved = write_experiment(tmp_path / "a", {"m": noisy(0)}), tmp_path / "saved.json"
    analysis = quick(directory, metric="forgetting", predictor="intra")
    analysis.save(saved)
    assert to_plain(analyze(saved, metric="forgetting")) == to_plain(analysis)
    for name, value in (("metric", "accuracy"), ("predictor", "adjacent"), ("similarity", "D.npz")):
        with pytest.raises(UsageError, match=f"has {name} "):
            analyze(saved, **{name: value})
    saved.write_text('{"schema": "edgecil.analysis/0"}', encoding="utf-8")
    with pytest.raises(DataError, match=r"edgecil.analysis/8"):
        analyze(saved)


@pytest.mark.parametrize("count", [1, 2])
def test_experiments_have_one_shape_whatever_their_number(tmp_path: Path, count: int) -> None:
    names = ["a", "b"][:count]
    folders = [write_experiment(tmp_path / name, {name: noisy(0)}) for name in names]
    with closing(Store(folders[0].directory)) as store:
        store.check_identity({"torch": "2", "weights w": "0f"})
    (dataset,) = to_plain(quick(folders))["datasets"]
    assert [one["directory"] for one in dataset["experiments"]] == [
        str(it.directory) for it in folders
    ]
    first = dataset["experiments"][0]["identity"]
    assert (first["methods"], first["weights"]) == ({"a": {}}, {"w": "0f"})
    assert {"torch", "dataset"} <= set(first["settings"])


def test_runs_of_several_sources_on_one_dataset_are_joined_by_the_names_of_classes() -> None:
    a, b = (
        [run for name in ("random", "edge") for run in runs_of(method, name, noisy(seed))]
        for seed, method in enumerate("ab")
    )
    turned = [
        replace(run, sequence=ClassSequence([5 - id_ for id_ in it] for it in run.sequence.tasks))
        for run in b
    ]
    together = quick([build(a, NAMES), build(turned, NAMES[::-1])]).datasets[0]
    expected = quick(build([*a, *b], NAMES)).datasets[0]
    assert to_plain(together.methods) == to_plain(expected.methods)
    assert to_plain(together.comparisons) == to_plain(expected.comparisons)


def test_sources_with_other_classes_or_task_sizes_are_refused(tmp_path: Path) -> None:
    first = write_experiment(tmp_path / "a", {"a": noisy(0)})
    other = write_experiment(
        tmp_path / "b", {"b": noisy(0)}, names=("ant", "bear", "bed", "bee", "bench", "bicycle")
    )
    with pytest.raises(DataError, match="same classes"):
        quick([first, other])
    header = "method,dataset,protocol,label,sequence,seed,accuracy"
    (tmp_path / "x.csv").write_text(f"{header}\nm,d,random,0,0 1|2 3,0,50\n", encoding="utf-8")
    (tmp_path / "y.csv").write_text(f"{header}\nm,d,random,0,0|1 2 3,0,50\n", encoding="utf-8")
    with pytest.raises(DataError, match="task sizes"):
        analyze([tmp_path / "x.csv", tmp_path / "y.csv"])
    with pytest.raises(UsageError, match="at least one"):
        analyze([])


def test_the_similarity_may_be_a_file(tmp_path: Path) -> None:
    table = table_of({"m": noisy(0)})
    save_similarity(SIMILARITY, tmp_path / "D.npz")
    assert analyze(table, similarity=tmp_path / "D.npz")["m"].correlation == (
        quick(table)["m"].correlation
    )


def test_an_analysis_loads_no_encoder(tmp_path: Path) -> None:
    config = {"method": ["m"], "dataset": "made-up", "tasks": 3, "protocol": ["latin"]}
    experiment = write_experiment(tmp_path / "a", {"m": noisy(0)})
    with closing(Store(experiment.directory)) as store:
        store.add_config({**config, "similarity": {"encoder": "clip-vit-b-16"}})
    (dataset,) = analyze(experiment).datasets
    assert any("clip-vit-b-16" in note for note in dataset.notes)
    assert dataset.methods["m"].correlation is not None
    save_similarity(SIMILARITY, experiment.directory / SIMILARITY_FILE)
    (dataset,) = analyze(experiment).datasets
    assert not any("clip-vit-b-16" in note for note in dataset.notes)


def test_without_a_similarity_a_note_says_why() -> None:
    (dataset,) = analyze(table_of({"m": noisy(0)})).datasets
    assert dataset.predictor is None
    assert "'made-up'" in dataset.notes[-1]
    assert warnings(dataset)[-1] == dataset.notes[-1]
    assert missing_facts(dataset) == []


def test_missing_class_names_are_one_remark_and_no_warning() -> None:
    table = table_of({"m": noisy(0)})
    runs = tuple(replace(run, dataset="", protocol="random") for run in rows(table))
    (dataset,) = analyze(build(runs)).datasets
    assert dataset.predictor is None
    (remark,) = missing_facts(dataset)
    assert "'dataset'" in remark
    assert "predictor" not in remark
    assert not any("class names" in warning for warning in warnings(dataset))


def test_the_predictor_is_summed_up_for_every_sequence() -> None:
    (dataset,) = quick(table_of({"m": noisy(0)})).datasets
    predictor = dataset.predictor
    assert (predictor.name, predictor.label, predictor.sign) == ("adjacent", "S", 1)
    assert len(predictor.z) == len(dataset.table.sequences) == SPACE.size
    assert predictor.z.mean() == pytest.approx(0.0, abs=1e-9)
    assert predictor.z.std() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"predictor": "nothing"}, "'nothing'"),
        ({"metric": "last"}, "'metric' must be"),
        ({"similarity": six_classes().take(np.arange(3))}, "covers 3 classes"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(EdgecilError, match=words):
        quick(table_of({"m": noisy(0)}), **options)


def test_one_method_of_several_datasets_is_not_a_key() -> None:
    (one,) = quick(table_of({"m": noisy(0)})).datasets
    both = Analysis(("",), quick(table_of({"m": noisy(0)})).options, (one, one))
    with pytest.raises(KeyError, match="several datasets"):
        both["m"]
    with pytest.raises(UsageError, match="'m'"):
        quick(table_of({"m": noisy(0)}))["mm"]


def test_analysing_a_csv_loads_neither_torch_nor_images(tmp_path: Path) -> None:
    runs = rows(table_of({"m": noisy(0)}))
    write(runs, tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text(encoding="utf-8").replace("made-up", "quickdraw")
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    script = (
        "import sys\n"
        "from edgecil.analysis import analyze\n"
        f"analysis = analyze({str(tmp_path / 'a.csv')!r})\n"
        "assert analysis.datasets[0].predictor.name == 'adjacent'\n"
        "heavy = [name for name in ('torch', 'PIL', 'edgecil.data') if name in sys.modules]\n"
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_analysis_is_shown_in_a_notebook(tmp_path: Path) -> None:
    analysis = quick(table_of({"m<": noisy(0), "n": noisy(1)}, ("random", "edge")))
    reading, first, *_ = str(analysis).splitlines()
    assert reading == analysis.reading
    assert repr(analysis) == f"<Analysis of a table of made-up: {first}>"
    from IPython.lib.pretty import pretty

    assert pretty(analysis) == str(analysis), "with the numbers"
    shown = analysis._repr_html_()
    assert "m&lt;" in shown
    assert "data:image/png;base64," in shown


def test_printing_an_analysis_gives_the_claims_of_each_method() -> None:
    stored = Path(__file__).parents[1] / "demo" / "accuracies.csv"
    analysis = analyze(stored)
    claim = analysis["icarl"].claims.mean.value
    assert f"icarl reaches {claim:.1f} % on average" in str(analysis)
    warnings = {one for method in analysis.datasets[0].methods.values() for one in method.warnings}
    assert warnings
    page = analysis._repr_html_()
    for warning in warnings:
        assert (str(analysis).count(warning), page.count(html.escape(warning))) == (1, 1)


def test_more_orders_than_floats_can_count(tmp_path: Path) -> None:
    """1,000 classes in ten tasks, as in ImageNet-1k."""
    lines = ["method,sequence,accuracy,protocol"]
    for seed, accuracy in enumerate((60.0, 61.0, 63.5, 62.0, 61.0)):
        order = np.random.default_rng(seed).permutation(1000).reshape(10, 100)
        tasks = "|".join(" ".join(map(str, task)) for task in order)
        lines.append(f"a,{tasks},{accuracy},random")
    path = tmp_path / "large.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    answer = analyze(path)["a"].claims
    assert answer.mean.value == pytest.approx(61.5)
    assert answer.next_run.interval is not None


def test_an_analysis_is_a_data_frame() -> None:
    analysis = quick(table_of({"m": noisy(0), "n": noisy(1)}, ("random", "edge")))
    frame = analysis.to_pandas().set_index("method")
    said = analysis["n"].claims
    assert list(frame.index) == ["m", "n"]
    assert frame.loc["n", "mean"] == said.mean.value
    assert (frame.loc["n", "low"], frame.loc["n", "high"]) == said.mean.interval


@pytest.mark.parametrize("method", ["m", "n"])
def test_two_different_hard_orders_are_named(method: str) -> None:
    """Given to `edge` for one method, or one for each of two methods."""
    table = table_of({"m": noisy(0)})
    assert not any("'hard'" in note for note in quick(table).datasets[0].notes)
    twice = quick(two_hard_orders(table, method)).datasets[0]
    (note,) = (note for note in twice.notes if "'hard'" in note)
    assert note.startswith("edge has 2 different orders")
    assert ("not compared" in note) == (method == "m")


@pytest.fixture(scope="module")
def whole() -> DatasetAnalysis:
    return judged(table_of({"rises": along_s, "falls": against_s, "noise": noisy(0)}))


def test_the_truth_is_the_population_of_all_orders(whole: DatasetAnalysis) -> None:
    values = np.array([noisy(0)(sequence) for sequence in SPACE.enumerate()])
    truth = whole.methods["noise"].truth
    assert sorted(truth.accuracies) == sorted(values)
    assert (len(truth), truth.kind, truth.space_size) == (90, "enumerated", 90)


def test_a_backward_and_a_weak_predictor_are_warned_of(whole: DatasetAnalysis) -> None:
    assert "wrong sign" in whole.methods["falls"].warnings[0]
    assert whole.methods["noise"].warnings


def test_an_enumeration_with_a_few_failures_is_still_the_truth_with_a_warning() -> None:
    table = table_of({"m": noisy(0)}, ("enumerate",))
    holed = build(
        tuple(
            replace(run, accuracy=None) if place < 4 else run
            for place, run in enumerate(rows(table))
        )
    )
    result = judged(holed)
    assert "Only 86 of 90" in result.methods["m"].warnings[0]
    assert check_runs(holed)[0].startswith("4 of 90 runs")
    half = build(rows(holed)[:45])
    assert find_truth(half, "m") is None


def test_one_sequence_is_judged_as_far_as_it_can_be() -> None:
    one = build(rows(table_of({"m": noisy(0)}, ("edge",)))[:1])
    method = judged(one).methods["m"]
    assert method.claims.order_count == 1
    assert method.correlation.pearson is None


def test_a_method_that_failed_throughout_is_left_out_and_told() -> None:
    result = judged(table_of({"m": noisy(0), "broken": lambda sequence: None}, ("random",)))
    assert set(result.methods) == {"m"}
    assert "broken is left out" in " ".join(result.notes)


def test_what_another_method_drew_blindly_says_nothing_of_ones_own_extremes() -> None:
    extreme, whole = table_of({"m": along_s}, ("edge",)), table_of({"w": noisy(1)}, ("enumerate",))
    result = judged(build(rows(extreme) + rows(whole))).methods
    assert (result["m"].correlation.n, result["w"].correlation.n) == (
        0,
        90,
    )
    assert result["m"].correlation.pearson is None


def test_one_training_with_two_accuracies_is_noted_and_counts_as_repeated() -> None:
    table = table_of({"m": noisy(0)}, ("enumerate",))
    wrong = replace(rows(table)[0], protocol="random", label="seed-0", accuracy=12.0)
    both = build((*rows(table), wrong))
    assert any("12" in note for note in check_runs(both))
    result = judged(both)
    assert result.methods["m"].order_effect.repeats == 1


def test_constructed_orders_do_not_enter_the_share_of_the_order() -> None:
    blind = rows(table_of({"m": noisy(0)}, ("random",)))
    probes = rows(table_of({"m": lambda _: 99.0}, ("edge",)))
    twice = [(*some, *(replace(row, seed=1) for row in some)) for some in (blind, blind + probes)]
    alone, beside = (judged(build(some)).methods["m"].order_effect for some in twice)
    assert alone == beside


def test_labels_that_failed_are_warned_of_by_protocol() -> None:
    table = table_of({"m": noisy(0)}, ("edge",))
    holed = tuple(
        replace(run, accuracy=None) if run.label != "easy" else run for run in rows(table)
    )
    (failed, *_) = judged(build(holed)).methods["m"].warnings
    assert failed.startswith("edge: hard and median")
    assert "1 order" in failed


def test_a_table_without_any_accuracy_is_refused() -> None:
    with pytest.raises(DataError, match="made-up"):
        judged(table_of({"m": lambda sequence: None}, ("edge",)))
