"""Datasets in shards: WebDataset archives, Parquet and Arrow files."""

from __future__ import annotations

import io
import json
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from edgecil.data.formats import tables
from edgecil.data.registry import dataset_classes, dataset_status, load_dataset
from edgecil.errors import DataError, EdgecilWarning, PrerequisiteError

NAMES = ["猫", "dog", "bus"]


def image(label: int, number: int, size: tuple[int, int] = (8, 8)) -> bytes:
    """A picture whose colour is its label and its number."""
    buffer = io.BytesIO()
    Image.new("RGB", size, (60 * label, 5 * number, 200)).save(buffer, "PNG")
    return buffer.getvalue()


def rows(each: int, start: int = 0) -> list[tuple[int, int]]:
    """Labels and numbers, classes in turn."""
    return [(label, number) for number in range(start, start + each) for label in range(3)]


def write_tar(path: Path, samples: list[tuple[int, int]], label: str = "cls") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for place, (class_, number) in enumerate(samples):
            text = str(class_) if label == "cls" else json.dumps({"label": NAMES[class_]})
            for kind, content in (("png", image(class_, number)), (label, text.encode())):
                member = tarfile.TarInfo(f"{place:04}.{kind}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))


def table(samples: list[tuple[int, int]], *, named: bool = True, plain: bool = False) -> Any:
    """As the package datasets writes it."""
    arrow = pytest.importorskip("pyarrow")
    pictures: list[Any] = [image(*sample) for sample in samples]
    if not plain:
        pictures = [{"bytes": content, "path": None} for content in pictures]
    columns = {
        "image": pictures,
        "label": [label for label, _ in samples],
        "index": [0] * len(samples),
    }
    features = {"image": {"_type": "Image"}, "label": {"names": NAMES, "_type": "ClassLabel"}}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})} if named else {}
    return arrow.table(columns).replace_schema_metadata(metadata)


def write_parquet(path: Path, samples: list[tuple[int, int]], **options: Any) -> None:
    content = table(samples, **options)
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(content, path, row_group_size=4)


def write_stream(path: Path, samples: list[tuple[int, int]], **options: Any) -> None:
    content = table(samples, **options)
    from pyarrow import ipc

    path.parent.mkdir(parents=True, exist_ok=True)
    with ipc.new_stream(str(path), content.schema) as writer:
        writer.write_table(content, max_chunksize=4)


def tar_set(root: Path) -> None:
    write_tar(root / "train" / "0.tar", rows(2))
    write_tar(root / "train" / "1.tar", rows(1, start=2))
    write_tar(root / "test" / "0.tar", rows(1, start=3))
    (root / "classnames.txt").write_text("\n".join(NAMES), encoding="utf-8")


def parquet_set(root: Path) -> None:
    write_parquet(root / "data" / "train-00000-of-00002.parquet", rows(2))
    write_parquet(root / "data" / "train-00001-of-00002.parquet", rows(1, start=2))
    write_parquet(root / "data" / "test-00000-of-00001.parquet", rows(1, start=3))


def arrow_set(root: Path) -> None:
    write_stream(root / "train" / "data-00000-of-00002.arrow", rows(2))
    write_stream(root / "train" / "data-00001-of-00002.arrow", rows(1, start=2))
    write_stream(root / "test" / "data-00000-of-00001.arrow", rows(1, start=3))
    write_stream(root / "train" / "cache-0123.arrow", rows(7))  # of datasets.map
    (root / "dataset_dict.json").write_text('{"splits": ["train", "test"]}', encoding="utf-8")


SETS = {"webdataset": tar_set, "parquet": parquet_set, "arrow": arrow_set}


@pytest.mark.parametrize("storage", ["memory", "disk"])
@pytest.mark.parametrize("write", SETS.values(), ids=SETS)
@pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")
def test_shards_keep_images_labels_names_and_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], None], storage: str
) -> None:
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "cache"))
    write(tmp_path / "pets")
    dataset = load_dataset(tmp_path / "pets", storage=storage)
    assert (dataset.name, dataset.names) == ("pets", tuple(NAMES))
    assert dataset_classes(tmp_path / "pets").labels == tuple(NAMES)
    assert dataset_status(tmp_path / "pets")[0]
    for part, samples in ((dataset.train, rows(3)), (dataset.test, rows(1, start=3))):
        assert part.labels.tolist() == [label for label, _ in samples]
        colours = [[60 * label, 5 * number, 200] for label, number in samples]
        np.testing.assert_array_equal(part.pixels[:, :, 4, 4], colours)
    some = load_dataset(tmp_path / "pets", ids=[2, 0])
    assert some.names == ("bus", "猫")
    np.testing.assert_array_equal(some.train.pixels[:2, 0, 0, 0], [0, 120])


def test_one_shard_is_split_aloud(tmp_path: Path) -> None:
    write_tar(tmp_path / "pets.tar", rows(5), label="json")
    with pytest.warns(EdgecilWarning, match="3 of its 15 images"):
        dataset = load_dataset(tmp_path / "pets.tar")
    assert dataset.names == tuple(sorted(NAMES)), "texts are classes in alphabetical order"
    assert (len(dataset.train), len(dataset.test)) == (12, 3)
    write_parquet(tmp_path / "pets.parquet", rows(5), named=False, plain=True)
    with pytest.warns(EdgecilWarning, match="3 of its 15 images"):
        dataset = load_dataset(tmp_path / "pets.parquet")
    assert dataset.names == ("class 0", "class 1", "class 2")


def test_an_image_folder_with_an_archive_beside_it_is_an_image_folder(tmp_path: Path) -> None:
    for label in range(2):
        for number in range(5):
            path = tmp_path / "pets" / NAMES[label] / f"{number}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(image(label, number))
    write_tar(tmp_path / "pets" / "download.tar", rows(2))
    assert dataset_classes(tmp_path / "pets").labels == ("dog", "猫")


def test_what_is_wrong_with_an_archive_is_named(tmp_path: Path) -> None:
    good = tmp_path / "good.tar"
    write_tar(good, rows(2))
    cut = tmp_path / "cut.tar"
    cut.write_bytes(good.read_bytes()[:600])
    with pytest.raises(DataError, match=r"cut\.tar"):
        load_dataset(cut)
    for name, members, message in (
        ("unlabelled", {"0.png": image(0, 0)}, "sample '0' .* has no label"),
        ("twice", {"0.png": image(0, 0), "0.jpg": b"", "0.cls": b"0"}, "more than one image"),
        ("empty", {"0.cls": b"0"}, "no images"),
        ("negative", {"0.png": image(0, 0), "0.cls": b"-1"}, "label -1"),
        ("json", {"0.png": image(0, 0), "0.json": b"{"}, "0.json in .* is not valid JSON"),
        ("mixed", {"0.png": b"", "0.cls": b"0", "1.png": b"", "1.cls": b"cat"}, "all numbers or"),
    ):
        with tarfile.open(tmp_path / f"{name}.tar", "w") as archive:
            for member, content in members.items():
                info = tarfile.TarInfo(member)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        with pytest.raises(DataError, match=message):
            load_dataset(tmp_path / f"{name}.tar")
    with tarfile.open(tmp_path / "zipped.tar", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("0.cls"))
    with pytest.raises(DataError, match="without compression"):
        load_dataset(tmp_path / "zipped.tar")
    with pytest.raises(PrerequisiteError, match="There is no file"):
        load_dataset(tmp_path / "none.tar")


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_of_gigabytes_is_not_read(tmp_path: Path, kind: bytes) -> None:
    header = tarfile.TarInfo("long")
    header.type, header.size = kind, 2**31
    path = tmp_path / "sparse.tar"
    with path.open("wb") as file:  # takes 4 kB on disk
        file.write(header.tobuf(tarfile.GNU_FORMAT))
        file.truncate(2**31 + 2048)
    with pytest.raises(DataError, match="header of 2,147,483,648 bytes"):
        load_dataset(path)


@pytest.mark.parametrize(("kind", "label"), [("cls", b"1"), ("json", b'{"label": 1}')])
def test_a_sample_with_two_labels_is_refused(tmp_path: Path, kind: str, label: bytes) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        for name, content in (("0.png", image(0, 0)), *[(f"0.{kind}", label)] * 2):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    with pytest.raises(DataError, match="more than one label"):
        load_dataset(path)


def test_what_is_wrong_with_a_table_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    pictures = [image(label, 0) for label in (0, 1)] * 5
    cases: list[tuple[dict[str, Any], str]] = [
        ({"picture": pictures, "kind": [0, 1] * 5, "other": [1, 2] * 5}, "column of labels"),
        ({"label": [0, 1] * 5}, "column of images.*none"),
        ({"one": pictures, "two": pictures, "label": [0, 1] * 5}, "'one', 'two'"),
        ({"image": pictures, "label": [0, None] * 5}, "Row 1 .* has no 'label'"),
        ({"image": pictures, "label": [0, -1] * 5}, "label -1"),
        (
            {"image": [{"bytes": None, "path": "/etc/passwd"}] * 10, "label": [0, 1] * 5},
            "holds no image but at most its path",
        ),
    ]
    for place, (columns, message) in enumerate(cases):
        if "path" in message:
            kind = arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
            columns = {**columns, "image": arrow.array(columns["image"], kind)}
        path = tmp_path / f"{place}.parquet"
        parquet.write_table(arrow.table(columns), path)
        with pytest.raises(DataError, match=message):
            load_dataset(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PrerequisiteError, match=r"edgecil\[arrow\]"):
        tables.read_table(tmp_path / "0.parquet")


def test_rows_of_a_table_can_be_read_in_any_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_ROWS", 2)
    monkeypatch.setattr(tables, "_KEPT", 2)
    samples = rows(10)
    write_parquet(tmp_path / "a.parquet", samples)
    shard = tables.read_table(tmp_path / "a.parquet")
    for row in [0, 29, 3, 4, 5, 2, 13, 12, 11, 0, 1, *range(30), *reversed(range(30))]:
        assert shard.images[row].read() == image(*samples[row])


def test_two_formats_in_one_folder_are_refused(tmp_path: Path) -> None:
    tar_set(tmp_path / "pets")
    parquet_set(tmp_path / "pets")
    with pytest.raises(DataError, match=r"both \*\.tar and \*\.parquet"):
        load_dataset(tmp_path / "pets")


def test_large_images_in_shards_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tar_set(tmp_path / "pets")
    monkeypatch.setenv("EDGECIL_MAX_IMAGE_BYTES", "50")
    with pytest.raises(DataError, match="EDGECIL_MAX_IMAGE_BYTES"):
        load_dataset(tmp_path / "pets")


@pytest.mark.parametrize("write", ["new_stream", "new_file"])
def test_columns_that_nobody_asked_for_are_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    """A file of 50 kB took 1.6 GB."""
    ipc = pytest.importorskip("pyarrow.ipc")
    import pyarrow

    large = table(rows(4)).append_column("other", pyarrow.array([bytes(2**20)] * 12))
    path = tmp_path / "packed.arrow"
    options = ipc.IpcWriteOptions(compression="zstd")
    with getattr(ipc, write)(str(path), large.schema, options=options) as writer:
        writer.write_table(large)
    before = pyarrow.total_allocated_bytes()
    shard = tables.read_table(path)
    assert pyarrow.total_allocated_bytes() - before < 2**20
    assert [it.read() for it in shard.images] == [image(*sample) for sample in rows(4)]
    monkeypatch.setenv("EDGECIL_MAX_ARRAY_BYTES", str(12 * 2**20))
    with pytest.raises(DataError, match="EDGECIL_MAX_ARRAY_BYTES"):
        tables.read_table(path)


def test_an_empty_label_is_no_class(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, content in (("0.png", image(0, 0)), ("0.cls", b" \n")):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    with pytest.raises(DataError, match="name is empty"):
        load_dataset(str(tmp_path / "a.tar"))


def test_values_that_rows_of_a_parquet_file_share_are_in_memory_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A label of 50 MB for 4,000 rows, in a file of 280 kB, took all memory."""
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    monkeypatch.setattr(tables, "_MOST", 200)  # bytes: fewer than two images
    samples = [image(*sample) for sample in rows(20)]
    label = pyarrow.array(["x" * 2**20] * len(samples))
    shared = pyarrow.table({"image": pyarrow.array(samples, pyarrow.binary()), "label": label})
    parquet.write_table(shared, tmp_path / "a.parquet", row_group_size=7)
    shard = tables.read_table(tmp_path / "a.parquet")
    assert len(shard.labels) == len(samples)
    assert len(set(map(id, shard.labels))) <= -(-len(samples) // 7)  # one in each row group
    assert [it.read() for it in shard.images] == samples
    assert len(shard.images[0].table._kept) < 5
    assert shard.images[0].read() == samples[0]  # again from the start


def test_the_size_of_a_row_group_is_checked_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of 1.8 GB took 4.1 GB."""
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table(rows(4)), tmp_path / "a.parquet")
    monkeypatch.setenv("EDGECIL_MAX_ROW_GROUP_BYTES", "500")
    with pytest.raises(DataError, match="EDGECIL_MAX_ROW_GROUP_BYTES"):
        tables.read_table(tmp_path / "a.parquet")
