"""The paper and the laboratory are rooms of their own: the product works without them."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

from tests.toys import save_toy

ROOMS = ("edgecil.paper", "edgecil.lab")
GROUPS = ("edgecil.protocols", "edgecil.sections", "edgecil.verbs")

# As if the wheel had neither the rooms nor their entry points.
HIDE = f"""
import importlib.metadata, sys
ROOMS = {ROOMS!r}
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.startswith(ROOMS):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hidden())
every = importlib.metadata.entry_points
def without_rooms(**selected):
    return [point for point in every(**selected) if not point.value.startswith(ROOMS)]
importlib.metadata.entry_points = without_rooms
"""


def test_the_product_works_without_the_rooms(tmp_path: Path) -> None:
    """It trains, analyses, compares, advises, searches and reports; of protocols it has its own."""
    save_toy(tmp_path / "toy.npz")
    code = f"""{HIDE}
import edgecil
options = dict(dataset="toy.npz", tasks=2)
methods = ["icarl", "finetune"]
experiment = edgecil.run(out="x", method=methods, protocol="random,edge", **options)
analysis = edgecil.analyze(experiment)
assert set(analysis.datasets[0].methods) == set(methods)
assert edgecil.compare("x").pairs and edgecil.next_runs("x")
assert edgecil.write_report("x").pages[0].is_file()
from edgecil.sequences import PROTOCOLS
assert "edge" in PROTOCOLS and "adversarial" not in PROTOCOLS
assert not [name for name in sys.modules if name.startswith("edgecil.cli")]
from edgecil.cli.main import main
assert main(["analyze", "x"]) == 0
edgecil.search_orders(out="y", method="finetune", budget=5, **options)
assert not [name for name in sys.modules if name.startswith(ROOMS)]
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr


def test_the_rooms_are_reached_by_entry_points_alone() -> None:
    values = {group: [point.value for point in entry_points(group=group)] for group in GROUPS}
    assert any(value.startswith("edgecil.paper") for value in values["edgecil.protocols"])
    assert any(value.startswith("edgecil.lab") for value in values["edgecil.sections"])
