from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from edgecil.engine.run_files import read_runs, write_runs
from edgecil.engine.runs import Runs
from edgecil.errors import DataError, UsageError
from edgecil.estimation.sources import gather
from edgecil.sequences import ClassSequence
from tests.estimation.tables import Run, build, noisy, rows, table_of, write

HEADER = "method,dataset,protocol,label,sequence,seed,accuracy\n"


def read(tmp_path: Path, text: str, header: str = HEADER) -> list[Runs]:
    path = tmp_path / "a.csv"
    path.write_text(header + text, encoding="utf-8")
    return read_runs(path)


def test_what_is_written_is_read_back(tmp_path) -> None:
    table = table_of({"a": noisy(0), "b": noisy(1)})
    write_runs([table], tmp_path / "a.csv")
    (back,) = read_runs(tmp_path / "a.csv")
    assert rows(back) == rows(table)


@pytest.mark.parametrize("accuracy", ["", "nan", "NaN"])
def test_a_failed_run_is_left_out_and_counted(tmp_path, accuracy) -> None:
    (table,) = read(tmp_path, f"m,d,edge,hard,0|1,0,{accuracy}\nm,d,edge,easy,1|0,0,50")
    assert table.missing == 1
    assert table.orders("m", "edge").labels == ("easy",)


def test_every_dataset_has_a_table_of_its_own(tmp_path) -> None:
    first, second = read(tmp_path, "m,d,edge,hard,0|1,0,1\nm,e,edge,hard,0 1|2 3,0,2")
    assert (first.dataset, second.dataset) == ("d", "e")
    assert second.space.sizes == (2, 2)


def test_classes_are_renumbered_in_ascending_order(tmp_path) -> None:
    (table,) = read(tmp_path, "m,d,edge,hard,30 7|2 9,0,1")
    assert table.classes == (2, 7, 9, 30)
    assert table.renumbered().sequences[0] == ClassSequence([[3, 1], [0, 2]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("m,d,edge,hard,0|1,0,101", "Row 2 .* accuracy '101'; .* per cent"),
        ("m,d,edge,hard,0|1,0,-1", "accuracy '-1'"),
        ("m,d,edge,hard,0|1,0,inf", "accuracy 'inf'"),
        ("m,d,edge,hard,0|1,0,high", "accuracy 'high'"),
        ("m,d,edge,hard,0|x,0,5", "sequence '0|x'"),
        ("m,d,edge,hard,0|0,0,5", "more than once"),
        ("m,d,edge,hard,,0,5", "sequence ''"),
        ("m,d,edge,hard,0|1,zero,5", "seed 'zero'"),
        (",d,edge,hard,0|1,0,5", "no method"),
        ("m,d,,hard,0|1,0,5", "no protocol"),
        ("m,d,edge,hard,0|1,0", "Row 2 .* 6 cells"),
        ("m,d,edge,hard,0|1,0,5\nm,d,edge,hard,0|1,0,6", "Row 3 .* repeats row 2"),
        ("m,d,edge,hard,0|1,0,5\nm,d,edge,easy,0 1|2,0,6", "same classes"),
        ("", "contains no runs"),
    ],
)
def test_a_bad_row_is_named_by_its_number(tmp_path, text, words) -> None:
    with pytest.raises(DataError, match=words):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("method,dataset,protocol,label\n", "contains no runs"),
        ("method;sequence;accuracy\n", "semicolons"),
        ("method\tsequence\taccuracy\n", "tabs"),
        ("", "empty"),
    ],
)
def test_a_header_that_cannot_be_used_is_an_error(tmp_path, header, words) -> None:
    with pytest.raises(DataError, match=words):
        read(tmp_path, "", header)


def test_only_method_sequence_and_accuracy_are_required(tmp_path) -> None:
    (table,) = read(tmp_path, "m,0|1,5\nm,1|0,6\nm,1|0,7", "method,sequence,accuracy\n")
    assert [(run.protocol, run.label, run.seed) for run in rows(table)] == [
        ("given", "0|1", 0),
        ("given", "1|0", 0),
        ("given", "1|0", 1),
    ]
    assert table.dataset == ""


def test_a_missing_source_is_an_error_and_is_not_created(tmp_path) -> None:
    with pytest.raises(DataError, match="no file"):
        read_runs(tmp_path / "none")
    with pytest.raises(DataError, match="not an experiment"):
        read_runs(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["ranking", "truth", "notes", "accuracy"])
def test_any_method_or_protocol_name_is_accepted(tmp_path, name) -> None:
    (table,) = read(tmp_path, f"{name},d,{name},hard,0|1,0,50")
    assert (table.methods, table.protocols) == ((name,), (name,))


def test_a_compressed_file_is_written_and_read(tmp_path) -> None:
    table = table_of({"a": noisy(0)})
    write_runs([table], tmp_path / "a.csv.gz")
    assert (tmp_path / "a.csv.gz").read_bytes()[:2] == b"\x1f\x8b"
    (back,) = read_runs(tmp_path / "a.csv.gz")
    assert rows(back) == rows(table)


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "+1+1", "-x", "@sum", "'=x", "'plain'", "-0.5"])
def test_no_cell_is_a_formula_and_every_text_comes_back(tmp_path, name) -> None:
    run = Run(name, "d", name, name, ClassSequence([[0], [1]]), 0, 50.0)
    write_runs([build([run])], tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text(encoding="utf-8")
    cell = text.splitlines()[1].split(",")[0].strip('"')
    assert cell[0] == "'" or name == "-0.5"
    (back,) = read_runs(tmp_path / "a.csv")
    assert rows(back) == [run]


def test_a_compressed_file_is_unpacked_up_to_the_limit(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EDGECIL_MAX_TEXT_BYTES", "1000")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b" " * 10_000))
    with pytest.raises(DataError, match="EDGECIL_MAX_TEXT_BYTES"):
        read_runs(tmp_path / "a.csv.gz")
    (tmp_path / "a.csv.gz").write_bytes(b"not gzip")
    with pytest.raises(DataError, match="Cannot read"):
        read_runs(tmp_path / "a.csv.gz")


def test_another_metric_is_read_from_its_column(tmp_path) -> None:
    header = HEADER.replace("accuracy", "forgetting,accuracy")
    path = tmp_path / "a.csv"
    path.write_text(header + "m,d,edge,hard,0|1,0,-3.5,50\n", encoding="utf-8")
    (table,) = read_runs(path, metric="forgetting")
    assert (table.metric, table.values[0]) == ("forgetting", -3.5)
    write_runs([table], path)
    assert read_runs(path, metric="forgetting")[0].values[0] == -3.5
    with pytest.raises(DataError, match="no column 'accuracy'"):
        read_runs(path)


def test_a_misspelt_metric_is_named_with_the_nearest_column(tmp_path) -> None:
    write_runs([table_of({"a": noisy(0)})], tmp_path / "a.csv")
    with pytest.raises(DataError, match=r"'acuracy'.*'accuracy'"):
        read_runs(tmp_path / "a.csv", metric="acuracy")


def test_a_data_frame_is_read_like_a_file(tmp_path) -> None:
    runs = rows(table_of({"a": noisy(0)}))
    runs[3] = replace(runs[3], accuracy=None)
    write(runs, tmp_path / "a.csv")
    frame = pandas.read_csv(tmp_path / "a.csv")
    for same in (frame, frame.astype({"seed": float}), frame.drop(columns="seed")):
        (table,) = read_runs(same)
        assert rows(table) == runs
    with pytest.raises(DataError, match="more than one column"):
        read_runs(pandas.concat([frame, frame["accuracy"]], axis=1))


def read_text(tmp_path: Path, text: str, name: str = "a.csv", **options: Any) -> Runs:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    (table,) = read_runs(path, **options)
    return table


def values_of(table: Runs) -> dict[str, list[float]]:
    return {name: table.orders(name).accuracies.tolist() for name in table.methods}


LONG = "method,seed,accuracy\nx,0,61\nx,1,63\ny,0,55\ny,1,58\n"


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        "seed,x,y\n0,61,55\n1,63,58\n",
        "x,y\n61,55\n63,58\n",
        "Method,Seed,Accuracy\nx,0,61%\nx,1,63%\ny,0,0.55\ny,1,0.58\n",
        "algo,seed,top1\nx,0,61\nx,1,63\ny,0,55\ny,1,58\n",
        '"Name","State","config.method","config.seed","final/accuracy"\n'
        '"a","finished","x","0","61"\n"b","finished","x","1","63"\n'
        '"c","finished","y","0","55"\n"d","finished","y","1","58"\n',
        "run_id,status,metrics.accuracy,params.method,params.seed\n"
        "a,FINISHED,61,x,0\nb,FINISHED,63,x,1\nc,FINISHED,55,y,0\nd,FINISHED,58,y,1\n",
        '"Step","x-seed0 - acc","x-seed0 - acc__MIN",'
        '"x-seed1 - acc","y-seed0 - acc","y_seed1 - acc"\n'
        "1,80,1,81,82,83\n2,61,1,63,55,\n3,,,,,58\n",
    ],
    ids=["long", "wide", "wide without seeds", "units", "names", "wandb", "mlflow", "wandb chart"],
)
def test_any_table_without_orders_is_read_and_paired_by_seed(tmp_path, text) -> None:
    table = read_text(tmp_path, text)
    assert (table.has_orders, table.classes, table.names) == (False, (), None)
    assert values_of(table) == {"x": [61.0, 63.0], "y": pytest.approx([55.0, 58.0])}
    x, y = table.orders("x"), table.orders("y")
    assert x.places.tolist() == y.places.tolist()
    assert table.seed.tolist() == [0, 1, 0, 1]


def test_exports_of_tensorboard_are_runs_of_one_table(tmp_path) -> None:
    for seed, value in enumerate((61, 63)):
        path = tmp_path / f"run-x_seed{seed}-tag-acc.csv"
        path.write_text(f"Wall time,Step,Value\n1,0,90\n2,1,{value}\n", encoding="utf-8")
    (runs,) = gather(sorted(tmp_path.iterdir())).datasets
    assert values_of(runs.table) == {"x": [61.0, 63.0]}


def test_without_seeds_no_run_is_paired_and_one_method_needs_no_name(tmp_path) -> None:
    table = read_text(tmp_path, "method,accuracy\nx,61\nx,63\ny,55\n")
    assert not set(table.orders("x").places) & set(table.orders("y").places)
    write_runs([table], tmp_path / "b.csv")
    (again,) = read_runs(tmp_path / "b.csv")
    assert not set(again.orders("x").places) & set(again.orders("y").places)
    assert read_text(tmp_path, "accuracy\n61\n63\n", "icarl.csv").methods == ("icarl",)


@pytest.mark.parametrize(
    ("meaning", "seeds", "protocol"),
    [("orders", [0, 0], "random"), ("trainings", [0, 1], "given"), ("both", [0, 1], "random")],
)
def test_what_seeds_vary_can_be_said(tmp_path, meaning, seeds, protocol) -> None:
    table = read_text(tmp_path, LONG, seeds_are=meaning)
    assert (table.seed[:2].tolist(), table.protocols) == (seeds, (protocol,))
    write_runs([table], tmp_path / "b.csv")
    (again,) = read_runs(tmp_path / "b.csv", seeds_are=meaning)
    assert values_of(again) == values_of(table)
    assert again.labels == ("seed 0", "seed 1")


def test_seeds_of_pycil_become_its_orders(tmp_path) -> None:
    text = "method,dataset,seed,accuracy\nx,cifar100,1993,61\nx,cifar100,0,62\n"
    table = read_text(tmp_path, text, orders_from="random-legacy", tasks=10)
    order = np.random.RandomState(1993).permutation(100).tolist()
    assert table.sequences[0] == ClassSequence.from_order(order, [10] * 10)
    assert (table.protocols, table.has_orders) == (("random-legacy",), True)
    with pytest.raises(UsageError, match="tasks"):
        read_text(tmp_path, text, orders_from="random-legacy")
    with pytest.raises(UsageError, match="edge"):
        read_text(tmp_path, text, orders_from="edge", tasks=10)


def test_forgetting_has_the_unit_of_the_accuracies(tmp_path) -> None:
    text = "method,seed,accuracy,forgetting\nx,0,0.6,0.1\nx,1,0.7,0.2\n"
    assert read_text(tmp_path, text, metric="forgetting").values.tolist() == [10.0, 20.0]
