"""What one setting stands for: `as` and published setups give the options that are not given."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from edgecil.errors import UsageError, unknown_name_error, warn
from edgecil.experiments.config import GROUPS, Data, Training
from edgecil.io.files import read_toml
from edgecil.methods import get_method
from edgecil.methods.setups import NAMED, Setup, find_setup
from edgecil.similarity.build import FILE_OPTIONS

PRESETS = read_toml(Path(__file__).with_name("presets.toml"))


def expand_presets(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return options, nested as in a TOML file, with those that `as` and a setup stand for."""
    expanded = dict(values)
    reading = expanded.pop("as", None)
    if reading is not None:
        if reading not in PRESETS:
            raise unknown_name_error("reading in `as`", str(reading), PRESETS)
        expanded = _fill(expanded, PRESETS[reading])
        if reading == "paper":
            expanded = _fill(expanded, _paper_network(_methods(expanded)))
    return _with_setups(expanded)


def _fill(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with defaults in place of those that are not given."""
    filled = dict(values)
    for name, default in defaults.items():
        value = values.get(name)
        if name not in GROUPS:
            filled[name] = default if value is None else value
            continue
        options = GROUPS[name].options_in(value)
        from_file = name == "similarity" and not options.keys().isdisjoint(FILE_OPTIONS)
        filled[name] = options if from_file else {**default, **options}
    return filled


def _methods(values: Mapping[str, Any]) -> list[str]:
    """Return the names of the methods, without those that are not edgecil's."""
    methods = values.get("method") or ()
    specs = methods.split(",") if isinstance(methods, str) else methods
    texts = [spec.strip() for spec in specs if isinstance(spec, str) and ":" not in spec]
    return [get_method(text).name for text in texts]


def _paper_network(methods: list[str]) -> dict[str, Any]:
    """Return the paper's network: a ViT for learners on a frozen model, else a ResNet-18."""
    frozen = {get_method(name).pretrained for name in methods}
    if len(frozen) > 1:
        raise UsageError(
            "The paper trains some of these methods from scratch and others on a pre-trained "
            f"model: {', '.join(methods)}; run them in two directories."
        )
    if frozen == {True}:
        return {"training": {"backbone": "vit-b16-in21k"}, "data": {"image_size": 224}}
    return {"training": {"backbone": "resnet18"}}


def _with_setups(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with network and preparation of images of published setups.

    They belong to the dataset that a setup was published for; with another one, nothing is added.
    """
    name = Training.options_in(values.get("training")).get("setup", "fast")
    alone = NAMED.get(name)
    if alone is not None:
        values = _fill(values, {"method": [alone.method], "dataset": alone.dataset})
    dataset = values.get("dataset")
    published = (find_setup(method, name, dataset) for method in _methods(values))
    setups = [setup for setup in published if setup is not None and setup.dataset == dataset]
    if not setups:
        return values
    networks = {setup.method: setup.backbone for setup in setups}
    if len(set(networks.values())) == 1:
        values = _fill(values, {"training": {"backbone": setups[0].backbone}})
    elif "backbone" not in (training := Training.options_in(values.get("training"))):
        of_methods = training.get("set", {})
        both = {
            method: {"backbone": networks[method], **of_methods.get(method, {})}
            for method in networks
        }
        values = {**values, "training": {**training, "set": {**of_methods, **both}}}
    images, data = _images(setups), Data.options_in(values.get("data"))
    for key, value in images.items():
        if data.get(key, value) != value:
            warn(
                f"The setup {setups[0].name!r} was published with {key} {value}. Got "
                f"{data[key]}, so the stated accuracy does not apply."
            )
    return _fill(values, {"data": images})


def _images(setups: list[Setup]) -> dict[str, Any]:
    """Return the preparation that setups share."""
    images: dict[str, Any] = dict(setups[0].images)
    for setup in setups[1:]:
        if setup.images != images:
            raise UsageError(
                f"The setups {setups[0].name!r} and {setup.name!r} prepare images differently "
                f"({', '.join(setups[0].images.values())}; {', '.join(setup.images.values())}); "
                "run them in two directories."
            )
    if setups[0].backbone.startswith("vit"):
        images["image_size"] = 224
    return images
