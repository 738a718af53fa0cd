from __future__ import annotations

import gzip
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import edgecil
from edgecil.analysis.samples import paired_differences
from edgecil.analysis.sources import collect_runs
from edgecil.errors import DataError, UsageError
from edgecil.runs.run_files import read_runs, write_runs
from edgecil.runs.run_table import Runs
from edgecil.sequences import ClassSequence
from tests.analysis.tables import Run, build, noisy, rows, table_of, write

HEADER = "method,dataset,protocol,label,sequence,seed,accuracy\n"


def read_text(tmp_path: Path, text: str, name: str = "a.csv", **options: Any) -> Runs:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    (table,) = read_runs(path, **options)
    return table


def test_what_is_written_is_read_back(tmp_path) -> None:
    table = table_of({"a": noisy(0), "b": noisy(1)})
    write_runs([table], tmp_path / "a.csv")
    (back,) = read_runs(tmp_path / "a.csv")
    assert rows(back) == rows(table)


@pytest.mark.parametrize("accuracy", ["", "nan", "NaN"])
def test_a_failed_run_is_left_out_and_counted(tmp_path, accuracy) -> None:
    table = read_text(tmp_path, f"{HEADER}m,d,edge,hard,0|1,0,{accuracy}\nm,d,edge,easy,1|0,0,50")
    assert table.missing == 1
    assert table.orders("m", "edge").labels == ("easy",)


def test_classes_are_renumbered_in_ascending_order(tmp_path) -> None:
    table = read_text(tmp_path, f"{HEADER}m,d,edge,hard,30 7|2 9,0,1")
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
        ("m,d,edge,hard,0|1,0", "Row 2 .* 6 cells, not 7; write one for each column"),
        ("m,d,edge,hard,0|1,0,5\nm,d,edge,hard,0|1,0,6", "Row 3 .* repeats row 2"),
        ("m,d,edge,hard,0|1,0,5\nm,d,edge,easy,0 1|2,0,6", "same classes"),
        ("", "contains no runs; write a line for each"),
    ],
)
def test_a_bad_row_is_named_by_its_number(tmp_path, text, words) -> None:
    with pytest.raises(DataError, match=words):
        read_text(tmp_path, HEADER + text)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("method,dataset,protocol,label\n", "contains no runs"),
        ("method;sequence;accuracy\n", "contains no runs"),
        ("method\tsequence\taccuracy\n", "contains no runs"),
        ("", "empty"),
    ],
)
def test_a_header_that_cannot_be_used_is_an_error(tmp_path, header, words) -> None:
    with pytest.raises(DataError, match=words):
        read_text(tmp_path, header)


def test_only_method_sequence_and_accuracy_are_required(tmp_path) -> None:
    table = read_text(tmp_path, "method,sequence,accuracy\nm,0|1,5\nm,1|0,6\nm,1|0,7")
    assert [(run.protocol, run.label, run.seed) for run in rows(table)] == [
        ("given", "0|1", 0),
        ("given", "1|0", 0),
        ("given", "1|0", 1),
    ]
    assert table.dataset == ""


def test_a_missing_source_is_an_error_and_is_not_created(tmp_path) -> None:
    with pytest.raises(DataError, match="no file"):
        read_runs(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


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
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n" * 10_000))
    with pytest.raises(DataError, match="EDGECIL_MAX_TEXT_BYTES"):
        read_runs(tmp_path / "a.csv.gz")
    (tmp_path / "a.csv.gz").write_bytes(b"\x1f\x8bnot gzip")
    with pytest.raises(DataError, match="Cannot read"):
        read_runs(tmp_path / "a.csv.gz")


def test_another_metric_is_read_from_its_column(tmp_path) -> None:
    header = HEADER.replace("accuracy", "forgetting,accuracy")
    path = tmp_path / "a.csv"
    table = read_text(tmp_path, header + "m,d,edge,hard,0|1,0,-3.5,50\n", metric="forgetting")
    assert (table.metric, table.values[0]) == ("forgetting", -3.5)
    write_runs([table], path)
    assert read_runs(path, metric="forgetting")[0].values[0] == -3.5
    assert read_runs(path)[0].metric == "forgetting"
    with pytest.raises(DataError, match="no column 'accuracy'"):
        read_runs(path, metric="accuracy")


def test_a_misspelt_metric_is_named_with_the_nearest_column(tmp_path) -> None:
    write_runs([table_of({"a": noisy(0)})], tmp_path / "a.csv")
    with pytest.raises(DataError, match=r"'acuracy'.*'accuracy'"):
        read_runs(tmp_path / "a.csv", metric="acuracy")


def test_a_data_frame_is_read_like_a_file(tmp_path) -> None:
    runs = rows(table_of({"a": noisy(0)}))
    runs[3] = replace(runs[3], accuracy=None)
    write(runs, tmp_path / "a.csv")
    # as Python reads numbers: pandas before 3 is off by a last bit
    frame = pandas.read_csv(tmp_path / "a.csv", dtype={"accuracy": str}).astype({"accuracy": float})
    for same in (frame, frame.astype({"seed": float}), frame.drop(columns="seed")):
        (table,) = read_runs(same)
        assert rows(table) == runs
    with pytest.raises(DataError, match="more than one column"):
        read_runs(pandas.concat([frame, frame["accuracy"]], axis=1))


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
    table = read_text(tmp_path, text, "accuracy.csv")  # which a wide table does not say itself
    assert (table.has_orders, table.classes, table.names) == (False, (), None)
    assert values_of(table) == {"x": [61.0, 63.0], "y": pytest.approx([55.0, 58.0])}
    x, y = table.orders("x"), table.orders("y")
    assert x.places.tolist() == y.places.tolist()
    assert table.seed.tolist() == [0, 1, 0, 1]


def test_exports_of_tensorboard_are_runs_of_one_table(tmp_path) -> None:
    for seed, value in enumerate((61, 63)):
        path = tmp_path / f"run-x_seed{seed}-tag-acc.csv"
        path.write_text(f"Wall time,Step,Value\n1,0,90\n2,1,{value}\n", encoding="utf-8")
    (runs,) = collect_runs(sorted(tmp_path.iterdir())).datasets
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


ORDERED = "method,seed,order_seed,accuracy\n" + "".join(
    f"{method},{seed},{order},{value + gain}\n"
    for method, gain in (("x", 1.0), ("y", 0.0))
    for seed, order, value in ((0, 1993, 60), (1, 1993, 61), (2, 1993, 59), (3, 7, 64), (4, 42, 58))
)


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame,
        lambda frame: frame.rename(columns={"order_seed": "Class_Order_Seed"}),
        lambda frame: frame.drop(columns="seed"),
        lambda frame: frame.assign(seed=frame["order_seed"]),
    ],
    ids=["seeds", "another name", "no seeds", "seeds of the orders"],
)
def test_runs_of_one_order_seed_are_trainings_of_one_order(tmp_path, change) -> None:
    frame = change(pandas.read_csv(io.StringIO(ORDERED)))
    (table,) = read_runs(frame)
    assert (table.has_orders, table.seeds_are, table.protocols) == (False, "both", ("random",))
    x, y = table.orders("x"), table.orders("y")
    assert (x.counts.tolist(), x.accuracies.tolist()) == ([3, 1, 1], [61.0, 65.0, 59.0])
    assert paired_differences(x, y)[1][~np.isnan(paired_differences(x, y)[1])].tolist() == [1.0] * 5
    assert not table.shares_seeds
    write_runs([table], tmp_path / "b.csv")
    (again,) = read_runs(tmp_path / "b.csv")
    assert rows(again) == rows(table)
    halves = [frame[frame["method"] == name] for name in "xy"]
    (joined,) = collect_runs(halves).datasets
    assert [
        len(paired_differences(*map(joined.table.orders, "xy"))[0]),
        len(joined.table.sequences),
    ] == [3, 3]


def test_orders_without_a_seed_of_theirs_do_not_count_as_random(tmp_path) -> None:
    table = read_text(tmp_path, ORDERED.replace("order_seed", "order"))
    assert (table.protocols, table.orders("x").counts.tolist()) == (("given",), [3, 1, 1])
    (claims,) = edgecil.analyze(tmp_path / "a.csv").datasets
    assert claims.methods["x"].claims.population == "orders and trainings like these"
    whole = "method,order,accuracy\nx,0 1|2 3,60\nx,2 3|0 1,61\n"
    assert read_text(tmp_path, whole).sequences[1] == ClassSequence([[2, 3], [0, 1]])


def test_an_order_seed_and_the_meaning_of_seeds_do_not_go_together(tmp_path) -> None:
    with pytest.raises(UsageError, match=r"'order_seed'.*'seeds_are'"):
        read_text(tmp_path, ORDERED, seeds_are="both")
    read_text(tmp_path, LONG)
    with pytest.raises(DataError, match="one by one"):
        collect_runs([tmp_path / "a.csv", pandas.read_csv(io.StringIO(ORDERED))])


def test_an_order_seed_becomes_an_order(tmp_path) -> None:
    sizes = {"orders_from": "random-legacy", "tasks": [10] * 10}
    table = read_text(tmp_path, ORDERED, **sizes)
    order = np.random.RandomState(1993).permutation(100).tolist()
    assert table.sequences[0] == ClassSequence.from_order(order, [10] * 10)
    assert table.orders("x").counts.tolist() == [3, 1, 1]
    with pytest.raises(UsageError) as refused:
        read_text(tmp_path, ORDERED, orders_from="random-legacy", tasks=10)
    assert "'dataset'" in str(refused.value)
    assert "number of tasks" not in str(refused.value)


METRICS_ONLY = "seed,order_seed,last_acc,avg_acc\n0,1993,61,71\n1,7,62,72\n"


def test_metrics_are_no_methods_and_seeds_no_metrics(tmp_path) -> None:
    with pytest.raises(DataError, match=r"no column 'accuracy'; choose .*: last_acc, avg_acc\."):
        read_text(tmp_path, METRICS_ONLY, metric="accuracy")
    for name in ("seed", "order_seed", "Seed", "method"):
        with pytest.raises(UsageError, match="'metric'"):
            read_text(tmp_path, METRICS_ONLY, metric=name)
    table = read_text(tmp_path, METRICS_ONLY.replace(",avg_acc", ",epoch"), "icarl.csv")
    assert values_of(table) == {"icarl": [61.0, 62.0]}
    wide = read_text(tmp_path, "sed,epoch,x,y\n0,71,61,55\n1,72,63,58\n", "accuracy.csv")
    assert wide.methods == ("x", "y")


@pytest.mark.parametrize("name", ["model", "Algorithm", "learner", "config.approach"])
def test_a_method_may_be_called_otherwise(tmp_path, name) -> None:
    table = read_text(tmp_path, LONG.replace("method", name).replace("accuracy", "Acc"))
    assert values_of(table) == {"x": [61.0, 63.0], "y": [55.0, 58.0]}
    both = "model,approach,accuracy\nx,a,61\nx,b,61\ny,a,62\n"
    assert read_text(tmp_path, both).methods == ("a (model x)", "b", "a (model y)")


def test_columns_that_are_not_used_are_named(tmp_path) -> None:
    text = "sed,x,y\n0,61,55\n1,63,58\n"
    (tmp_path / "accuracy.csv").write_text(text, encoding="utf-8")
    assert edgecil.read(tmp_path / "accuracy.csv").undecided == (
        "The column 'sed' is not used; is it the 'seed'?",
    )
    twice = "method,seed,lr,accuracy\nx,0,0.1,61\nx,0,0.1,63\n"
    with pytest.raises(DataError, match=r"repeats row 2.*: the same method, seed"):
        read_text(tmp_path, twice)


@pytest.mark.parametrize("name", ["last_acc", "Top-1", "avg accuracy"])
def test_an_accuracy_of_any_name_has_the_units_of_accuracies(tmp_path, name) -> None:
    own = LONG.replace("accuracy", name)
    fractions = own.replace("55", "0.55").replace("58", "0.58")
    for text in (own, fractions):
        table = read_text(tmp_path, text, metric=name)
        assert values_of(table) == {"x": [61.0, 63.0], "y": pytest.approx([55.0, 58.0])}
    with pytest.raises(DataError, match="per cent"):
        collect_runs(read_text(tmp_path, own.replace("63", "0.63"), metric=name), metric=name)
