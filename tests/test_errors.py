from pathlib import Path

import pytest

import edgecil


def test_a_warning_points_to_the_line_of_the_caller(tmp_path: Path) -> None:
    for name in ("bear", "cat"):
        for image in range(4):
            folder = tmp_path / name
            folder.mkdir(exist_ok=True)
            (folder / f"{image}.png").write_bytes(_PNG)
    with pytest.warns(edgecil.EdgecilWarning) as caught:
        edgecil.load_dataset(tmp_path)
    assert {warning.filename for warning in caught} == {__file__}


_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8ffff3f0005fe02fe0def46b80000000049454e44ae426082"
)
