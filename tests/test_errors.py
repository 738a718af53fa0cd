import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import edgecil
from edgecil.errors import format_value, is_integer
from tests.grouped import grouped


def test_a_warning_points_to_the_line_of_the_caller(tmp_path: Path) -> None:
    for name in ("bear", "cat"):
        (tmp_path / name).mkdir()
        for image in range(4):
            Image.new("RGB", (1, 1)).save(tmp_path / name / f"{image}.png")
    with pytest.warns(edgecil.EdgecilWarning) as caught:
        edgecil.data.load_dataset(tmp_path)
    assert {warning.filename for warning in caught} == {__file__}


class _Chatty:
    def __repr__(self) -> str:
        return "word\n" * 1000


@pytest.mark.parametrize(
    "value",
    [
        *("x" * 5000, b"x" * 5000, list(range(5000)), dict.fromkeys(range(5000), "x"), 7**7000),
        *(np.arange(5000), np.zeros((2, 3)), pd.DataFrame({"a": range(99)}), _Chatty(), object()),
        *(None, 1.5, np.float64(0.25), np.int64(6), np.ma.masked, [["x" * 90] * 90] * 90, Path),
        pd.Series(range(99)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_value_is_shown_in_a_line(value: object) -> None:
    assert 1 <= len(format_value(value)) <= 80
    assert "\n" not in format_value(value)


def test_short_values_are_shown_as_they_are_written() -> None:
    assert [format_value(value) for value in (True, -3, np.int32(6), "a", None, (1, 2))] == [
        *("True", "-3", "6", "'a'", "None", "(1, 2)")
    ]
    assert format_value(np.zeros((4, 2))) == "a ndarray of shape (4, 2)"


def test_integers_of_numpy_are_integers() -> None:
    assert [is_integer(value) for value in (1, np.int64(1), np.uint8(1))] == [True] * 3
    assert [is_integer(value) for value in (True, np.True_, 1.0, "1", None)] == [False] * 5


WRONG = [None, {}, np.zeros((99, 99)), pd.Series(list("ab")), b"x" * 500, 3, object(), {1}]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("call", [edgecil.analyze, edgecil.compare, edgecil.next_runs])
def test_a_source_of_a_wrong_type_is_one_line(call: Any, value: object) -> None:
    assert_one_line(lambda: call(value))


@pytest.mark.parametrize("value", WRONG[2:], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", ["dataset", "tasks", "classes", "method", "protocol", "config"])
def test_an_option_of_a_wrong_type_is_one_line(name: str, value: object, tmp_path: Path) -> None:
    if name in ("tasks", "classes") and isinstance(value, int):
        value = 3.5
    options: dict[str, Any] = {"method": "finetune", "dataset": "quickdraw", "tasks": 3}
    assert_one_line(
        lambda: edgecil.run(**grouped(out=tmp_path / "run", **{**options, name: value}))
    )


def assert_one_line(call: Callable[[], object]) -> None:
    with pytest.raises(edgecil.EdgecilError) as raised:
        call()
    assert len(str(raised.value)) < 250
    assert "\n" not in str(raised.value)


def test_options_may_be_integers_of_numpy() -> None:
    options: dict[str, Any] = {"classes": np.int64(6), "tasks": np.int32(3), "budget": np.uint8(3)}
    plan = edgecil.check(**grouped(method="finetune", dataset="quickdraw", **options))
    assert plan.methods[0].tasks == 15  # three random orders and two probes


LONG = {"words": "lorem ipsum " * 900, "unbroken": "x" * 9_000, "quotes": "it's 'a' " * 900}
SOURCES = Path(edgecil.__file__).parent
ERRORS = re.compile("(Error|wrong_value|unknown|warn)$")


def templates() -> Iterator[ast.JoinedStr]:
    """Every text with values that an error or a warning of the package is made from."""
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ERRORS.search(ast.unparse(node.func)):
                for argument in node.args:
                    yield from (it for it in ast.walk(argument) if isinstance(it, ast.JoinedStr))


def filled(template: ast.JoinedStr, value: str) -> str:
    """A text whose values are all this one, in quotes where the template has them."""
    parts = []
    for part in template.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        elif isinstance(part, ast.FormattedValue):
            parts.append(repr(value) if part.conversion == ord("r") else value)
    return "".join(parts)


def test_no_raise_site_prints_a_value_beyond_80_characters() -> None:
    every = list(templates())
    assert len(every) > 600
    for template in every:
        for value in ("x" * 9_000, str(list(range(3_000)))):
            printed = str(edgecil.EdgecilError(filled(template, value)))
            bare = str(edgecil.EdgecilError(filled(template, "")))
            values = sum(isinstance(part, ast.FormattedValue) for part in template.values)
            assert len(printed) <= len(bare) + 82 * values, ast.unparse(template)
        in_quotes = [it for it in template.values if getattr(it, "conversion", -1) == ord("r")]
        if len(in_quotes) == values:
            printed = str(edgecil.EdgecilError(filled(template, LONG["words"])))
            assert len(printed) <= len(bare) + 82 * values, ast.unparse(template)


@pytest.mark.parametrize("form", ["csv", "json", "md", "txt"])
@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("column", ["method", "dataset", "seed", "accuracy", "order", "new", ""])
def test_no_cell_is_echoed_whole(column: str, kind: str, form: str, tmp_path: Path) -> None:
    usual = {"method": "icarl", "dataset": "cifar100", "seed": "1", "accuracy": "61.5"}
    row = {**usual, "order": "0 1 2 3", column or LONG[kind]: LONG[kind] if column else "5"}
    rows = [row, {**row, "seed": "2"}, {**row, "seed": "3", "accuracy": "60"}]
    path = tmp_path / f"table.{form}"
    if form == "csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    elif form == "json":
        path.write_text(json.dumps(rows))
    else:
        separator = "|" if form == "md" else " "
        lines = [list(row), *([["---"] * len(row)] if form == "md" else [])]
        lines += [list(each.values()) for each in rows]
        path.write_text("\n".join(separator.join(["", *line, ""]) for line in lines))
    for call in (edgecil.analyze, edgecil.compare):
        try:
            answer = str(call(path))
        except edgecil.EdgecilError as error:
            answer = str(error)
        assert len(answer) < 1_200
        assert LONG[kind][:100] not in answer
