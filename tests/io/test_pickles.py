"""Pickles that would allocate or run more than arrays."""

from __future__ import annotations

import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from edgecil.errors import DataError
from edgecil.io.pickles import read_pickle

HUGE = b"J\xff\xff\xff\x7f"  # 2**31 - 1
BOMBS = {
    "an array of a given shape": b"cnumpy\nndarray\n(" + HUGE + b"tR.",
    "a reconstructed shape": b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n("
    + HUGE
    + b"tU\x01btR.",
    "a text longer than the file": b"\x80\x04\x8d" + (2**31).to_bytes(8, "little") + b"x.",
    "bytes longer than the file": b"\x80\x04\x8e" + (2**31).to_bytes(8, "little") + b"x.",
    "encoding the same text many times": b"\x80\x02c_codecs\nencode\nq\x00X\x00\x10\x00\x00"
    + b"x" * 4096
    + b"q\x01X\x06\x00\x00\x00latin1q\x02]("
    + b"h\x00h\x01h\x02\x86R" * 2000
    + b"e.",
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_small_pickles_take_little_memory(tmp_path: Path, bomb: bytes) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(bomb)
    tracemalloc.start()
    with pytest.raises(DataError, match="Cannot read"):
        read_pickle(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


def test_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "evil"
    path.write_bytes(b"cposix\nsystem\n(S'true'\ntR.")
    with pytest.raises(DataError, match=r"posix\.system"):
        read_pickle(path)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_arrays_and_plain_values_come_back(tmp_path: Path, protocol: int) -> None:
    value = {"data": np.arange(12, dtype=np.uint8).reshape(3, 4), "labels": [1, 2], "name": "x"}
    path = tmp_path / "plain"
    path.write_bytes(pickle.dumps(value, protocol))
    if protocol in (0, 1, 5):
        pytest.skip("no official file has this protocol")
    loaded = read_pickle(path)
    np.testing.assert_array_equal(loaded.pop("data"), value.pop("data"))
    assert loaded == value
