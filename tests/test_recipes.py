"""Every recipe says only what a run understands, and has a twin on the bundled drawings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import edgecil
from edgecil.classes import get_classes
from edgecil.errors import UsageError
from edgecil.experiments import read_config
from edgecil.io.files import read_toml
from edgecil.methods import get_method
from edgecil.paper.agreement import compare_files
from edgecil.recipes import (
    COMPARE_SIMILARITIES,
    RecipeFacts,
    describe_recipe,
    read_recipe,
    recipe_facts,
    recipe_names,
    recipe_text,
)
from edgecil.sequences import SequenceSpace
from edgecil.sequences.objective import OBJECTIVES
from edgecil.sequences.protocols import PROTOCOLS
from edgecil.similarity.text import encoder_names
from edgecil.training.run import resolve_options

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


def test_every_experiment_of_the_paper_has_a_twin_on_the_drawings() -> None:
    for name in recipe_names():
        facts = recipe_facts(name)
        if name.startswith("demo"):
            assert facts == RecipeFacts("run")
        elif name.endswith("-quickdraw"):
            assert facts.shows
            assert not facts.twin
        else:
            twin = recipe_facts(facts.twin)
            assert twin.verb == facts.verb
            assert facts.twin.endswith("-quickdraw")
            assert set(re.findall(r"A?\d+", facts.shows)) <= set(re.findall(r"A?\d+", twin.shows))


@pytest.mark.filterwarnings("ignore::edgecil.errors.EdgecilWarning")
@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_is_checked_by_its_verb(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edgecil.training.check.try_methods", lambda *_: {})
    is_bundled = name.endswith("-quickdraw") or name == "demo"
    root = {} if is_bundled else {"data": {"root": tmp_path}}
    answer = edgecil.check(config=f"recipe:{name}", **root)
    missing = {requirement.name.split()[0] for requirement in answer.problems}
    assert missing <= {"dataset", "encoder", "tokenizer", "backbone"}
    if is_bundled:
        assert answer.ready
    compares = recipe_facts(name).verb == COMPARE_SIMILARITIES
    assert bool(answer.methods) != compares
    assert any(it.name.startswith("encoder") for it in answer.requirements) or not compares


def test_a_recipe_of_another_verb_names_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run: python -m edgecil\.paper compare-sim"):
        read_config("recipe:captions-quickdraw")
    with pytest.raises(UsageError, match="run: edgecil run --config recipe:demo"):
        compare_files(config="recipe:demo")
    copy = tmp_path / "mine.toml"
    copy.write_text(recipe_text("demo"), encoding="utf-8")
    assert read_config(copy) == read_recipe("demo")
    copy.write_text('[recipe]\nverb = "walk"\n', encoding="utf-8")
    with pytest.raises(UsageError, match="verb of 'recipe'"):
        read_config(copy)


def test_every_recipe_is_explained() -> None:
    text = (ROOT / "docs" / "evidence" / "reproduction.md").read_text(encoding="utf-8")
    for path in RECIPES:
        assert path.stem in text, path.name


def test_recipes_are_read_from_the_package() -> None:
    assert recipe_names() == tuple(path.stem for path in RECIPES)
    stored = read_toml(RECIPES[0].with_name("demo.toml"))
    assert read_recipe("Demo") == {name: it for name, it in stored.items() if name != "recipe"}
    for name in recipe_names():
        assert len(describe_recipe(name)) > 40
        assert describe_recipe(name).endswith(".")
    with pytest.raises(UsageError, match="Did you mean 'demo'"):
        read_config("recipe:dmo")
