"""The files in `files/` are read as `readings.toml` says, or the one question there is asked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import edgecil
from edgecil.errors import DataError
from edgecil.io.files import read_toml
from edgecil.runs.reading import ReadingQuestion

FOLDER = Path(__file__).parent
FILES = FOLDER / "files"
EXPECTED: dict[str, dict[str, Any]] = read_toml(FOLDER / "readings.toml")
ASKING = [name for name, expected in EXPECTED.items() if isinstance(expected.get("asks"), dict)]
REFUSED = [name for name, expected in EXPECTED.items() if "problem" in expected]
READ = [name for name in EXPECTED if name not in ASKING and name not in REFUSED]
MOST_ANSWERS = 4


def values_of(reading: edgecil.Reading) -> dict[str, list[float]]:
    """Return the values of the runs of each method on each dataset, under `method @ dataset`."""
    values: dict[str, list[float]] = {}
    for table in reading.runs:
        for number, method in enumerate(table.methods):
            chosen = table.values[table.method == number].tolist()
            if chosen:
                values[f"{method} @ {table.dataset}"] = chosen
    return values


def published_of(reading: edgecil.Reading) -> dict[str, list[float]]:
    """Return mean, standard deviation and number of runs as published."""
    numbers = {}
    for result in reading.published:
        spread = [] if result.std is None else [result.std, result.n]
        numbers[f"{result.method} @ {result.dataset}"] = [result.mean, *spread]
    return numbers


def with_datasets(expected: Mapping[str, list[float]], names: list[str]) -> dict[str, list[float]]:
    """Return expected values under the keys of what was read; one dataset need not be named."""
    keys = {name.partition(" @ ")[0]: name for name in names}
    return {
        name if " @ " in name else keys.get(name, f"{name} @"): values
        for name, values in expected.items()
    }


def check(reading: edgecil.Reading, expected: Mapping[str, Any]) -> None:
    """Assert that a reading is the expected one."""
    assert reading.metric == expected["metric"]
    assert reading.higher_is_better is expected["higher_is_better"]
    if "datasets" in expected:
        assert list(reading.datasets) == expected["datasets"]
    for read, name in ((values_of(reading), "runs"), (published_of(reading), "published")):
        wanted = with_datasets(expected.get(name, {}), list(read))
        if not expected.get("some"):
            assert sorted(read) == sorted(wanted), name
        for key, values in wanted.items():
            assert read[key] == pytest.approx(values, nan_ok=True), key
    if "orders" in expected:
        (table,) = reading.runs
        used = np.unique(table.sequence)
        assert len(used) == expected["orders"]
    assert len(reading.left_out) == expected.get("left_out", 0)
    said = " ".join([reading.line, *reading.notes]).lower()
    for words in expected.get("says", []):
        assert words.lower() in said


def answers(question: ReadingQuestion) -> Iterator[dict[str, Any]]:
    """Yield the ways to answer a question, with one answer for each of its options."""
    names = list(question.options)
    for chosen in itertools.product(*(question.options[name] for name in names)):
        yield dict(zip(names, chosen, strict=True))


@pytest.mark.parametrize("name", READ)
def test_a_file_is_read_as_a_researcher_reads_it(name) -> None:
    check(edgecil.read(FILES / name), EXPECTED[name])


@pytest.mark.parametrize("name", ASKING)
def test_what_a_file_does_not_say_is_asked_and_the_answer_is_right(name) -> None:
    expected = EXPECTED[name]
    with pytest.raises(ReadingQuestion) as caught:
        edgecil.read(FILES / name)
    assert set(caught.value.options) == set(expected["asks"])
    check(edgecil.read(FILES / name, **expected["asks"]), expected)


@pytest.mark.parametrize("name", ASKING)
def test_every_answer_that_a_question_offers_ends_in_a_reading(name) -> None:
    with pytest.raises(ReadingQuestion) as caught:
        edgecil.read(FILES / name)
    question = caught.value
    assert str(question).endswith((".", "?"))
    assert question.options
    expected = EXPECTED[name]
    for answer in itertools.islice(answers(question), MOST_ANSWERS):
        reading = edgecil.read(FILES / name, **answer)
        assert reading.metric == answer.get("metric", expected["metric"])
        if "higher_is_better" in answer:
            assert reading.higher_is_better is answer["higher_is_better"]
        if "n" in answer:
            assert {result.n for result in reading.published} == {answer["n"]}
        if "columns" not in answer:
            counts = {key: len(values) for key, values in values_of(reading).items()}
            wanted = with_datasets(expected.get("runs", {}), list(counts))
            assert counts == {key: len(values) for key, values in wanted.items()}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_answer_makes_right_is_refused(name) -> None:
    with pytest.raises(DataError, match=EXPECTED[name]["problem"]):
        edgecil.read(FILES / name)


def test_the_suite_is_broad_and_asks_little() -> None:
    assert len(EXPECTED) >= 60
    assert len(ASKING) <= 15
    assert {path.name for path in FILES.iterdir()} == {name.partition("/")[0] for name in EXPECTED}
    assert all(expected["trap"] for expected in EXPECTED.values())


@pytest.mark.parametrize("name", READ)
def test_a_saved_reading_reads_the_file_again(name, tmp_path) -> None:
    reading = edgecil.read(FILES / name)
    reading.save(tmp_path / "reading.toml")
    again = edgecil.read(FILES / name, reading=str(tmp_path / "reading.toml"))
    assert again.line == reading.line
