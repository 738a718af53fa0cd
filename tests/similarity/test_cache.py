from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from edgecil.io.files import cache_directory
from edgecil.similarity.cache import encode_cached


class Counting:
    """An encoder that counts how often it is asked."""

    def __init__(self, name: str = "counting", version: str = "1") -> None:
        self.name, self.version, self.calls = name, version, 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        self.calls += 1
        return np.array([[len(text), 1.0, self.calls] for text in texts])


def only_file() -> Path:
    (path,) = (cache_directory() / "embeddings").iterdir()
    return path


def test_the_same_question_is_encoded_once() -> None:
    encoder = Counting()
    first = encode_cached(encoder, ["a", "bb"])
    np.testing.assert_array_equal(encode_cached(Counting(), ("a", "bb")), first)
    np.testing.assert_array_equal(encode_cached(encoder, ["a", "bb"]), first)
    assert encoder.calls == 1


@pytest.mark.parametrize(
    ("encoder", "texts"),
    [
        (Counting(name="other"), ["a", "bb"]),
        (Counting(version="2"), ["a", "bb"]),
        (Counting(), ["bb", "a"]),
        (Counting(), ["a", "b", "b"]),
        (Counting(), ["abb"]),
    ],
)
def test_another_encoder_version_or_text_is_another_question(
    encoder: Counting, texts: list[str]
) -> None:
    encode_cached(Counting(), ["a", "bb"])
    encode_cached(encoder, texts)
    assert encoder.calls == 1


def test_any_damaged_byte_of_the_vectors_is_noticed() -> None:
    encode_cached(Counting(), ["a", "bb"])
    content = only_file().read_bytes()
    at = content.index(np.float64(2.0).tobytes())
    only_file().write_bytes(content[:at] + b"\x01" + content[at + 1 :])
    encoder = Counting()
    assert encode_cached(encoder, ["a", "bb"])[1, 0] == 2.0
    assert encoder.calls == 1
    assert encode_cached(encoder, ["a", "bb"])[1, 0] == 2.0
    assert encoder.calls == 1


@pytest.mark.parametrize("content", [b"", b"junk", b"PK\x03\x04", None])
def test_a_cut_file_is_computed_anew(content: bytes | None) -> None:
    encode_cached(Counting(), ["a", "bb"])
    path = only_file()
    path.write_bytes(path.read_bytes()[:-30] if content is None else content)
    encoder = Counting()
    encode_cached(encoder, ["a", "bb"])
    assert encoder.calls == 1


@pytest.mark.parametrize(
    "vectors", [np.ones((3, 2)), np.ones(2), np.ones((2, 2), dtype=np.float32), [[np.nan], [1.0]]]
)
def test_an_array_that_cannot_be_the_answer_is_computed_anew(vectors: NDArray[np.float64]) -> None:
    encode_cached(Counting(), ["a", "bb"])
    path = only_file()
    np.savez(path, vectors=vectors, key=np.array(path.stem))
    encoder = Counting()
    encode_cached(encoder, ["a", "bb"])
    assert encoder.calls == 1


def test_an_unwritable_cache_costs_one_warning_and_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "file" / "below"))
    with caplog.at_level(logging.WARNING):
        for texts in (["a"], ["bb"]):
            assert encode_cached(Counting(), texts).shape == (1, 3)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
