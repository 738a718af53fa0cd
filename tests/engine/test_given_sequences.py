"""Runs on class sequences that the user gives, and states kept for more of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from edgecil.engine.results import Summary
from edgecil.engine.run import run
from edgecil.errors import DataError, UsageError
from edgecil.sequences import ClassSequence, LabelledSequence
from tests.engine import strange as strange  # registers its learners
from tests.grouped import grouped
from tests.toys import save_toy


@pytest.fixture
def toy(tmp_path: Path) -> dict[str, Any]:
    """Options of a run that takes no time."""
    dataset = save_toy(tmp_path / "toy.npz", train=4)
    return {"method": "Instant", "dataset": dataset, "tasks": 2, "workers": 1}


def labelled(out: Path, toy: dict[str, Any], name: str = "given", **options: Any) -> dict[str, str]:
    sequences = run(**grouped(out=out, **toy, **options)).sequences()[name]
    return {run.label: str(run.sequence) for run in sequences}


def test_a_file_of_orders_is_trained_in_place_of_a_protocol(toy, tmp_path) -> None:
    path = tmp_path / "orders.json"
    path.write_text(json.dumps([[3, 1, 0, 2], {"label": "mine", "tasks": [[0, 1], [2, 3]]}]))
    out = tmp_path / "out"
    assert labelled(out, toy, sequences=path) == {"1 3|0 2": "1 3|0 2", "mine": "0 1|2 3"}
    again = run(**grouped(out=out, **toy, sequences=path))
    assert again.summary == Summary(0, 4, ())
    assert list(again.sequences()) == ["given"]
    assert again.status().complete


def test_given_sequences_add_to_earlier_ones_and_to_protocols(toy, tmp_path) -> None:
    out = tmp_path / "out"
    labelled(out, toy, sequences=[ClassSequence([[0, 3], [1, 2]])])
    both = labelled(out, toy, sequences=["0 1|2 3"], protocol="latin")
    assert list(both) == ["0 3|1 2", "0 1|2 3"]
    named = [LabelledSequence("x", ClassSequence([[2, 3], [0, 1]]))]
    assert labelled(out, toy, "probe", sequences={"probe": named}) == {"x": "2 3|0 1"}
    experiment = run(**grouped(out=out, **toy, sequences={"probe": named}))
    assert set(experiment.sequences()) == {"given", "latin", "probe"}


def test_kept_states_save_the_tasks_that_a_later_sequence_shares(toy, tmp_path) -> None:
    first, second = ["0 1|2|3"], ["0 1|3|2"]
    own_seeds = {**toy, "tasks": None, "sizes": (2, 1, 1)}
    toy = {**own_seeds, "one_seed": True}
    kept = tmp_path / "kept"
    run(**grouped(out=kept, **toy, sequences=first, keep_states=True))
    assert run(**grouped(out=kept, **toy, sequences=second, keep_states=True)).summary == Summary(
        2, 1, ()
    )
    plain = tmp_path / "plain"
    run(**grouped(out=plain, **toy, sequences=first))
    assert run(**grouped(out=plain, **toy, sequences=second)).summary == Summary(3, 0, ())
    assert run(**grouped(out=kept, **toy, sequences=second)).summary == Summary(0, 3, ())
    assert not list((plain / "states").iterdir())
    own = {**own_seeds, "out": tmp_path / "own", "keep_states": True}
    run(**grouped(**own, sequences=first))
    assert run(**grouped(**own, sequences=second)).summary == Summary(3, 0, ()), "other seeds"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ([[0, 1, 2]], "sum to the number of classes"),
        (["0 1|2 9"], "has the class 9, but the classes are 0 to 3"),
        (["0 1|2 x"], "written '0 1|2 3|4 5'"),
        (["a: 0 1|2 3", "a: 2 3|0 1"], "Two different sequences have the label 'a'"),
        ([], "at least one"),
        ({"next": []}, "at least one"),
        ({"latin": ["0 1|2 3"]}, "'latin'"),
        ([7], "must be a list of tasks"),
    ],
)
def test_sequences_that_do_not_fit_are_refused(given, complaint, toy, tmp_path) -> None:
    with pytest.raises(UsageError, match=complaint.replace("|", r"\|")):
        run(**grouped(out=tmp_path / "out", **toy, sequences=given))


def test_a_file_without_sequences_is_refused(toy, tmp_path) -> None:
    path = tmp_path / "orders.json"
    path.write_text("{}")
    with pytest.raises((DataError, UsageError), match="class sequence"):
        run(**grouped(out=tmp_path / "out", **toy, sequences=path))
    path.write_text("3")
    with pytest.raises(DataError, match="class sequences"):
        run(**grouped(out=tmp_path / "out", **toy, sequences=path))
    for empty in ("[]", '{"next": []}', '{"sequences": []}'):
        path.write_text(empty, encoding="utf-8")
        with pytest.raises(DataError, match=r"orders\.json"):
            run(**grouped(out=tmp_path / "out", **toy, sequences=path))
