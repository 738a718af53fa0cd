"""The tutorial notebook runs from its first cell to its last, on fewer classes."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOK = Path(__file__).parents[1] / "docs" / "tutorial.ipynb"
SHORTER = {
    '"tasks": 10': '"tasks": 2, "data": {"classes": 8}',
    '"memory_per_class": 3': '"memory_per_class": 3, "epochs": 1',
    "random:6": "random:4",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_cell_runs_and_objects_are_shown_as_html(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in cells:
        for long, short in SHORTER.items():
            cell.source = cell.source.replace(long, short)
    assert all(short in "".join(cell.source for cell in cells) for short in SHORTER.values())
    client = nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    assert (tmp_path / "tutorial" / "report" / "index.html").is_file()
    shown = {
        cell.source.splitlines()[-1]: output.data
        for cell in cells
        for output in cell.outputs
        if output.output_type == "execute_result"
    }
    for name in ("experiment",):
        assert "<table" in shown[name]["text/html"]
        assert len(shown[name]["text/plain"].splitlines()) < 40
