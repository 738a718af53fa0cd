"""A flipped bit in any file that we read again is noticed, or changes nothing."""

from __future__ import annotations

import shutil
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from edgecil.backbones.features import FeatureBank
from edgecil.data import load_dataset
from edgecil.engine.experiment import Experiment
from edgecil.engine.node_training import pack, unpack
from edgecil.engine.store import Store
from edgecil.errors import EdgecilError, EdgecilWarning
from edgecil.estimation import Analysis
from edgecil.estimation.analysis import analyze
from edgecil.lab.truth_files import read_truths
from edgecil.methods.ease import _read as read_piece
from edgecil.paper.language_model import Conversation, LanguageModel
from edgecil.similarity import (
    SimilarityMatrix,
    get_encoder,
    read_similarity,
    save_similarity,
)
from edgecil.similarity.text import encode_cached
from tests.attacks.conftest import attack_rng, strength
from tests.attacks.hostile import experiment_bytes, truth_bytes


def flips(path: Path, check: Callable[[], str], count: int) -> Counter[str]:
    """Flip one random bit at a time; `check` says what happened."""
    intact, outcomes = path.read_bytes(), Counter[str]()
    rng = attack_rng(path.name)
    for _ in range(count):
        content = bytearray(intact)
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        outcomes[check()] += 1
    path.write_bytes(intact)
    print(f"{path.name}: {dict(outcomes)}")
    return outcomes


def everything(directory: Path) -> object:
    experiment = Experiment.open(directory)
    return (
        experiment.table().to_pandas().to_csv(),
        experiment.identity,
        experiment.failures(),
        [result.nodes for result in experiment.results()],
    )


def test_the_database(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    experiment_bytes(directory)
    expected = everything(directory)

    def check() -> str:
        try:
            return "equal" if everything(directory) == expected else "silent"
        except EdgecilError:
            return "noticed"

    outcomes = flips(directory / "results.sqlite", check, strength(120, 2000))
    assert outcomes["silent"] == 0
    assert outcomes["noticed"] > 0


def test_a_damaged_result_is_trained_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    directory = tmp_path / "run"
    experiment_bytes(directory)
    path = directory / "results.sqlite"
    content = path.read_bytes()
    place = content.index(b'"totals":[4,4]')
    path.write_bytes(content[:place] + b'"totals":[4,9]' + content[place + 14 :])
    with pytest.raises(EdgecilError, match="damaged"):
        Experiment.open(directory).table()
    with Store(directory) as store:
        assert len(store.done()) == 3, "the others are kept"
    assert "trained again" in caplog.text
    assert len(Experiment.open(directory).results()) == 1


def test_states() -> None:
    state = {"weights": torch.arange(64.0), "seen": [1, 2]}
    packed = pack(state)
    assert torch.equal(unpack(packed)["weights"], state["weights"])  # type: ignore[arg-type]
    rng = attack_rng("states")
    for _ in range(strength(200, 5000)):
        content = bytearray(packed)
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        with pytest.raises(ValueError, match="checksum"):
            unpack(bytes(content))


def test_saved_analyses(tmp_path: Path) -> None:
    experiment_bytes(tmp_path / "run")
    analysis = analyze(tmp_path / "run")
    path = tmp_path / "analysis.json"
    analysis.save(path)
    expected = repr(Analysis.load(path)) + str(Analysis.load(path).datasets)

    def check() -> str:
        try:
            loaded = Analysis.load(path)
            return "equal" if repr(loaded) + str(loaded.datasets) == expected else "silent"
        except EdgecilError:
            return "noticed"

    outcomes = flips(path, check, strength(60, 1000))
    assert outcomes["silent"] == 0
    assert outcomes["noticed"] > 0


def test_pieces_features_and_similarities(tmp_path: Path) -> None:
    from edgecil.backbones.features import content_name

    piece, result = tmp_path / "piece.pt", {"adapter": torch.arange(40.0)}
    torch.save({"result": result, "content": content_name(result)}, piece)

    def read_task() -> str:
        found = read_piece(piece)
        if found is None:
            return "noticed"
        return "equal" if torch.equal(found["adapter"], result["adapter"]) else "silent"

    pixels = torch.arange(4 * 3 * 2 * 2, dtype=torch.uint8).reshape(4, 3, 2, 2)

    def features(part: torch.Tensor) -> torch.Tensor:
        return part.float().flatten(1)

    folder = tmp_path / "features"
    rows = FeatureBank(folder).rows(pixels, features)
    (bank,) = folder.glob("*.npz")

    def read_features() -> str:
        again = FeatureBank(folder).rows(pixels, features)
        for other in set(folder.glob("*.npz")) - {bank}:
            other.unlink()
        return "equal" if torch.equal(again, rows) else "silent"

    matrix = SimilarityMatrix(("a", "b", "c"), np.eye(3) + 0.1, {})
    saved = tmp_path / "similarity.npz"
    save_similarity(matrix, saved)

    def read_matrix() -> str:
        try:
            found = read_similarity(saved)
        except EdgecilError:
            return "noticed"
        ids = np.arange(3)
        same = np.array_equal(found.submatrix(ids), matrix.submatrix(ids))
        return "equal" if same and found.names == matrix.names else "silent"

    for path, check in ((piece, read_task), (bank, read_features), (saved, read_matrix)):
        assert flips(path, check, strength(40, 600))["silent"] == 0
    shutil.rmtree(folder)


def test_cached_embeddings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path))
    encoder, texts = get_encoder("minilm-bundled"), ["a photo of a apple.", "a photo of a bee."]
    monkeypatch.setattr(type(encoder), "encode", lambda self, some: np.eye(len(some), 3))
    expected = encode_cached(encoder, texts)
    (path,) = tmp_path.rglob("*.npz")

    def check() -> str:
        return "equal" if np.array_equal(encode_cached(encoder, texts), expected) else "silent"

    assert flips(path, check, strength(40, 600))["silent"] == 0


def test_conversations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged answer is not reused: the model is asked again."""
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path))
    answer = {"content": "3 1|0 2", "refusal": None, "finish_reason": "stop"}
    monkeypatch.setattr(LanguageModel, "complete", lambda self, messages: answer)

    def ask() -> str:
        return Conversation(LanguageModel("toy")).ask("Which order?", str)

    assert ask() == "3 1|0 2"
    (path,) = tmp_path.rglob("*.json")
    outcomes = flips(path, lambda: "equal" if ask() == "3 1|0 2" else "silent", strength(60, 1000))
    assert outcomes["silent"] == 0


def test_truth_tables(tmp_path: Path) -> None:
    truths = tmp_path / "truths.npz"
    truths.write_bytes(truth_bytes(tmp_path))
    (expected,) = read_truths(truths)

    def read_table() -> str:
        try:
            (table,) = read_truths(truths)
        except EdgecilError:
            return "noticed"
        same = np.array_equal(table.accuracies("m"), expected.accuracies("m"))
        return "equal" if same and table.sequences == expected.sequences else "silent"

    assert flips(truths, read_table, strength(60, 1000))["silent"] == 0


def test_decoded_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "cache"))
    for number in range(6):
        folder = tmp_path / "toy" / ("train" if number < 3 else "test") / "a"
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 4), (40 * number, 7, 99)).save(folder / f"{number}.png")
    with pytest.warns(EdgecilWarning):
        expected = load_dataset(tmp_path / "toy", storage="disk").fingerprint

    def check() -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = load_dataset(tmp_path / "toy", storage="disk").fingerprint
            except EdgecilError:
                return "noticed"
        return "equal" if found == expected else "silent"

    (path,) = (tmp_path / "cache").rglob("inputs/*/inputs")
    outcomes = flips(path, check, strength(30, 400))
    assert (outcomes["silent"], outcomes["equal"]) == (0, 0)
