from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from edgecil.data import Dataset, Examples
from edgecil.errors import DataError, UsageError
from tests.data.painting import classes_painted, paint, painted_dataset

LABELS = np.array([0, 1, 1], dtype=np.int64)


@given(st.permutations(range(5)), st.integers(1, 5))
def test_taken_classes_are_relabelled_in_the_order_asked_for(order, count) -> None:
    ids = np.array(order[:count])
    taken = painted_dataset().take(ids)
    assert taken.names == tuple(f"class {i}" for i in ids)
    for part in (taken.train, taken.test):
        assert np.array_equal(classes_painted(part), ids[part.labels])
    assert taken.counts()[0].tolist() == [6] * count


def test_taking_twice_is_taking_once() -> None:
    dataset = painted_dataset()
    twice = dataset.take([4, 0, 2, 1]).take([2, 0])
    assert twice.fingerprint == dataset.take([2, 4]).fingerprint


def test_taking_everything_copies_nothing() -> None:
    dataset = painted_dataset()
    assert dataset.take(np.arange(5)) is dataset
    assert dataset.take([4, 3, 2, 1, 0]) is not dataset


@pytest.mark.parametrize("ids", [[0, 0], [5], [-1]])
def test_classes_that_cannot_be_taken_are_told(ids) -> None:
    with pytest.raises(UsageError, match=r"unique and in \[0, 4\]"):
        painted_dataset().take(ids)


def test_the_fingerprint_sees_names_pixels_and_labels_and_nothing_else() -> None:
    dataset = painted_dataset()
    train, test = dataset.train, dataset.test
    assert dataset.fingerprint == painted_dataset().fingerprint
    assert dataset.fingerprint == Dataset("other", dataset.names, train, test).fingerprint
    strided = np.asfortranarray(train.inputs)
    same = Dataset("painted", dataset.names, Examples(strided, train.labels), test)
    assert dataset.fingerprint == same.fingerprint

    pixels = train.inputs.copy()
    pixels[3, 1, 2, 2] ^= 1
    renamed = ("class 00", *dataset.names[1:])
    others = [
        Dataset("painted", renamed, train, test),
        Dataset("painted", dataset.names, Examples(pixels, train.labels), test),
        Dataset("painted", dataset.names, Examples(train.inputs, train.labels[::-1]), test),
        Dataset("painted", dataset.names, test, train),
    ]
    assert dataset.fingerprint not in {other.fingerprint for other in others}


@pytest.mark.parametrize(
    ("pixels", "labels", "message"),
    [
        (paint([0, 1, 1]).astype(np.float32), LABELS, "uint8.*Got"),
        (paint([0, 1, 1])[:, 0], LABELS, r"\(3, 8, 8\)"),
        (paint([0, 1, 1])[..., :0], LABELS, r"\(3, 3, 8, 0\)"),
        (paint([0, 1, 1]), LABELS.astype(np.int32), "Got int32"),
        (paint([0, 1, 1]), LABELS[:2], r"label.* 3 .*\(2,\)"),
        (paint([0, 1, 1]), LABELS[:, None], r"shape \(3, 1\)"),
        (paint([0, 1, 1]), LABELS - 1, "Labels.*0.*-1"),
    ],
)
def test_images_that_make_no_sense_are_told(pixels, labels, message) -> None:
    with pytest.raises(DataError, match=message):
        Examples(pixels, labels)


@pytest.mark.parametrize(
    ("names", "test", "message"),
    [
        (("a", "b"), Examples(paint([0, 1, 1], side=9), LABELS), "one shape"),
        (("a",), Examples(paint([0, 1, 1]), LABELS), r"\[0, 0\].*1.*training"),
        (("a", "b"), Examples(paint([0, 1, 1]), 2 * LABELS), "2.*labels"),
        (("a", "b", "c"), Examples(paint([0, 1, 1]), LABELS), r"Class 2 \('c'\).*no training"),
        (("a", "b"), Examples(paint([0]), LABELS[:1]), r"Class 1 \('b'\).*no test inputs"),
        (("a", "b"), Examples(paint([]), LABELS[:0]), r"Class 0 \('a'\).*no test inputs"),
        (("a", "a"), Examples(paint([0, 1, 1]), LABELS), "must be unique"),
    ],
)
def test_a_dataset_that_makes_no_sense_is_told(names, test, message) -> None:
    train = Examples(paint([0, 1, 1]), LABELS)
    with pytest.raises(DataError, match=message):
        Dataset("bad", names, train, test)
