"""How far two matrices agree, against SciPy, brute force and counting by hand."""

from __future__ import annotations

from itertools import permutations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import spearmanr

from edgecil.backbones.pretrained import PRETRAINED
from edgecil.classes import get_classes
from edgecil.errors import UsageError
from edgecil.paper import Agreement, compare_similarities, consistency
from edgecil.paper.agreement import compare_files
from edgecil.recipes import read_recipe, recipe_names
from edgecil.sequences import ClassSequence, SequenceSpace
from edgecil.sequences.protocols.extremes import EDGE
from edgecil.similarity import PIXELS, SimilarityMatrix, encoder_names, text_similarity
from edgecil.similarity.captions import CAPTIONED
from edgecil.similarity.described import DescribedSimilarities, read_described
from tests.sequences.oracles import Floats, matrix


def agree(left: SimilarityMatrix, right: SimilarityMatrix, space: SequenceSpace) -> Agreement:
    (agreement,) = compare_similarities({"left": left, "right": right}, sizes=space.sizes)
    assert (agreement.left, agreement.right) == ("left", "right")
    return agreement


def upper(values: Floats) -> list[float]:
    return [values[i, j] for i in range(len(values)) for j in range(i + 1, len(values))]


def pair(classes: int, seed: int, kind: str = "signed") -> tuple[Floats, Floats]:
    left = matrix(kind, classes, seed)
    return left, np.round(left + matrix("signed", classes, seed + 100), 2)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("classes", "kind"), [(4, "signed"), (6, "tied"), (12, "signed")])
def test_differences_and_rank_correlation_are_over_class_pairs(classes, kind, seed) -> None:
    left, right = pair(classes, seed, kind)
    agreement = agree(
        SimilarityMatrix.of(left), SimilarityMatrix.of(right), SequenceSpace.equal(classes, 2)
    )
    assert agreement.mae == pytest.approx(np.mean(np.abs(np.array(upper(left)) - upper(right))))
    assert agreement.spearman == pytest.approx(spearmanr(upper(left), upper(right)).statistic)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["signed", "tied"])
def test_for_few_classes_p_counts_every_permutation(kind, seed) -> None:
    left, right = pair(5, seed, kind)
    agreement = agree(SimilarityMatrix.of(left), SimilarityMatrix.of(right), SequenceSpace((3, 2)))
    observed = spearmanr(upper(left), upper(right)).statistic
    as_extreme = 0
    for order in permutations(range(5)):
        moved = right[np.ix_(order, order)]
        as_extreme += abs(spearmanr(upper(left), upper(moved)).statistic) >= abs(observed) - 1e-9
    assert agreement.permutations == 120
    assert agreement.p_value == pytest.approx(as_extreme / 120)


def test_for_more_classes_p_comes_from_random_permutations() -> None:
    left, right = pair(9, 0)
    space = SequenceSpace((3, 3, 3))
    agreement = agree(SimilarityMatrix.of(left), SimilarityMatrix.of(right), space)
    assert agreement.permutations == 9_999
    observed = spearmanr(upper(left), upper(right)).statistic
    rng = np.random.default_rng(99)
    orders = [rng.permutation(9) for _ in range(1000)]
    as_extreme = [
        abs(spearmanr(upper(left), upper(right[np.ix_(order, order)])).statistic) >= abs(observed)
        for order in orders
    ]
    share = np.mean(as_extreme)
    assert agreement.p_value == pytest.approx(
        share, abs=4 * np.sqrt(share * (1 - share) / 1000) + 1e-3
    )


def test_a_matrix_agrees_with_itself() -> None:
    similarity = SimilarityMatrix.of(matrix("signed", 9))
    agreement = agree(similarity, similarity, SequenceSpace((3, 3, 3)))
    assert agreement.mae == 0
    assert agreement.spearman == pytest.approx(1)
    assert 1e-4 <= agreement.p_value <= 5e-4
    for goal in ("hard", "easy"):
        assert (agreement.csg[goal].position, agreement.csg[goal].matched) == (1, 1)


def test_rank_correlation_with_a_constant_is_undefined() -> None:
    left = SimilarityMatrix.of(matrix("signed", 6))
    alike = SimilarityMatrix.of(matrix("equal", 6))
    for first, second in ((left, alike), (alike, left), (alike, alike)):
        agreement = agree(first, second, SequenceSpace((2, 2, 2)))
        assert (agreement.spearman, agreement.p_value, agreement.permutations) == (None, None, 0)
    assert msgspec.json.decode(msgspec.json.encode(agreement), type=Agreement) == agreement


def test_csg_compares_the_edge_sequences_of_the_two_matrices() -> None:
    left, right = (SimilarityMatrix.of(values) for values in pair(12, 1))
    space = SequenceSpace((4, 4, 4))
    agreement = agree(left, right, space)
    for goal in ("hard", "easy"):
        first, second = (
            EDGE.construct(form, space, goal, np.random.default_rng(0)) for form in (left, right)
        )
        stay = sum(len(set(a) & set(b)) for a, b in zip(first.tasks, second.tasks, strict=True))
        assert agreement.csg[goal].position == stay / 12
        assert agreement.csg[goal].matched >= agreement.csg[goal].position


@pytest.mark.parametrize(
    ("first", "second", "position", "matched"),
    [
        ([[0, 1], [2, 3]], [[0, 1], [2, 3]], 1, 1),
        ([[0, 1], [2, 3]], [[2, 3], [0, 1]], 0, 1),
        ([[0, 1], [2, 3]], [[0, 2], [1, 3]], 1 / 2, 1 / 2),
        ([[0, 1, 2], [3, 4, 5]], [[3, 4, 0], [1, 2, 5]], 1 / 3, 2 / 3),
        ([[0], [1], [2]], [[1], [2], [0]], 0, 1),
        ([[0, 1], [2, 3], [4, 5]], [[2, 4], [0, 3], [1, 5]], 1 / 3, 1 / 2),
        ([[0, 1, 2], [3]], [[0, 1, 3], [2]], 1 / 2, 1 / 2),
    ],
)
def test_consistency_counted_by_hand(first, second, position, matched) -> None:
    agreement = consistency(ClassSequence(first), ClassSequence(second))
    assert (agreement.position, agreement.matched) == pytest.approx((position, matched))


@settings(max_examples=50)
@given(st.permutations(range(8)), st.permutations(range(8)))
def test_tasks_are_paired_so_that_most_classes_stay(left, right) -> None:
    first, second = (ClassSequence.from_order(order, (2, 2, 2, 2)) for order in (left, right))
    best = max(
        sum(len(set(a) & set(second.tasks[j])) for a, j in zip(first.tasks, pairing, strict=True))
        for pairing in permutations(range(4))
    )
    assert consistency(first, second).matched == best / 8


def test_sequences_with_other_sizes_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match=r"Got \[2, 1\] and \[1, 2\]"):
        consistency(ClassSequence([[0, 1], [2]]), ClassSequence([[0], [1, 2]]))


def test_matrices_over_other_classes_cannot_be_compared() -> None:
    left, right = (SimilarityMatrix.of(matrix("signed", classes)) for classes in (4, 5))
    with pytest.raises(UsageError, match=r"left and right.*4 classes and 5"):
        agree(left, right, SequenceSpace((2, 2)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tasks = 7", "'dataset'"),
        ('dataset = "ham10000"\n[similarities.names]\nstencil = "{name}"', "'stencil'.*template"),
        ('dataset = "ham10000"\nparts = 7\n[similarities.names]', "'parts'"),
        ('dataset = "ham10000"\n[similarities.names]', "Got 1"),
    ],
)
def test_a_file_that_describes_no_similarities_is_refused(tmp_path, text, words) -> None:
    (tmp_path / "some.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=words):
        compare_files(config=tmp_path / "some.toml", tasks=7)


def test_other_names_stand_for_the_classes_of_the_dataset() -> None:
    sources = {"names": {}, "paper": {"names": "ham10000-paper", "classes": 7}}
    built = DescribedSimilarities("ham10000", sources, {}).build()
    assert built["names"].names == built["paper"].names == get_classes("ham10000").labels
    paper = text_similarity(get_classes("ham10000-paper"))
    np.testing.assert_array_equal(built["paper"].values, paper.values)
    assert not np.array_equal(built["names"].values, paper.values)


@pytest.mark.parametrize(
    "name", [name for name in recipe_names() if "similarities" in read_recipe(name)]
)
def test_a_bundled_comparison_names_only_what_exists(name: str) -> None:
    described = read_described(f"recipe:{name}")
    dataset = described.dataset
    for options in described.options.values():
        assert options.get("encoder") in (None, *encoder_names())
        assert options.get("images") in (None, PIXELS, *PRETRAINED)
        assert "captions" not in options or dataset in CAPTIONED
    if name in ("captions-eyepacs", "captions-ham10000"):
        assert described.options["names"]["names"] == f"{dataset}-paper"
    assert len(get_classes(dataset)) % described.tasks.get("tasks", 1) == 0
