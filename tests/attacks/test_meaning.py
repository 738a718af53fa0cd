"""Wrong science: tables and directories that are changed in their meaning, not in their bytes.

Each kind must end in a refusal, in a note, or in the same numbers; the page on reliability counts
them. `make attack` repeats the kinds that depend on chance with many seeds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import edgecil
from edgecil.analysis.sources import export_runs
from edgecil.classes import get_classes
from edgecil.errors import EdgecilError
from edgecil.experiments.store import TABLES, Store, checksum_of
from edgecil.report.analysis_tables import summary_table
from edgecil.report.narrative import about_training
from edgecil.runs.training_seeds import SEEDS, SHARED
from edgecil.sequences import ClassSequence, SequenceSpace, protocol
from edgecil.wording.analysis_sentences import describe_dataset
from tests.analysis.experiments import write_experiment
from tests.analysis.tables import noisy
from tests.attacks.conftest import strength

SPACE = SequenceSpace.equal(6, 3)
Numbers = dict[str, tuple[float, ...]]
Change = Callable[[pandas.DataFrame], Any]


def table(seed: int = 0) -> pandas.DataFrame:
    """Three methods on six random orders, in per cent."""
    rng = np.random.default_rng(seed)
    orders = protocol("random", SPACE, budget=6)
    rows = [
        (method, "random", run.label, str(run.sequence), 100 + number, round(mean + noise, 2), 4.0)
        for method, mean in (("a", 60.0), ("b", 55.0), ("c", 52.0))
        for number, (run, noise) in enumerate(zip(orders, rng.normal(0, 3, 6), strict=True))
    ]
    columns = ["method", "protocol", "label", "sequence", "seed", "accuracy", "forgetting"]
    return pandas.DataFrame(rows, columns=columns)


def numbers(source: Any, **options: Any) -> tuple[Numbers, set[str]]:
    """Mean and ends of its interval by method, and every sentence beside them."""
    analysis = edgecil.analyze(source, **options)
    dataset = analysis.datasets[0]
    methods = dataset.methods
    means = {
        name: (method.claims.mean.value, *(method.claims.mean.interval or ()))
        for name, method in methods.items()
    }
    rounded = {
        name: tuple(round(value or 0.0, 6) for value in values) for name, values in means.items()
    }
    sentences = set(dataset.notes)
    for method in methods.values():
        sentences |= {*method.warnings, method.claims.population}
    return rounded, {*sentences, str(analysis.reading or "")}


def outcome(source: Any, right: tuple[Numbers, set[str]], **options: Any) -> str:
    """What became of a source whose right numbers are known."""
    try:
        answer, sentences = numbers(source, **options)
    except EdgecilError as error:
        return "refused" if len(str(error).splitlines()) == 1 else "refused at length"
    if sentences - right[1]:
        return "noted"
    return "same" if answer == right[0] else "silently changed"


def put(frame: pandas.DataFrame, row: int, column: str, value: Any) -> pandas.DataFrame:
    changed = frame.astype({column: object})
    changed.loc[row, column] = value
    return changed


def on(frame: pandas.DataFrame, method: str, column: str, change: Any) -> pandas.DataFrame:
    """Change a column of one method."""
    changed = frame.astype({column: object})
    chosen = frame["method"] == method
    changed.loc[chosen, column] = frame.loc[chosen, column].map(change)
    return changed


def renumber(change: Callable[[int], int]) -> Change:
    def text(sequence: str) -> str:
        return "|".join(
            " ".join(str(change(int(id_))) for id_ in task.split()) for task in sequence.split("|")
        )

    return lambda frame: frame.assign(sequence=frame["sequence"].map(text))


def wide(frame: pandas.DataFrame) -> pandas.DataFrame:
    return frame.pivot_table(index="seed", columns="method", values="accuracy").reset_index()


def alike(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Orders of twelve classes that differ in one pair only, called random."""
    orders = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    texts = []
    for number in range(6):
        changed = [list(task) for task in orders]
        changed[0][0], changed[1][number % 4] = changed[1][number % 4], changed[0][0]
        changed[2].sort(reverse=bool(number % 2))
        texts.append(str(ClassSequence(changed)))
    return frame.assign(sequence=[texts[row % 6] for row in range(len(frame))])


BARE = ["method", "seed", "accuracy"]


def add(*frames: pandas.DataFrame) -> pandas.DataFrame:
    return pandas.concat(frames)


def backwards(sequence: str) -> str:
    """The same order with the classes inside each task the other way round."""
    return "|".join(task[::-1] for task in sequence.split("|"))


# Kinds of changes of a table, by what must become of it.
TABLE_KINDS: dict[str, dict[str, Change]] = {
    "same": {
        "rows in another order": lambda f: f.sort_values(["seed", "method"]),
        "columns in another order": lambda f: f[f.columns[::-1]],
        "names of columns in capitals": lambda f: f.rename(columns=str.upper),
        "blanks around names": lambda f: f.assign(method=f["method"].map(" {} ".format)),
        "a formula as name": lambda f: f.assign(label=f["label"].map("={}".format)),
        "classes in another order inside tasks": lambda f: f.assign(
            sequence=f["sequence"].map(backwards)
        ),
        "classes counted from one": renumber(lambda id_: id_ + 1),
        "class ids with gaps": renumber(lambda id_: 10 * id_ + 3),
        "percent signs": lambda f: f.assign(accuracy=f["accuracy"].map("{} %".format)),
        "method and seed in the index": lambda f: f.set_index(["method", "seed"]),
        "the method in the index": lambda f: f.set_index("method"),
        "a column that is not used": lambda f: f.assign(lr=0.1),
        "the method called model": lambda f: f.rename(columns={"method": "model"}),
        "two columns that differ in case": lambda f: f.assign(Accuracy=f["accuracy"]),
        "two columns of seeds": lambda f: f.rename(columns={"seed": "data.seed"}).assign(
            **{"torch.seed": 0}
        ),
    },
    "noted": {
        "trainings of three unknown orders": lambda f: f[BARE].assign(
            order_seed=[0, 0, 0, 1, 1, 2] * 3
        ),
        "all in fractions": lambda f: f.assign(accuracy=f["accuracy"] / 100),
        "one method in fractions": lambda f: on(f, "b", "accuracy", lambda x: x / 100),
        "zeros and ones": lambda f: f.assign(accuracy=[0, 1, 1] * 6),
        "a missing value": lambda f: put(f, 3, "accuracy", None),
        "a run that did not finish": lambda f: f.assign(State=["running"] + ["finished"] * 17),
        "pasted twice, with new seeds": lambda f: add(f, f.assign(seed=f["seed"] + 100)),
        "a method copied under another name": lambda f: add(
            f, f[f["method"] == "a"].assign(method="d")
        ),
        "one training with two values": lambda f: add(
            f, f[:1].assign(accuracy=70.0, label="again")
        ),
        "random orders of no known protocol": lambda f: f.assign(protocol="ours"),
        "no protocol": lambda f: f.drop(columns="protocol"),
        "two orders with the label hard": lambda f: f.assign(
            protocol="edge", label=["hard", "hard", "easy"] * 6
        ),
        "one seed for all orders": lambda f: f.assign(seed=0),
        "half of the rows on another dataset": lambda f: add(
            f.assign(dataset="x"), f.assign(dataset="y", accuracy=f["accuracy"] + 9)
        ),
        "a method that guesses": lambda f: on(f, "c", "accuracy", lambda x: 16.0 + x / 100),
        "a method that never varies": lambda f: on(f, "c", "accuracy", lambda x: 50.0),
        "without orders": lambda f: f[BARE],
        "without orders and seeds": lambda f: f[["method", "accuracy"]],
        "a wide table": wide,
        "a wide table, one method in fractions": lambda f: wide(f).assign(b=wide(f)["b"] / 100),
        "another name for the accuracy": lambda f: f.drop(columns="forgetting").rename(
            columns={"accuracy": "top1"}
        ),
        "methods as rows, seeds as columns": lambda f: f.pivot(
            index="method", columns="seed", values="accuracy"
        ).reset_index(),
        "a wide table with a row of means": lambda f: add(
            wide(f).astype({"seed": object}), wide(f)[:1].assign(seed="mean")
        ),
        "two candidates for the accuracy": lambda f: f.rename(columns={"accuracy": "top1"}),
        "all rows pasted twice": lambda f: add(f, f),
        "one row pasted twice": lambda f: add(f, f[:1]),
        "without orders, a seed twice": lambda f: add(f[BARE], f[BARE][:1]),
    },
    "refused": {
        "one run in fractions": lambda f: put(f, 3, "accuracy", 0.61),
        "times one hundred": lambda f: f.assign(accuracy=f["accuracy"] * 100),
        "one value above one hundred": lambda f: put(f, 3, "accuracy", 101.0),
        "one negative value": lambda f: put(f, 3, "accuracy", -1.0),
        "an infinite value": lambda f: put(f, 3, "accuracy", np.inf),
        "a decimal comma": lambda f: put(f, 3, "accuracy", "61,2"),
        "mean and deviation in a cell": lambda f: put(f, 3, "accuracy", "61.2 ± 0.3"),
        "a word as value": lambda f: put(f, 3, "accuracy", "best"),
        "pasted twice, without seeds": lambda f: add(f, f).drop(columns="seed"),
        "two columns of one name": lambda f: pandas.concat([f, f["accuracy"]], axis=1),
        "random orders called latin": lambda f: f.assign(protocol="latin"),
        "orders that are alike called random": alike,
        "a seed that is missing": lambda f: put(f, 3, "seed", None),
        "a word as seed": lambda f: put(f, 3, "seed", "mean"),
        "half a seed": lambda f: put(f, 3, "seed", 0.5),
        "a seed of more than 64 bits": lambda f: put(f, 3, "seed", 2**70),
        "a method without a name": lambda f: put(f, 3, "method", ""),
        "an order of other classes": lambda f: put(f, 3, "sequence", "0 1|2 3|4 6"),
        "an order with a class twice": lambda f: put(f, 3, "sequence", "0 1|2 3|4 4"),
        "an order that lacks a class": lambda f: put(f, 3, "sequence", "0 1|2 3|4"),
        "an order in other tasks": lambda f: put(f, 3, "sequence", "0 1 2|3 4 5"),
        "an order of class names": lambda f: put(f, 3, "sequence", "cat dog|ant bee|owl fox"),
        "an order that is missing": lambda f: put(f, 3, "sequence", ""),
        "columns of two levels": lambda f: (
            f[BARE].pivot(index="seed", columns="method").reset_index()
        ),
        "no value at all": lambda f: f.assign(accuracy=np.nan),
        "a wide table with a column of words": lambda f: wide(f).assign(best="a"),
        "no runs": lambda f: f[:0],
    },
}


@pytest.mark.parametrize(
    ("expected", "kind"), [(end, kind) for end, kinds in TABLE_KINDS.items() for kind in kinds]
)
def test_a_table_is_refused_noted_or_right(expected: str, kind: str) -> None:
    for seed in range(strength(1, 20)):
        frame = table(seed)
        assert outcome(TABLE_KINDS[expected][kind](frame), numbers(frame)) == expected


def test_rows_without_seeds_that_are_pasted_twice_are_noted() -> None:
    bare = table()[["method", "accuracy"]]
    _, once = numbers(bare)
    _, twice = numbers(pandas.concat([bare, bare]))
    assert len({note for note in twice - once if "repeat the first 6" in note}) == 3


@pytest.mark.parametrize("use", [edgecil.analyze, edgecil.compare, edgecil.next_runs])
def test_no_use_of_a_table_without_values_or_an_unknown_argument(use: Any) -> None:
    with pytest.raises(EdgecilError):
        use(table().assign(accuracy=np.nan))
    with pytest.raises(EdgecilError, match="'methods'"):
        use(table(), methods=["a", "b"])


def test_fractions_give_the_numbers_of_per_cent() -> None:
    frame = table()
    right = numbers(frame)[0]
    assert numbers(frame.assign(accuracy=frame["accuracy"] / 100))[0] == right
    assert numbers(on(frame, "b", "accuracy", lambda x: x / 100))[0] == right


def test_a_copy_of_a_file_changes_nothing_and_another_file_is_kept_apart(tmp_path: Path) -> None:
    frame = table()
    for name in ("one.csv", "two.csv"):
        frame.to_csv(tmp_path / name, index=False)
    right = numbers(tmp_path / "one.csv")
    assert outcome([tmp_path / "one.csv"] * 2, right) == "same"
    both = [tmp_path / "one.csv", tmp_path / "two.csv"]
    means, sentences = numbers(both)
    assert means == right[0]
    assert any("repeat the runs of other files" in sentence for sentence in sentences)
    frame.assign(accuracy=frame["accuracy"] + 1).to_csv(tmp_path / "two.csv", index=False)
    assert numbers(both)[0]["a (one.csv)"] == right[0]["a"]
    frame.assign(seed=frame["seed"] + 100).to_csv(tmp_path / "two.csv", index=False)
    pooled = edgecil.analyze(both, pool="same program")
    assert any("same program" in note for note in pooled.datasets[0].notes)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_are_read(separator: str, tmp_path: Path) -> None:
    table().to_csv(tmp_path / "a.csv", index=False, sep=separator)
    assert outcome(tmp_path / "a.csv", numbers(table())) == "same"


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "acuracy"},
        {"seeds_are": "both"},
        {"orders_from": "random-legacy"},
        {"pool": " "},
        {"classifier": "nme"},
    ],
    ids=str,
)
def test_options_that_do_not_fit_a_table_are_refused(options: dict[str, str]) -> None:
    assert outcome(table(), ({}, set()), **options) == "refused"


# Two experiments of one learner that differ in something, and how they are told apart.
PAIRS: dict[str, tuple[dict[str, Any], str | None]] = {
    "epochs": ({"settings": {"schedule": {"epochs": 1}}}, "m (epochs 1)"),
    "two settings": ({"settings": {"schedule": {"epochs": 1}, "k": 2}}, "m (epochs 1, k 2)"),
    "the content of the data": ({"content": "1"}, None),
    "the names of the classes": ({"names": ("q", "r", "s", "t", "u", "v")}, None),
    "code": ({"more": {"code of m": "1f"}}, "m (code 1f)"),
    "network": ({"more": {"backbone of m": "vit"}}, "m (backbone vit)"),
    "weights": ({"more": {"weights w": "1f"}}, "m (weights 1f)"),
    "seeds": ({"more": {"training seeds": "shared"}}, "m (training seeds shared)"),
    "preparation": ({"more": {"environment": {"normalisation": "none"}}}, "m (normalisation none)"),
}


def experiment(directory: Path, **changes: Any) -> Path:
    """A learner on random orders; every part of its identity is recorded."""
    settings = changes.pop("settings", {"schedule": {"epochs": 5}})
    more = {"code of m": "0f", "backbone of m": "w", "weights w": "0f", "sizes": [2, 2, 2]}
    more |= {"training seeds": "own"}
    more |= {"environment": {"normalisation": "model", "device": "cpu"}, "torch": "2"}
    more |= changes.pop("more", {})
    mean = changes.pop("mean", 50.0)
    learner = {"m": noisy(0, mean=mean)}
    write_experiment(directory, learner, ("random",), settings=settings, more=more, **changes)
    return directory


@pytest.mark.parametrize("kind", PAIRS)
def test_runs_of_different_meaning_are_never_averaged(kind: str, tmp_path: Path) -> None:
    changes, name = PAIRS[kind]
    first = experiment(tmp_path / "first")
    second = experiment(tmp_path / "second", mean=40.0, **changes)
    right, other = numbers(first)[0]["m"], numbers(second)[0]["m"]
    for use in (edgecil.analyze, edgecil.compare, edgecil.next_runs):
        if name is None:
            with pytest.raises(EdgecilError):
                use([first, second])
    if name is not None:
        apart, sentences = numbers([first, second])
        assert other == apart[name]
        assert right in apart.values()
        assert any("kept apart" in sentence for sentence in sentences)


def test_a_reason_to_pool_is_said_and_order_and_training_are_not_separated(tmp_path: Path) -> None:
    first = experiment(tmp_path / "first")
    second = experiment(tmp_path / "second", settings={"schedule": {"epochs": 9}}, mean=40.0)
    analysis = edgecil.analyze([first, second], pool="only the epochs differ")
    (dataset,) = analysis.datasets
    assert dataset.methods["m"].order_effect.order_share is None
    caption = summary_table(dataset, about=about_training(dataset)).paper.caption
    for text in (*describe_dataset(dataset), caption)[-2:]:
        assert "only the epochs differ" in text
    assert b"only the epochs differ" in analysis.to_json()


def test_a_directory_with_one_seed_says_what_to_do(tmp_path: Path) -> None:
    shared = experiment(tmp_path / "shared", more={SEEDS: SHARED})
    separate = experiment(tmp_path / "separate")
    for directory, is_shared in ((shared, True), (separate, False)):
        analysis, advice = edgecil.analyze(directory), edgecil.next_runs(directory)
        for answer in (analysis.datasets[0], advice.datasets[0]):
            assert any("'one_seed'" in note for note in answer.notes) == is_shared


def test_advice_on_several_directories_names_them(tmp_path: Path) -> None:
    both = [experiment(tmp_path / "first"), experiment(tmp_path / "second", settings={"a": 1})]
    (advice,) = edgecil.next_runs(both).datasets
    assert advice.directories == tuple(map(str, both))


def test_other_versions_and_processors_are_noted(tmp_path: Path) -> None:
    first = experiment(tmp_path / "first")
    second = experiment(tmp_path / "second", more={"torch": "1"})
    assert outcome([first, second], numbers(first)) == "noted"


def damage(directory: Path, change: str, *values: str) -> None:
    with sqlite3.connect(directory / "results.sqlite") as database:
        database.execute(change, values)


@pytest.mark.parametrize("name", ["method m", "dataset", "sizes", "environment", "code of m", "%"])
def test_a_directory_without_its_identity_is_refused(name: str, tmp_path: Path) -> None:
    directory = experiment(tmp_path / "run")
    damage(directory, "DELETE FROM identity WHERE name LIKE ?", name)
    assert outcome(directory, ({}, set())) == "refused"
    with Store(directory) as store, pytest.raises(EdgecilError):
        store.check_identity({"method m": {"schedule": {"epochs": 5}}})


@pytest.mark.parametrize("is_checked", [False, True])
def test_a_changed_identity_is_refused_or_kept_apart(is_checked: bool, tmp_path: Path) -> None:
    directory, other = experiment(tmp_path / "run"), experiment(tmp_path / "other")
    values = ("method m", '{"schedule": {"epochs": 50}}')
    checksum = checksum_of(values) if is_checked else "0" * 32
    columns = ", ".join(f"{name} = ?" for name in (*TABLES["identity"], "checksum"))
    change = f"UPDATE identity SET {columns} WHERE name = 'method m'"
    damage(directory, change, *values, checksum)
    assert outcome([directory, other], numbers(other)) == ("noted" if is_checked else "refused")


def test_exported_runs_beside_their_directory(tmp_path: Path) -> None:
    names, path = tuple(get_classes("quickdraw").labels[:6]), tmp_path / "runs.csv"
    directory = experiment(tmp_path / "run", dataset="quickdraw", names=names)
    right = numbers(directory)
    export_runs(directory, path)
    frame = pandas.read_csv(path)
    assert frame["identity"].nunique() == 1
    assert numbers([directory, path])[0] == right[0]
    put(frame, 0, "accuracy", 99.0).to_csv(path, index=False)
    assert outcome([directory, path], right) == "noted"
    frame.drop(columns="identity").to_csv(path, index=False)
    assert outcome([directory, path], right) == "noted"
    put(frame, 0, "identity", "0123456789abcdef").to_csv(path, index=False)
    assert outcome(path, right) == "noted"
    frame.drop(columns=["identity", "sequence"]).to_csv(path, index=False)
    assert outcome([directory, path], right) == "refused"
