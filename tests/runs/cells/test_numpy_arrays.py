"""Arrays of NumPy."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from edgecil.errors import DataError
from edgecil.runs.cells.forms import read_tables


class Hostile:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was read",))


def test_a_matrix_is_long_with_the_places_of_its_values(tmp_path) -> None:
    np.save(tmp_path / "a.npy", np.array([[0.9, np.nan], [0.4, 0.8]]))
    (table,) = read_tables(tmp_path / "a.npy")
    assert table.form == "NumPy array"
    assert table.header == ("index 1", "index 2", "value")
    assert table.rows == ((0, 0, 0.9), (0, 1, None), (1, 0, 0.4), (1, 1, 0.8))
    assert table.roles == {"index 1": "index", "index 2": "index"}


def test_arrays_in_the_order_of_fortran_are_the_same(tmp_path) -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3) / 4
    np.save(tmp_path / "c.npy", values)
    np.save(tmp_path / "f.npy", np.asfortranarray(values))
    (c,), (f,) = (read_tables(tmp_path / name) for name in ("c.npy", "f.npy"))
    assert c.rows == f.rows
    assert c.rows[1] == (0, 1, 0.25)


def test_columns_of_a_structured_array_are_columns(tmp_path) -> None:
    rows = np.array([("er", 1, 80.5), ("der", 1, 81.25)], dtype="U8,i4,f8")
    rows.dtype.names = ("method", "seed", "accuracy")
    np.save(tmp_path / "a.npy", rows)
    (table,) = read_tables(tmp_path / "a.npy")
    assert table.header == ("method", "seed", "accuracy")
    assert table.rows == (("er", 1, 80.5), ("der", 1, 81.25))


def test_single_values_of_an_archive_are_facts_of_its_arrays(tmp_path) -> None:
    np.savez(tmp_path / "a.npz", matrix=np.eye(2), method="er", seed=3)
    tables = {table.place: table for table in read_tables(tmp_path / "a.npz")}
    assert tables["matrix"].facts == {"method": "er", "seed": 3}
    assert tables["matrix"].rows == ((0, 0, 1.0), (0, 1, 0.0), (1, 0, 0.0), (1, 1, 1.0))


def test_arrays_of_one_length_are_columns(tmp_path) -> None:
    np.savez(tmp_path / "a.npz", seed=[1, 2], accuracy=[80.5, 81.25])
    (table,) = read_tables(tmp_path / "a.npz")
    assert table.header == ("seed", "accuracy")
    assert table.rows == ((1, 80.5), (2, 81.25))


def test_objects_are_refused_and_never_unpickled(tmp_path) -> None:
    np.save(tmp_path / "a.npy", np.array([Hostile()], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="could run code"):
        read_tables(tmp_path / "a.npy")
    np.savez(tmp_path / "a.npz", a=np.array([Hostile()], dtype=object))
    with pytest.raises(DataError, match="could run code"):
        read_tables(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", a=np.array([Hostile()], dtype=object), accuracy=[0.5, 0.6])
    (table,) = read_tables(tmp_path / "b.npz")
    assert table.rows == ((0.5,), (0.6,))


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(-1,)", "(2, 2)", "(99999, 99999, 99999)"])
def test_a_shape_that_the_file_does_not_hold_is_refused(tmp_path, shape) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00v\x00" + header.encode() + bytes(8)
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(DataError, match=r"cut short|more than the limit|has the shape"):
        read_tables(tmp_path / "a.npy")


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("EDGECIL_MAX_CELLS", "1000")
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(10**6))
    with pytest.raises(DataError, match="more than the limit"):
        read_tables(tmp_path / "a.npz")


def test_a_damaged_archive_is_refused(tmp_path) -> None:
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04" + bytes(50))
    with pytest.raises(DataError, match="damaged"):
        read_tables(tmp_path / "a.npz")
