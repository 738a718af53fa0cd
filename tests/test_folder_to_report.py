"""A folder of images, from one command to a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgecil.cli.main import main
from edgecil.errors import EdgecilWarning
from tests.data.painting import save


@pytest.mark.slow
def test_a_folder_of_images_becomes_a_report(tmp_path, monkeypatch, capfd) -> None:
    """Images of different sizes, no test folder, names in several scripts, and nothing else."""
    for label, name in enumerate(("café", "猫", "кот", "dog")):
        for index in range(10):
            size = (12 + index, 30 - index)
            save(tmp_path / "pets" / name / f"{index}.png", 20 * label, 25 * index, size)
    monkeypatch.chdir(tmp_path)
    words = "run --dataset pets --method finetune --tasks 2 --protocol edge --epochs 1 --workers 1"
    with pytest.warns(EdgecilWarning) as said:
        assert main([*words.split(), "--out", "runs/pets"]) == 0
    sentences = " ".join(str(warning.message) for warning in said)
    assert "40" in sentences
    assert "scaled and cropped to" in sentences
    assert "class means of their inputs" in sentences
    assert main(["report", "runs/pets"]) == 0
    (page,) = Path("runs/pets").rglob("*.html")
    assert "猫" in page.read_text(encoding="utf-8")
