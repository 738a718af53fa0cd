"""Everything that `dataset=` takes gives the same dataset; wrong uses are one sentence each."""

from __future__ import annotations

import io
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from edgecil.data import Dataset, Examples, data_slot as slot, dataset_classes, load_dataset
from edgecil.errors import DataError, EdgecilError, EdgecilWarning, PrerequisiteError, UsageError
from tests.data.painting import paint

datasets = pytest.importorskip("datasets")
pytestmark = pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")

NAMES = ["cat", "dog", "eel"]
TRAIN, TEST = np.repeat(np.arange(3), 4), np.repeat(np.arange(3), 2)
PIXELS = paint(TRAIN), paint(TEST)
EXPECTED = Dataset("pets", tuple(NAMES), Examples(PIXELS[0], TRAIN), Examples(PIXELS[1], TEST))


class Pets:
    """As torchvision's datasets: a length, items by index, `classes` and `targets`."""

    classes = NAMES

    def __init__(self, pixels: np.ndarray, labels: np.ndarray, transform: Any = None) -> None:
        self.inputs, self.targets, self.transform = pixels, labels.tolist(), transform
        self.read: list[int] = []

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        self.read.append(index)
        image = Image.fromarray(self.inputs[index].transpose(1, 2, 0))
        return image if self.transform is None else self.transform(image), self.targets[index]


class Bare(Pets):
    """Its labels are known from its items alone."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._hidden = self.targets
        del self.targets

    def __len__(self) -> int:
        return len(self._hidden)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        self.read.append(index)
        return torch.from_numpy(self.inputs[index]), torch.tensor(self._hidden[index])


def to_tensor(image: Image.Image) -> torch.Tensor:
    return torch.from_numpy(np.asarray(image).transpose(2, 0, 1).copy()).float().div(255)


def pair(kind: type[Pets] = Pets, *args: Any) -> tuple[Pets, Pets]:
    return kind(PIXELS[0], TRAIN, *args), kind(PIXELS[1], TEST, *args)


def png(pixels: np.ndarray) -> dict[str, Any]:
    file = io.BytesIO()
    Image.fromarray(pixels.transpose(1, 2, 0)).save(file, "PNG")
    return {"bytes": file.getvalue(), "path": None}


def hub_part(part: int, image: str = "img", label: str = "label") -> Any:
    pixels, labels = PIXELS[part], (TRAIN, TEST)[part]
    features = datasets.Features(
        {
            "id": datasets.Value("int64"),
            image: datasets.Image(),
            label: datasets.ClassLabel(names=NAMES),
        }
    )
    rows = {"id": labels * 0, image: [png(it) for it in pixels], label: labels}
    return datasets.Dataset.from_dict(rows, features=features)


def hub_dict() -> Any:
    return datasets.DatasetDict(train=hub_part(0), test=hub_part(1))


def load_here() -> Any:
    return pair()


FORMS = {
    "Dataset": lambda: EXPECTED,
    "arrays": lambda: {
        "x_train": PIXELS[0], "y_train": TRAIN, "x_test": PIXELS[1], "y_test": TEST, "names": NAMES
    },
    "torch": pair,
    "torch floats": lambda: pair(Pets, to_tensor),
    "subset": lambda: tuple(
        torch.utils.data.Subset(part, range(len(part))) for part in pair(Bare)
    ),
    "DatasetDict": hub_dict,
    "pair of Datasets": lambda: (hub_part(0), hub_part(1)),
    "function": lambda: load_here,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("storage", ["memory", "disk"])
def test_every_form_gives_the_same_dataset(form, storage, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path))
    if storage == "disk":
        monkeypatch.setattr("edgecil.data.input_store.free_memory", lambda: 0)
    dataset = load_dataset(FORMS[form]())
    if form == "subset":  # torch's Subset has no names
        assert dataset.names == ("class 0", "class 1", "class 2")
    else:
        assert dataset.names == EXPECTED.names
        assert dataset.fingerprint == EXPECTED.fingerprint
    assert np.array_equal(dataset.train.inputs, EXPECTED.train.inputs)
    assert np.array_equal(dataset.test.labels, EXPECTED.test.labels)
    some = load_dataset(FORMS[form](), ids=[2, 0])
    assert np.array_equal(some.test.inputs, EXPECTED.take([2, 0]).test.inputs)


def test_arrays_without_a_split_are_split_always_in_the_same_way() -> None:
    x, y = torch.from_numpy(PIXELS[0]), TRAIN.tolist()
    with pytest.warns(EdgecilWarning, match="20% of each class, are held out for testing"):
        first, second = load_dataset((x, y)), load_dataset((PIXELS[0], TRAIN))
    assert first.fingerprint == second.fingerprint
    assert first.counts()[1].tolist() == [1, 1, 1]
    four = load_dataset((PIXELS[0], TRAIN, PIXELS[1], TEST))
    assert np.array_equal(four.test.inputs, PIXELS[1])


def test_names_of_arrays_may_be_capitals(tmp_path) -> None:
    arrays = {"X_train": PIXELS[0], "y_train": TRAIN, "X_test": PIXELS[1], "Y_TEST": TEST}
    np.savez(tmp_path / "pets.npz", **arrays)
    expected = load_dataset((PIXELS[0], TRAIN, PIXELS[1], TEST)).fingerprint
    assert load_dataset(arrays).fingerprint == expected
    assert load_dataset(tmp_path / "pets.npz").fingerprint == expected
    both = {**arrays, "x_train": PIXELS[0], "X_train": PIXELS[0] * 0}  # what is exact counts
    np.savez(tmp_path / "both.npz", **both)
    assert load_dataset(both).fingerprint == expected
    assert load_dataset(tmp_path / "both.npz").fingerprint == expected


def test_texts_as_labels_of_arrays_are_the_names_of_the_classes() -> None:
    given = np.array(NAMES)
    arrays = (PIXELS[0], given[TRAIN], PIXELS[1], given[TEST])
    dataset = load_dataset(slot.dataset_text(arrays))
    assert dataset.names == tuple(NAMES)
    np.testing.assert_array_equal(dataset.train.labels, TRAIN)
    np.testing.assert_array_equal(dataset.test.labels, TEST)


def test_vectors_of_any_source() -> None:
    rows = np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32)
    table = torch.utils.data.TensorDataset(torch.from_numpy(rows), torch.from_numpy(TRAIN))
    hub = datasets.Dataset.from_dict({"embedding": rows.tolist(), "label": TRAIN})
    expected = load_dataset((rows, TRAIN))
    assert expected.shape == (5,)
    for given in (table, hub):
        assert load_dataset(given).fingerprint == expected.fingerprint


def test_only_the_items_of_the_chosen_classes_are_read() -> None:
    train, test = pair()
    load_dataset((train, test), ids=[1, 2])
    assert set(train.read) == set(np.flatnonzero(TRAIN > 0))
    assert set(test.read) == set(np.flatnonzero(TEST > 0))


def test_text_labels_and_named_columns() -> None:
    words = [NAMES[label] for label in TRAIN]
    part = datasets.Dataset.from_dict({"embedding": np.eye(12).tolist(), "label": words})
    assert load_dataset(part).names == tuple(NAMES)


def test_a_file_and_an_entry_point_load(tmp_path, monkeypatch) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import numpy as np\n"
        "def load():\n    return np.eye(8), np.arange(8) % 2\n"
        "def wrong(path):\n    return path\n"
    )
    dataset = load_dataset(f"{file}:load")
    assert (dataset.name, dataset.shape) == ("load", (8,))
    assert dataset_classes(f"{file}:load").labels == ("class 0", "class 1")
    with pytest.raises(UsageError):
        load_dataset(f"{file}:wrong")
    point = SimpleNamespace(name="pets", module="tests.data.test_slot", attr="load_here")
    monkeypatch.setattr(slot, "installed", lambda group: {"pets": point})
    assert load_dataset("pets").fingerprint == EXPECTED.fingerprint


@pytest.mark.parametrize("form", ["parquet", "saved", "tar"])
def test_shards_are_read_by_the_library(form, tmp_path) -> None:
    folder = tmp_path / "pets"
    folder.mkdir()
    if form == "parquet":
        for name, part in hub_dict().items():
            part.to_parquet(folder / f"{name}-0.parquet")
    elif form == "tar":
        import tarfile

        for name, part in (("train", 0), ("test", 1)):
            with tarfile.open(folder / f"{name}-0.tar", "w") as tar:
                for index, label in enumerate((TRAIN, TEST)[part]):
                    members = (("png", png(PIXELS[part][index])["bytes"]), ("cls", b"%d" % label))
                    for suffix, content in members:
                        info = tarfile.TarInfo(f"{index:03d}.{suffix}")
                        info.size = len(content)
                        tar.addfile(info, io.BytesIO(content))
    else:
        hub_dict().save_to_disk(str(folder))
    dataset = load_dataset(folder)
    assert np.array_equal(dataset.train.inputs, PIXELS[0])
    assert np.array_equal(dataset.test.labels, TEST)
    assert form == "tar" or dataset.names == EXPECTED.names


def test_a_hub_dataset_by_text(tmp_path, monkeypatch) -> None:
    parts = {"train": hub_part(0, "picture", "kind"), "validation": hub_part(1, "picture", "kind")}
    monkeypatch.setattr(datasets, "load_dataset", lambda *_: datasets.DatasetDict(parts))
    dataset = load_dataset("hf:somebody/pets?image=picture&label=kind")
    assert (dataset.name, dataset.fingerprint) == ("pets", EXPECTED.fingerprint)
    for wrong in ("hf:somebody/pets?test=tset", "hf:somebody/pets?lable=kind"):
        with pytest.raises(UsageError):
            load_dataset(wrong)


def flip(image: Image.Image) -> Image.Image:
    return image.point(lambda value: 255 - value) if next(FLIPS) else image


FLIPS: Iterator[bool] = iter(index == 20 for index in range(10**9))


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (lambda: pair(Pets, flip), DataError),
        (lambda: pair(Pets, lambda image: (to_tensor(image) - 0.5) / 0.2), DataError),
        (lambda: pair(Pets, lambda image: "no image"), DataError),
        (lambda: (PIXELS[0], TRAIN, PIXELS[1]), UsageError),
        (lambda: {"x": PIXELS[0]}, UsageError),
        (lambda: (PIXELS[0], TRAIN[:5]), DataError),
        (lambda: ["a", "b"], EdgecilError),
        (lambda: 7, UsageError),
        (lambda: datasets.Dataset.from_dict({"text": ["a"], "stars": [1]}), DataError),
        (lambda: "python:arrays-0", UsageError),
        (lambda: torch.utils.data.TensorDataset(torch.zeros(4, 2), torch.zeros(4)), DataError),
    ],
)
def test_wrong_uses_are_one_sentence_without_arrays(given, kind) -> None:
    with pytest.raises(kind) as caught:
        load_dataset(given())
    assert len(str(caught.value)) < 260
    assert "\n" not in str(caught.value)


def test_without_the_library_one_sentence_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    with pytest.raises(PrerequisiteError, match=r"edgecil\[hf\]"):
        load_dataset("hf:somebody/pets")
