"""The package is light to import, and what it exports is there and says what it is."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import runpy
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import edgecil
from edgecil.io.files import read_toml

PLOTS = {"torch", "transformers", "matplotlib"}
HEAVY = ("scipy", "matplotlib", "torch", "transformers", "rich")
SUBPACKAGES = (
    "edgecil", "edgecil.analysis", "edgecil.classes", "edgecil.experiments", "edgecil.interop",
    "edgecil.runs", "edgecil.sequences", "edgecil.similarity", "edgecil.statistics",
)  # fmt: skip


def loaded_after(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter has loaded after running some code."""
    return {name.split(".")[0] for name in modules_after(code)}


def modules_after(code: str) -> list[str]:
    """All modules that a fresh interpreter has loaded after running some code."""
    script = f"{code}\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
    )
    return list(json.loads(done.stdout.splitlines()[-1]))


SEQUENCES = """
import runpy, sys
sys.argv = 'edgecil sequences cifar100 --tasks 10 --protocol {}'.split()
try:
    runpy.run_module('edgecil', run_name='__main__')
except SystemExit as done:
    assert not done.code, done.code
"""
OUTSIDE = "import edgecil.interop.toolbox, edgecil.interop.logs, edgecil.paper.language_model"


@pytest.mark.parametrize(
    ("code", "used", "unused"),
    [
        ("import edgecil", set(), {*HEAVY, "numpy"}),
        (SEQUENCES.format("random"), set(), {"scipy", *PLOTS}),
        (SEQUENCES.format("edge"), {"scipy"}, PLOTS),
        (OUTSIDE, set(), {"openai", *PLOTS}),
    ],
    ids=["import", "random orders", "orders by similarity", "other programs"],
)
def test_what_trains_nothing_loads_neither_torch_nor_plots(code, used, unused) -> None:
    loaded = loaded_after(code)
    assert loaded >= used
    assert not loaded & unused


def test_comparing_a_table_loads_neither_experiments_nor_training(tmp_path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("method,seed,accuracy\na,0,61\na,1,59\na,2,64\nb,0,41\nb,1,48\nb,2,44\n")
    modules = modules_after(f"import edgecil; edgecil.compare({str(path)!r})")
    rooms = {".".join(name.split(".")[:2]) for name in modules if name.startswith("edgecil.")}
    assert "edgecil.analysis" in rooms
    assert not rooms & {"edgecil.experiments", "edgecil.training", "edgecil.paper", "edgecil.lab"}


@pytest.mark.parametrize("module", SUBPACKAGES)
def test_every_exported_name_is_there_and_documented(module) -> None:
    package = importlib.import_module(module)
    assert len(set(package.__all__)) == len(package.__all__)
    for name in package.__all__:
        actual = getattr(package, name)
        if inspect.isclass(actual):  # a dataclass without a docstring would have its signature
            assert not (vars(actual).get("__doc__") or f"{name}(").startswith(f"{name}("), name


def test_there_are_about_forty_public_names() -> None:
    names = [name for name in edgecil.__all__ if not name.startswith("_")]
    assert len(names) == len(set(names)) <= 41
    assert {name for name in dir(edgecil) if not name.startswith("_")} >= set(names)


def test_no_function_has_more_than_twenty_one_parameters() -> None:
    for path in Path(edgecil.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                own = node.args
                count = len([*own.posonlyargs, *own.args, *own.kwonlyargs])
                assert count <= 21, f"{path}: {node.name}"


def test_the_reference_has_every_public_name() -> None:
    pytest.importorskip("mkdocs")
    tool = Path(__file__).parents[1] / "tools" / "site_pages.py"
    pages = runpy.run_path(str(tool))["python_pages"]()
    for name in edgecil.__all__:
        member = getattr(edgecil, name)
        if inspect.isfunction(member) or inspect.isclass(member):
            path = f"{member.__module__}.{member.__qualname__}"
            station = member.__module__.split(".")[1]
            assert f"[`{name}`](python-{station}.md#{path})" in pages["reference/python.md"]
            assert f"::: {path}" in pages[f"reference/python-{station}.md"].splitlines()


def test_the_version_has_one_source() -> None:
    project = read_toml(Path(__file__).parents[1] / "pyproject.toml")["project"]
    assert edgecil.__version__ == version("edgecil") == project["version"]


def test_only_the_command_line_parses() -> None:
    source = Path(edgecil.__file__).parent
    files = {path: path.read_text(encoding="utf-8") for path in source.rglob("*.py")}
    inside = {path for path in files if path.is_relative_to(source / "cli")}
    assert not [path for path, text in files.items() if "argparse" in text and path not in inside]
