"""Hostile files of every format that edgecil reads, generated from valid ones."""

from __future__ import annotations

import io
import pickle
import random
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from safetensors.torch import save as save_safetensors

from edgecil.analysis import Analysis
from edgecil.analysis.analysis import analyze
from edgecil.backbones.vit_weights import configured_layout, configured_statistics
from edgecil.classes import ClassList, read_classes
from edgecil.data import load_dataset
from edgecil.experiments.config_values import build_config, read_config
from edgecil.experiments.experiment import Experiment
from edgecil.experiments.plan import Node
from edgecil.experiments.results import NodeResult
from edgecil.experiments.store import Store
from edgecil.interop.exchange_files import read_result
from edgecil.interop.logs import read_log
from edgecil.interop.toolbox_configs import translate_config
from edgecil.io.pickles import read_pickle
from edgecil.io.weights import WeightFiles, read_tensors
from edgecil.lab.truth_tables import TruthCounts, TruthTable, read_truths, write_truths
from edgecil.paper.published_summaries import rank_published, read_published
from edgecil.runs.run_files import read_runs
from edgecil.sequences import ClassSequence, SequenceSpace
from edgecil.sequences.protocols import LabelledSequence
from edgecil.sequences.user_sequences import parse_sequences, sequence_texts
from edgecil.similarity import read_embeddings, read_similarity
from edgecil.similarity.captions import read_captions
from edgecil.similarity.described import read_described
from tests.analysis.tables import rows

NAMES = ["cat", "dog", "bus", "car"]
TEXTS = Path(__file__).with_name("valid")  # a valid file of every format that is text


def _saved(save: Callable[..., object], *values: Any, **named: Any) -> bytes:
    buffer = io.BytesIO()
    save(buffer, *values, **named)
    return buffer.getvalue()


def _torch(value: Any) -> bytes:
    return _saved(lambda buffer: torch.save(value, buffer))


def _with_pickle(archive: bytes, content: bytes) -> bytes:
    """An archive of torch with another pickle in it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(buffer, "w") as target:
        for name in source.namelist():
            target.writestr(name, content if name.endswith("data.pkl") else source.read(name))
    return buffer.getvalue()


def _image(kind: str) -> bytes:
    return _saved(Image.new("RGB", (8, 8), (10, 200, 30)).save, kind)


def _accuracies(path: Path) -> None:
    for table in read_runs(path):
        for run in rows(table):
            assert run.accuracy is None or 0.0 <= run.accuracy <= 100.0
            assert run.seed >= 0


def _similarity(path: Path) -> None:
    matrix = read_similarity(path)
    values = matrix.submatrix(np.arange(len(matrix), dtype=np.int64))
    assert np.isfinite(values).all()
    assert np.allclose(values, values.T)


def _embeddings(path: Path) -> None:
    assert np.isfinite(read_embeddings(path).values).all()


def _dataset(path: Path) -> None:
    dataset = load_dataset(str(path))
    assert len(dataset) >= 1
    assert dataset.train.labels.max() < len(dataset)


def _shard(suffix: str) -> bytes:
    """A dataset of six images in one file."""
    pictures = [_image("PNG")] * 6
    labels = [0, 1] * 3
    buffer = io.BytesIO()
    if suffix == ".tar":
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for place, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
                for name, content in (("png", picture), ("cls", str(label).encode())):
                    member = tarfile.TarInfo(f"{place}.{name}")
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        return buffer.getvalue()
    import pyarrow
    from pyarrow import ipc, parquet

    table = pyarrow.table({"image": [{"bytes": picture} for picture in pictures], "label": labels})
    if suffix == ".parquet":
        parquet.write_table(table, buffer, row_group_size=4)
        return buffer.getvalue()
    with ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def _folder(path: Path) -> None:
    root = path.parent / f"images{path.suffix}"
    for part in ("train", "test"):
        for name in ("a", "b"):
            (root / part / name).mkdir(parents=True, exist_ok=True)
            (root / part / name / path.name).write_bytes(path.read_bytes())
    dataset = load_dataset(str(root), size=8)
    assert dataset.train.inputs.shape[2:] == (8, 8)


def _config(path: Path) -> None:
    build_config({"method": "icarl", "dataset": "quickdraw", **read_config(path)})


def _experiment(path: Path) -> None:
    directory = path.parent / "experiment"
    directory.mkdir(exist_ok=True)
    for old in directory.iterdir():
        old.unlink()
    (directory / "results.sqlite").write_bytes(path.read_bytes())
    experiment = Experiment.open(directory)
    table = experiment.table()
    assert experiment.status().planned >= 0
    # what is read is what was written
    assert [run.accuracy for run in rows(table)] == [75.0, 62.5, None, None]


def _captions(path: Path) -> None:
    assert all(text.strip() for text in read_captions(path, ClassList("toy", tuple(NAMES))))


def _class_names(path: Path) -> None:
    labels = read_classes(path).labels
    assert len(set(labels)) == len(labels) > 0
    assert all(label.strip() for label in labels)


def _orders(path: Path) -> None:
    space = SequenceSpace.equal(4, 2)
    for texts in sequence_texts(path).values():
        assert all(run.sequence in space for run in parse_sequences(texts, space))


def _analysis(path: Path) -> None:
    analysis = Analysis.load(path)
    # what is read is what was written
    assert [run.accuracy for run in rows(analysis.datasets[0].table)] == [75.0, 62.5, None, None]


def _truths(path: Path) -> None:
    (table,) = read_truths(path)
    assert (table.accuracies("m") <= 100.0).all()


def _published(path: Path) -> None:
    assert read_published(path)["min"].dropna().between(0.0, 100.0).all()
    rank_published(path)


def _layout(path: Path) -> None:
    configured_layout(path)
    configured_statistics(WeightFiles(path.parent / "none.safetensors", (path.name,)))


def _log(path: Path) -> None:
    for run in read_log(path):
        for reported in run.reported().values():
            assert 0.0 <= reported.accuracy <= 100.0


def experiment_bytes(directory: Path) -> bytes:
    """The database of a small finished experiment."""
    with Store(directory) as store:
        dataset = {"name": "toy", "classes": NAMES}
        store.check_identity({"dataset": dataset, "sizes": [2, 2], "method m": {}})
        orders = [ClassSequence([[0, 1], [2, 3]]), ClassSequence([[2, 3], [0, 1]])]
        labelled = [LabelledSequence(f"seed-{i}", order) for i, order in enumerate(orders)]
        store.add_sequences("random", labelled)
        for order, right in zip(orders, ((2, 4), (1, 4)), strict=True):
            tasks = order.tasks
            store.record(Node("m", 0, tasks[:1]), NodeResult({"head": (3,)}, (4,), 0.5, 9))
            store.record(Node("m", 0, tasks), NodeResult({"head": right}, (4, 4), 0.5, 9))
        store.record_failure(Node("m", 1, orders[0].tasks[:1]), "ValueError: no", "trace")
    return (directory / "results.sqlite").read_bytes()


# What reads a file of each format, and checks that what it gives makes sense.
READERS: dict[str, Callable[[Path], object]] = {
    "runs.csv": _accuracies,
    **dict.fromkeys(("matrix.npy", "matrix.npz", "matrix.csv"), _similarity),
    "vectors.npz": _embeddings,
    **dict.fromkeys(("toy.npz", "shard.tar", "shard.parquet", "shard.arrow"), _dataset),
    **dict.fromkeys(("a.png", "a.jpg"), _folder),
    "train": read_pickle,
    **dict.fromkeys(("w.safetensors", "w.pt"), read_tensors),
    "c.toml": _config,
    "pycil.json": translate_config,
    "result.json": lambda path: read_result(path, 2),
    "run.log": _log,
    "results.sqlite": _experiment,
    **dict.fromkeys(("captions.json", "captions.csv"), _captions),
    **dict.fromkeys(("names.json", "names.csv", "names.txt"), _class_names),
    "orders.json": _orders,
    "analysis.json": _analysis,
    "truths.npz": _truths,
    "published.csv": _published,
    "config.json": _layout,
    "sources.toml": read_described,
}


def valid_files(directory: Path) -> dict[str, bytes]:
    """A valid file of every format; `directory` is for what must be made on disk."""
    matrix = np.array([[1.0, 0.2, 0.3, 0.1]] * 4)
    matrix = (matrix + matrix.T) / 2
    images = np.arange(8 * 3 * 4 * 4, dtype=np.uint8).reshape(8, 3, 4, 4)
    labels = np.array([0, 1, 2, 3] * 2)
    tensors = {"a.weight": torch.ones(2, 3), "a.bias": torch.zeros(3)}
    cifar = {b"data": np.zeros((4, 3072), np.uint8), b"fine_labels": [0, 1, 2, 3]}
    named = {"names": np.array(NAMES), "source": "{}"}
    arrays = {"x_train": images, "y_train": labels, "x_test": images, "y_test": labels}
    return {
        **{path.name: path.read_bytes() for path in TEXTS.iterdir()},
        **{f"shard{kind}": _shard(kind) for kind in (".tar", ".parquet", ".arrow")},
        "matrix.npy": _saved(np.save, matrix),
        "matrix.npz": _saved(np.savez, values=matrix, **named),
        "vectors.npz": _saved(np.savez, vectors=np.eye(4), **named),
        "toy.npz": _saved(np.savez, **arrays),
        "a.png": _image("PNG"),
        "a.jpg": _image("JPEG"),
        "train": pickle.dumps(cifar, protocol=2),
        "w.safetensors": save_safetensors(tensors),
        "w.pt": _torch(tensors),
        "results.sqlite": experiment_bytes(directory),
        "analysis.json": _analysis_bytes(directory),
        "truths.npz": truth_bytes(directory),
    }


def _analysis_bytes(directory: Path) -> bytes:
    experiment_bytes(directory / "analysed")
    path = directory / "analysis.json"
    analyze(directory / "analysed").save(path)
    return path.read_bytes()


def truth_bytes(directory: Path) -> bytes:
    space = SequenceSpace((1, 1))
    correct = np.arange(8).reshape(1, 1, 2, 2, 2)
    counts = TruthCounts((0,), ("head",), correct, np.array([9, 9]))
    table = TruthTable(
        "toy", "toy", None, "enumerated", tuple(space.enumerate()), {"m": counts}, {"m": {}}
    )
    write_truths([table], directory / "truths.npz")
    return (directory / "truths.npz").read_bytes()


TOKENS = [b"nan", b"-1", b"1e999", b"9" * 4400, b"null", b"{}", b"[]", b"\0", b"\xff\xfe", b"=1+1"]
TOKENS += [b"1_0", "٣".encode(), b"\x1b[2J", b"999", b"0", b"-0.0", b'"', b"," * 50, b"[" * 3000]


def mutants(valid: bytes, rng: random.Random, count: int) -> Iterator[bytes]:
    """Damaged versions of a file: cut, flipped, spliced, emptied, with hostile tokens."""
    for _ in range(count):
        content = bytearray(valid)
        kind = rng.randrange(7)
        if kind == 0:
            content = content[: rng.randrange(len(content) + 1)]
        elif kind in (1, 2):
            for _ in range(rng.choice((1, 1, 1, 4, 32))):
                content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        elif kind == 3:
            start = rng.randrange(len(content))
            content[start : start + rng.randrange(1, 40)] = rng.choice(TOKENS)
        elif kind == 4:
            start = rng.randrange(len(content))
            content[start:start] = rng.choice(TOKENS)
        elif kind == 5:
            a, b = sorted((rng.randrange(len(content)), rng.randrange(len(content))))
            content[a:a] = content[a:b][:5000]
        else:
            numbers = [i for i, byte in enumerate(content) if 48 <= byte <= 57]
            if numbers:
                place = rng.choice(numbers)
                content[place : place + 1] = rng.choice(TOKENS)
        yield bytes(content)


def crafted(directory: Path) -> Iterator[tuple[str, bytes, str]]:
    """Files made to do harm: name, content, and the format that reads them."""
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": "|u1", "fortran_order": False, "shape": (2**34,)}
        )
        archive.writestr("values.npy", header.getvalue() + bytes(2**16))
    yield "bomb.npz", bomb.getvalue(), "matrix.npz"
    yield "deep.toml", b"a = " + b"[" * 100_000 + b"]" * 100_000, "c.toml"
    yield "deep.json", b"[" * 100_000 + b"]" * 100_000, "result.json"
    yield "keys.pt", _torch({1: torch.ones(2)}), "w.pt"
    yield "code.pt", pickle.dumps({"a": Path("x")}), "w.pt"
    yield "id.pt", _with_pickle(_torch({"a": torch.ones(2)}), b"\x80\x02K\x01Q."), "w.pt"
    yield "latin.json", b'{"schema":"edgecil.analysis/1","\xe5":1}', "analysis.json"
    yield "code", b"cos\nsystem\n(S'touch pwned'\ntR.", "train"
    yield "empty", b"", "train"
    labels = np.array([0, 1, 2, 2**62])
    images = np.zeros((4, 1, 2, 2), np.uint8)
    huge = _saved(np.savez, x_train=images, y_train=labels, x_test=images, y_test=labels)
    yield "labels.npz", huge, "toy.npz"
    yield "objects.npz", _saved(np.savez, x_train=np.array([{}], dtype=object)), "toy.npz"
    log = (TEXTS / "run.log").read_bytes()
    yield "zero.log", log.replace(b"increment: 2", b"increment: 0"), "run.log"
    yield "much.log", log.replace(b"'total': 70.0", b"'total': 999.0"), "run.log"
    twice = b"method,method,dataset,protocol,label,sequence,seed,accuracy\n"
    yield "twice.csv", twice + b"m,m,toy,random,a,0|1,0,50\n", "runs.csv"
    yield "score.csv", twice[7:] + b"m,toy,random,a,0|1,1_0,50\n", "runs.csv"
    yield "much.csv", twice[7:] + b"m,toy,random,a,0|1,0,22500\n", "runs.csv"
    path = directory / "endless.sqlite"
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE identity (name, value); CREATE TABLE sequences (protocol, label, tasks);"
        "CREATE TABLE configs (config); CREATE VIEW nodes AS WITH RECURSIVE n(i) AS (SELECT 1 "
        "UNION ALL SELECT i + 1 FROM n) SELECT 'm' AS method, i AS seed, '0|1' AS prefix, 0 AS "
        "whole_run, NULL AS result, 'x' AS error, 'x' AS trace FROM n; PRAGMA user_version = 2;"
    )
    database.close()
    yield "endless.sqlite", path.read_bytes(), "results.sqlite"
