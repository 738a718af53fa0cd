"""S is of the similarity that the run's sequences came from, and images add their own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from edgecil.backbones.pretrained import load_vit, statistics_of
from edgecil.classes import ClassList, get_classes
from edgecil.data.augment import Normalise
from edgecil.data.augment.normalise import to_float
from edgecil.engine import ExperimentConfig, Node, NodeResult, Reported, Store, WholeRun
from edgecil.estimation import correlate, objective_predictor, read_accuracies
from edgecil.sequences import ClassSequence, protocol
from edgecil.similarity import (
    SimilarityMatrix,
    prototype_embeddings,
    save_similarity,
    text_similarity,
)
from tests.cli.conftest import Answer, Cli
from tests.estimation.tables import SPACE, six_classes
from tests.report.made_up import write_run
from tests.toys import save_toy, toy_dataset, toy_vit

NAMES = ("apple", "bear", "bed", "bee", "bench", "bicycle")
BARE = {"template": "{name}"}
ORDERS = 20


def paired(sequence: ClassSequence, task: int) -> float:
    """A learner for which it counts who shares a task with whom."""
    return 0.4 + 0.2 * ((0, 1) in sequence.tasks) + 0.1 * ((2, 3) in sequence.tasks)


def make_run(name: str = "run", *, names: tuple[str, ...] = NAMES, **asked: Any) -> Path:
    """One learner on orders of EDGE's and on Latin ones, asked for like this."""
    asked = {"protocol": ("edge", "latin"), **asked}
    options: dict[str, Any] = {"names": names, "asked": asked, "runs": ORDERS}
    return write_run(Path(name), {"paired": paired}, ("edge", "latin"), **options)


def ask_again(directory: Path, **asked: Any) -> None:
    """Another configuration that the directory remembers."""
    with closing(Store(directory)) as store:
        store.add_config(ExperimentConfig(("paired",), "made-up", tasks=3, **asked).as_dict())


def estimate(cli: Cli, directory: Path, *options: object) -> Answer:
    return cli("analyze", directory, "--draws", 1, "--json", *options)


def pearson(answer: Answer) -> float:
    return answer.json["paired"]["correlation"]["pearson"]


def along(similarity: SimilarityMatrix, objective: str = "adjacent") -> Any:
    """The learner's correlation with an objective, over the orders that were drawn blindly."""
    sequences = {run.sequence for run in protocol("latin", SPACE, runs=ORDERS)}
    z = objective_predictor(similarity, SPACE, objective).z(sequences)
    found = correlate(z, [paired(sequence, 0) for sequence in sequences])
    return pytest.approx(found.pearson, abs=1e-4)


def of_names(**options: Any) -> SimilarityMatrix:
    return text_similarity(ClassList("made-up", NAMES), **options)


def test_s_is_of_the_template_that_the_run_was_asked_for_with(cli: Cli) -> None:
    plain, bare = make_run("plain"), make_run("bare", **BARE)
    assert pearson(estimate(cli, plain)) == along(of_names())
    assert pearson(estimate(cli, bare)) == along(of_names(**BARE))
    assert pearson(estimate(cli, bare)) != along(of_names())


def test_s_is_of_the_file_that_the_run_was_asked_for_with(cli: Cli) -> None:
    save_similarity(six_classes(3), "D.npz")
    directory = make_run(similarity=str(Path("D.npz").absolute()))
    assert pearson(estimate(cli, directory)) == along(six_classes(3))


def test_an_option_wins_over_what_the_run_was_asked_for_with(cli: Cli) -> None:
    save_similarity(six_classes(4), "other.npz")
    answer = estimate(cli, make_run(**BARE), "--similarity", "other.npz")
    assert pearson(answer) == along(six_classes(4))


def test_of_different_similarities_the_one_that_chose_edges_sequences_counts(cli: Cli) -> None:
    directory = make_run(protocol=("optimal",))
    ask_again(directory, protocol=("edge",), **BARE)
    ask_again(directory, protocol=("edge",), template="a drawing of a {name}.")
    answer = estimate(cli, directory)
    assert pearson(answer) == along(of_names(**BARE))
    assert answer.err == (
        "The sequences here were asked for with different similarities: S is that of "
        "minilm-bundled with '{name}', which chose EDGE's, not of minilm-bundled with "
        "'a photo of a {name}.' or minilm-bundled with 'a drawing of a {name}.'.\n"
    )


def test_runs_that_did_not_look_at_the_classes_are_no_difference(cli: Cli) -> None:
    directory = make_run(protocol=("random",))
    ask_again(directory, protocol=("edge",), **BARE)
    answer = estimate(cli, directory)
    assert pearson(answer) == along(of_names(**BARE))
    assert answer.err == ""


def test_a_file_that_is_gone_is_told_and_the_rest_goes_on(cli: Cli) -> None:
    answer = estimate(cli, make_run(similarity="/gone/D.npz"))
    assert (
        "No similarity of the classes of 'made-up': The sequences came from the file /gone/D.npz, "
        "which is not there; put it back, or say where it is with --similarity FILE.\n"
    ) in answer.err
    found = answer.json["paired"]
    assert found["correlation"]["predictor"] is None
    assert found["estimates"]["edge"]["gaussian"]["mean"] > 40.0


def test_an_exported_csv_names_the_same_classes_by_the_datasets_ids(cli: Cli) -> None:
    """The run's own ids are 0 to 5; its classes are others of the dataset, in another order."""
    ids = (60, 20, 90, 5, 33, 71)
    names = tuple(get_classes("quickdraw").labels[id_] for id_ in ids)
    labelled = protocol("latin", SPACE, runs=ORDERS)
    with closing(Store(Path("run"))) as store:
        store.check_identity({"dataset": {"name": "quickdraw", "classes": names}})
        store.add_sequences("latin", labelled)
        for run in labelled:
            said = {"cnn": Reported(3, 100.0 * paired(run.sequence, 0))}
            node = Node("paired", 0, run.sequence.tasks)
            store.record(node, WholeRun((NodeResult({}, (), 1.0, 1),), said))
    found = estimate(cli, Path("run"), "--csv", "runs.csv")
    used = {id_ for run in read_accuracies("runs.csv")[0].runs for id_ in run.sequence.order}
    assert used == set(ids)
    assert pearson(estimate(cli, Path("runs.csv"))) == pytest.approx(pearson(found))


def test_an_export_whose_classes_no_dataset_knows_says_so(cli: Cli) -> None:
    found = estimate(cli, make_run(), "--csv", "runs.csv")
    assert "The class ids in runs.csv are the run's own, 0 to 5" in found.err


def test_the_page_says_what_s_comes_from_and_what_was_remarked(cli: Cli) -> None:
    directory = make_run(**BARE)
    ask_again(directory, protocol=("edge",))
    cli("report", directory, "--draws", 1, "--out", "r")
    page = Path("r/index.html").read_text()
    assert "neighbouring tasks, from minilm-bundled, &#x27;{name}&#x27;." in page
    assert "were asked for with different similarities" in page


@pytest.fixture
def toy() -> dict[str, Any]:
    """What a run on six toy classes was asked for; S is of a file."""
    save_toy(Path("toy.npz"), 6, contrast=150)
    save_similarity(six_classes(), "D.npz")
    return {"dataset": "toy.npz", "similarity": "D.npz", "names": toy_dataset().names}


def test_image_prototypes_are_of_the_runs_frozen_model(cli: Cli, toy: dict[str, Any]) -> None:
    directory = make_run(**toy, pretrained=toy_vit())
    found = estimate(cli, directory).json["paired"]["correlation"]["predictors"]
    images, network = toy_dataset().train, load_vit(toy_vit(), (1, 12, 12)).eval()
    statistics = statistics_of(toy_vit())
    normalise = Normalise(statistics.mean, statistics.std)
    with torch.no_grad():
        features = network(normalise(to_float(torch.from_numpy(images.pixels)))).numpy()
    prototypes = prototype_embeddings(features, images.labels).similarity()
    for objective in ("adjacent", "generalization"):
        name = f"image prototypes ({toy_vit()}) {objective}"
        assert found[name]["pearson"] == along(prototypes, objective)
    assert not any("pixels" in name for name in found)


def test_without_its_weights_image_prototypes_are_of_pixels_and_say_so(
    cli: Cli, toy: dict[str, Any]
) -> None:
    answer = estimate(cli, make_run(**toy, pretrained="/gone/vit.safetensors"))
    found = answer.json["paired"]["correlation"]["predictors"]
    images = toy_dataset().train
    pixels = images.pixels.reshape(len(images), -1).astype(np.float64)
    prototypes = prototype_embeddings(pixels, images.labels).similarity()
    name = "image prototypes (pixels) adjacent"
    assert found[name]["pearson"] == along(prototypes)
    assert "Image prototypes are of pixels, not of /gone/vit.safetensors: Unknown" in answer.err
