"""Pickles are data: nothing that they name is run."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from edgecil.errors import DataError
from edgecil.io.pickles import read_pickle


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("posix.system", b"cposix\nsystem\n(S'touch pwned'\ntR."),
        ("builtins.bytearray", b"\x80\x02cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R."),
        ("numpy.fromfile", b"\x80\x02cnumpy\nfromfile\nX\x05\x00\x00\x00pwned\x85R."),
    ],
)
def test_code_is_refused(tmp_path, name, content, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "evil"
    path.write_bytes(content)
    with pytest.raises(DataError, match=name):
        read_pickle(path)
    assert list(tmp_path.iterdir()) == [path]


def test_large_pickles_are_refused_unless_the_limit_is_raised(tmp_path, monkeypatch) -> None:
    path = tmp_path / "large"
    path.write_bytes(pickle.dumps(list(range(100))))
    monkeypatch.setenv("EDGECIL_MAX_PICKLE_BYTES", "99")
    with pytest.raises(DataError, match="EDGECIL_MAX_PICKLE_BYTES"):
        read_pickle(path)
    monkeypatch.delenv("EDGECIL_MAX_PICKLE_BYTES")
    assert read_pickle(path) == list(range(100))


@pytest.mark.parametrize("protocol", [2, 3, 4])  # those of the official files
def test_arrays_and_plain_values_come_back(tmp_path, protocol) -> None:
    value = {"data": np.arange(12, dtype=np.uint8).reshape(3, 4), "labels": [1, 2], "name": "x"}
    path = tmp_path / "plain"
    path.write_bytes(pickle.dumps(value, protocol))
    loaded = read_pickle(path)
    np.testing.assert_array_equal(loaded.pop("data"), value.pop("data"))
    assert loaded == value
