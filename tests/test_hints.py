"""One reading of type hints, for calls in Python, TOML files, the command line and its help."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import numpy as np
import pytest
from typing_extensions import TypedDict, Unpack

import edgecil
from edgecil.classes import ClassChoice
from edgecil.cli.main import all_verbs
from edgecil.cli.verb import load_object, options_of
from edgecil.errors import UsageError
from edgecil.hints import (
    Count,
    MismatchError,
    NotNegative,
    Positive,
    Range,
    Share,
    Whole,
    alternatives,
    convert,
    function_types,
)
from edgecil.options import checked
from edgecil.sequences.space import SequenceSpace, TaskSizes

FUNCTIONS = {verb.api: load_object(verb.api) for verb in all_verbs().values() if verb.api}
PUBLIC = [getattr(edgecil, name) for name in edgecil.__all__]
FUNCTIONS |= {entry.__qualname__: entry for entry in PUBLIC if inspect.isfunction(entry)}


@pytest.mark.parametrize(
    ("value", "hint", "converted"),
    [
        (np.int64(3), Count, 3),
        (2, Positive, 2.0),
        (None, Count | None, None),
        (Path("a/b"), str | None, "a/b"),
        (["a", "b"], Sequence[str] | str, ("a", "b")),
        ("a", Sequence[str] | str, "a"),
        ([np.int64(1), 2], tuple[int, ...], (1, 2)),
        ([1, 0.5], tuple[float, float], (1.0, 0.5)),
        ("tf32", Literal["float32", "tf32"], "tf32"),
        ({"a": {"b": 1}}, Mapping[str, Mapping[str, Any]], {"a": {"b": 1}}),
        (1, int | tuple[int, ...], 1),
        (sum, Callable[..., Any], sum),
        (sum, str | Any, sum),
    ],
)
def test_values_are_converted_to_the_type_of_their_hint(value, hint, converted) -> None:
    assert convert(value, hint) == converted
    assert type(convert(value, hint)) is type(converted)


@pytest.mark.parametrize(
    ("value", "hint", "allowed"),
    [
        (0, Count, "at least 1"),
        (-1, Whole | None, "at least 0"),
        (0.0, Positive, "more than 0"),
        (-0.1, NotNegative, "at least 0"),
        (1.5, Share, "from 0 to 1"),
        (1, Annotated[int, Range(0, 1, open=True)], "between 0 and 1"),
        (float("nan"), Share, "from 0 to 1"),
        (None, Count, "an integer"),
        (True, Count, "an integer"),
        ("3", Count | None, "an integer"),
        ({"a"}, tuple[str, ...], "a list of texts"),
        (3, str | tuple[int, ...] | None, "a text or a list of integers"),
        (1, bool, None),
        (3, Mapping[str, Any], "a table of settings"),
        ("x", Literal["a", "b"] | None, "'a' or 'b'"),
    ],
)
def test_values_that_a_hint_does_not_allow(value, hint, allowed) -> None:
    with pytest.raises(MismatchError) as refused:
        convert(value, hint)
    assert refused.value.allowed == (allowed or "true or false")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_signature_of_every_public_function_can_be_read(name: str) -> None:
    """Names in signatures exist at run time, and an option of the command line has help."""
    function = inspect.unwrap(getattr(FUNCTIONS[name], "__func__", FUNCTIONS[name]))
    assert "return" in get_type_hints(function)
    if ":" in name:
        assert all(option.help for option in options_of(FUNCTIONS[name]))


def test_a_hint_serves_a_call_the_command_line_and_help() -> None:
    class Shared(TypedDict, total=False):
        """What every drawing takes.

        Attributes:
            width: columns of the page.
        """

        width: Annotated[int, Range(20)] | None

    @checked
    def draw(page: str, *, sizes: Sequence[int] | None = None, **shared: Unpack[Shared]) -> Any:
        """Draw.

        Args:
            page: its name.
            sizes: see :class:`edgecil.sequences.space.TaskSizes`.
            shared: see :class:`Shared`.
        """
        return page, sizes, shared

    draw.__wrapped__.__globals__["Shared"] = Shared
    try:
        assert list(function_types(draw)) == ["page", "sizes", "width"]
        flags = {option.name: (option.kind, option.help) for option in options_of(draw)}
        assert flags == {
            "page": ("str", "its name"),
            "sizes": ("ints", "number of classes in each task"),
            "width": ("int", "columns of the page"),
        }
        assert draw("a", width=20) == ("a", None, {"width": 20})
        with pytest.raises(UsageError, match=r"'width' must be at least 20\. Got 19"):
            draw("a", width=19)
        with pytest.raises(UsageError, match=r"Unknown parameter 'widht'\. Did you mean 'width'"):
            draw("a", widht=30)
        with pytest.raises(UsageError, match="'sizes' must be a list of integers"):
            draw("a", sizes="six")
    finally:
        del draw.__wrapped__.__globals__["Shared"]


def test_shared_groups_divide_classes_into_tasks_and_choose_them() -> None:
    assert TaskSizes(base=2, increment=2).space("abcdef") == SequenceSpace((2, 2, 2))
    assert (TaskSizes(tasks=3).are_given, TaskSizes().are_given) == (True, False)
    assert ClassChoice(classes=2).select(6).tolist() == [0, 1]
    assert ClassChoice(class_ids=[4, 1]).select(6).tolist() == [4, 1]


def test_limits_are_left_out_of_alternatives() -> None:
    assert alternatives(Count | str | None) == (int, str)
