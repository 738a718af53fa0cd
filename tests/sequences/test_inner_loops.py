"""Inner loops give the same sequences in Python and compiled, and leave NumPy's state alone."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from edgecil.sequences import ClassSequence, SequenceSpace, protocol
from edgecil.sequences.inner_loops import compiled, fast, inner_loop
from edgecil.sequences.sampling import sample_scores
from edgecil.similarity import SimilarityMatrix
from tests.sequences.oracles import matrix

MODULE = sys.modules[fast.__module__]


@inner_loop
def halve(number: float) -> float:
    return number / 2.0


@pytest.fixture
def python(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has not loaded numba and has patience."""
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr(MODULE, "STEPS_IN_PYTHON", float("inf"))
    monkeypatch.setattr(MODULE, "_steps_taken", 0)


def chosen(name: str, sizes: tuple[int, ...]) -> list[ClassSequence]:
    space = SequenceSpace(sizes)
    similarity = SimilarityMatrix.of(matrix("signed", space.classes, 1))
    return [run.sequence for run in protocol(name, space, similarity=similarity)]


@pytest.mark.parametrize("sizes", [(2, 2, 2), (4, 1, 3), (4,) * 6], ids=str)
@pytest.mark.parametrize("name", ["latin", "edge", "optimal"])
def test_python_and_machine_code_give_the_same_sequences(name, sizes, request) -> None:
    if name == "optimal" and sum(sizes) > 20:
        pytest.skip("annealing in Python takes seconds")
    import numba  # noqa: F401

    by_machine = chosen(name, sizes)
    request.getfixturevalue("python")
    assert chosen(name, sizes) == by_machine


def test_they_give_the_same_scores(request) -> None:
    space, similarity = SequenceSpace((4, 1, 3)), SimilarityMatrix.of(matrix("signed", 8))
    scores = sample_scores(similarity, space, 50, np.random.default_rng(0))
    request.getfixturevalue("python")
    np.testing.assert_array_equal(
        sample_scores(similarity, space, 50, np.random.default_rng(0)), scores
    )


def test_a_process_compiles_once_it_has_taken_many_steps(python, monkeypatch) -> None:
    monkeypatch.setattr(MODULE, "STEPS_IN_PYTHON", 10)
    assert fast(halve, 6) is halve
    monkeypatch.setattr(MODULE, "compiled", lambda function: "compiled")
    assert fast(halve, 6) == "compiled"


def test_what_is_compiled_is_kept() -> None:
    assert compiled(halve) is compiled(halve)
    assert compiled(halve)(3.0) == 1.5


@pytest.mark.usefixtures("python")
def test_latin_sequences_do_not_touch_numpy_s_global_state() -> None:
    np.random.seed(7)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(7)  # noqa: NPY002
    chosen("latin", (2, 2, 2))
    assert np.random.random() == expected  # noqa: NPY002
