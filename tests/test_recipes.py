"""Every recipe says only what a run understands, and has a twin on the bundled drawings."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgecil.classes import get_classes
from edgecil.engine import read_config
from edgecil.engine.run import resolve_options
from edgecil.errors import UsageError
from edgecil.io.files import read_toml
from edgecil.methods import get_method
from edgecil.recipes import describe_recipe, read_recipe, recipe_names
from edgecil.sequences import SequenceSpace
from edgecil.sequences.objective import OBJECTIVES
from edgecil.sequences.protocols import PROTOCOLS
from edgecil.similarity.text import encoder_names

ROOT = Path(__file__).parents[1]
RECIPES = sorted((ROOT / "src" / "edgecil" / "recipes").glob("*.toml"), key=lambda it: it.stem)
COMPARED = [path for path in RECIPES if "similarities" in read_toml(path)]


@pytest.mark.parametrize(
    "path", [path for path in RECIPES if path not in COMPARED], ids=lambda path: path.stem
)
def test_a_recipe_names_only_what_there_is(path) -> None:
    config, _ = resolve_options(read_config(path), {})
    for name in config.method:
        entry = get_method(name)
        training = config.training
        schedule, memory = entry.schedule(training.setup, training.backbone or "resnet-tiny")
        entry.configure(schedule, memory, training.set.get(name))
    assert set(config.protocol_names) <= set(PROTOCOLS)
    assert config.objective in OBJECTIVES
    assert config.similarity.encoder in encoder_names()
    classes = config.data.classes or len(get_classes(config.dataset))
    assert SequenceSpace.choose(classes, tasks=config.tasks).tasks == config.tasks


def test_every_experiment_has_a_twin_on_the_drawings() -> None:
    names = {path.stem for path in RECIPES} - {"demo"}
    twins = [name for name in names if name.endswith("-quickdraw")]
    for name in names:
        assert any(name.startswith(twin.removesuffix("quickdraw")) for twin in twins), name


def test_every_recipe_is_explained() -> None:
    text = (ROOT / "docs" / "evidence" / "reproduction.md").read_text(encoding="utf-8")
    for path in RECIPES:
        assert path.stem in text, path.name


def test_recipes_are_read_from_the_package() -> None:
    assert recipe_names() == tuple(path.stem for path in RECIPES)
    assert read_recipe("Demo") == read_toml(RECIPES[0].with_name("demo.toml"))
    for name in recipe_names():
        assert len(describe_recipe(name)) > 40
        assert describe_recipe(name).endswith(".")
    with pytest.raises(UsageError, match="Did you mean 'demo'"):
        read_config("recipe:dmo")
