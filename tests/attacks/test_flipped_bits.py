"""A flipped bit in any file that we read again is noticed, or changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from PIL import Image

from edgecil.analysis import Analysis
from edgecil.analysis.analysis import analyze
from edgecil.backbones.features import FeatureBank, content_name
from edgecil.data import load_dataset
from edgecil.errors import DataError, EdgecilError
from edgecil.experiments.experiment import Experiment
from edgecil.experiments.store import Store
from edgecil.io.json import to_plain
from edgecil.lab.truth_tables import read_truths
from edgecil.methods.ease import _read as read_piece
from edgecil.paper.language_model import Conversation, LanguageModel
from edgecil.similarity import (
    SimilarityMatrix,
    get_encoder,
    read_similarity,
    save_similarity,
)
from edgecil.similarity.text import encode_cached
from edgecil.training.node_training import pack, unpack
from tests.attacks.conftest import attack_rng, strength
from tests.attacks.hostile import experiment_bytes, truth_bytes
from tests.toys import same

Attacked = tuple[Path, Callable[[], object]]  # a file, and what is read from it


def database(folder: Path) -> Attacked:
    experiment_bytes(folder / "run")

    def everything() -> object:
        experiment = Experiment.open(folder / "run")
        nodes = [result.nodes for result in experiment.results()]
        table = experiment.table().to_pandas().to_csv()
        return table, experiment.identity, experiment.failures(), nodes

    return folder / "run" / "results.sqlite", everything


def saved_analysis(folder: Path) -> Attacked:
    experiment_bytes(folder / "run")
    path = folder / "analysis.json"
    analyze(folder / "run").save(path)
    return path, lambda: to_plain(Analysis.load(path))


def piece_of_ease(folder: Path) -> Attacked:
    path, result = folder / "piece.pt", {"adapter": torch.arange(40.0)}
    torch.save({"result": result, "content": content_name(result)}, path)

    def read() -> object:
        piece = read_piece(path)
        if piece is None:
            raise DataError("It is computed again.")
        return piece["adapter"].tolist()

    return path, read


def features(folder: Path) -> Attacked:
    pixels = torch.arange(4 * 3 * 2 * 2, dtype=torch.uint8).reshape(4, 3, 2, 2)

    def read() -> object:
        rows = FeatureBank(folder).rows(pixels, lambda part: part.float().flatten(1))
        for other in folder.glob("*.npz"):
            if other not in bank:
                other.unlink()
        return rows.tolist()

    FeatureBank(folder).rows(pixels, lambda part: part.float().flatten(1))
    bank = list(folder.glob("*.npz"))
    return bank[0], read


def similarity(folder: Path) -> Attacked:
    path = folder / "similarity.npz"
    save_similarity(SimilarityMatrix(("a", "b", "c"), np.eye(3) + 0.1, {}), path)
    return path, lambda: (
        (found := read_similarity(path)).names,
        found.submatrix(np.arange(3)).tolist(),
    )


def cached_embeddings(folder: Path) -> Attacked:
    encoder, texts = get_encoder("minilm-bundled"), ["a photo of a apple.", "a photo of a bee."]
    encode_cached(encoder, texts)
    (path,) = folder.rglob("*.npz")
    return path, lambda: encode_cached(encoder, texts).tolist()


def conversation(folder: Path) -> Attacked:
    """A damaged answer is not reused: the model is asked again."""

    def ask() -> str:
        return Conversation(LanguageModel("toy")).ask("Which order?", str)

    assert ask() == "3 1|0 2"
    (path,) = folder.rglob("*.json")
    return path, ask


def truth_table(folder: Path) -> Attacked:
    path = folder / "truths.npz"
    path.write_bytes(truth_bytes(folder))

    def read() -> object:
        (table,) = read_truths(path)
        return table.accuracies("m").tolist(), table.sequences

    return path, read


def decoded_images(folder: Path) -> Attacked:
    for number in range(6):
        place = folder / "toy" / ("train" if number < 3 else "test") / "a"
        place.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 4), (40 * number, 7, 99)).save(place / f"{number}.png")

    def read() -> object:
        return load_dataset(folder / "toy").fingerprint

    read()
    (path,) = folder.rglob("inputs/*/inputs")
    return path, read


# What is attacked, how often in `make test` and in `make attack`, and whether damage is always
# noticed (True), sometimes, or, being computed or asked for again, never to be seen (None).
FILES: dict[Callable[[Path], Attacked], tuple[int, int, bool | None]] = {
    database: (120, 2000, False),
    saved_analysis: (60, 1000, False),
    piece_of_ease: (40, 600, False),
    features: (40, 600, None),
    similarity: (40, 600, False),
    cached_embeddings: (40, 600, None),
    conversation: (60, 1000, None),
    truth_table: (60, 1000, False),
    decoded_images: (30, 400, True),
}


@pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")
@pytest.mark.parametrize("make", FILES, ids=lambda make: make.__name__)
def test_a_flipped_bit_is_noticed_or_changes_nothing(
    make: Callable[[Path], Attacked], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path))
    monkeypatch.setattr("edgecil.data.input_store.free_memory", lambda: 0)
    answer = {"content": "3 1|0 2", "refusal": None, "finish_reason": "stop"}
    monkeypatch.setattr(LanguageModel, "complete", lambda self, messages: answer)
    encoder = type(get_encoder("minilm-bundled"))
    monkeypatch.setattr(encoder, "encode", lambda self, some: np.eye(len(some), 3))
    path, read = make(tmp_path)
    expected, intact = read(), path.read_bytes()
    fast, long, noticed = FILES[make]
    outcomes, rng = Counter[str](), attack_rng(path.name)
    for _ in range(strength(fast, long)):
        path.write_bytes(flipped(intact, rng))
        try:
            outcomes["equal" if read() == expected else "silent"] += 1
        except EdgecilError:
            outcomes["noticed"] += 1
    print(f"{path.name}: {dict(outcomes)}")
    assert outcomes["silent"] == 0
    if noticed is not None:
        assert outcomes["noticed"] > 0
    assert not noticed or outcomes["equal"] == 0


def flipped(content: bytes, rng: Random) -> bytes:
    changed = bytearray(content)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


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
    state = {"weights": [torch.arange(64.0), torch.zeros(0, 2)], "seen": [3, 1], "flag": True}
    packed = pack(state)
    assert same(unpack(packed), state)
    rng = attack_rng("states")
    for _ in range(strength(200, 5000)):
        with pytest.raises(ValueError, match="checksum"):
            unpack(flipped(packed, rng))
