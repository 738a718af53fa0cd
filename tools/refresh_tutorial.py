"""Execute docs/tutorial.ipynb in an empty directory and store its outputs in it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs" / "tutorial.ipynb"


def main() -> None:
    """Replace the notebook by the executed one, without times and machine names."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with tempfile.TemporaryDirectory() as directory:
        NotebookClient(notebook, resources={"metadata": {"path": directory}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        # Progress and notes go to stderr and are not part of the page.
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    main()
