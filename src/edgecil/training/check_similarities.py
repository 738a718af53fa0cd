"""What a comparison of similarities requires, before any is computed."""

from __future__ import annotations

from pathlib import Path

from edgecil.sequences.space import SequenceSpace
from edgecil.similarity.build import find_captions, find_classes
from edgecil.similarity.described import read_described
from edgecil.similarity.images import PIXELS
from edgecil.similarity.text import DEFAULT_ENCODER
from edgecil.training.requirements import Requirements


def check_similarities(source: str | Path, root: str | Path | None = None) -> Requirements:
    """Return what the similarities in a TOML file or a recipe require, found or missing.

    Args:
        source: the file, or `recipe:NAME`.
        root: directory of the dataset's images.
    """
    described = read_described(source)
    requirements = Requirements()
    classes = find_classes(described.dataset)
    with requirements.trying("tasks"):
        sizes = SequenceSpace.choose(len(classes), **described.tasks).sizes
        requirements.add("tasks", f"{len(sizes)} tasks of {len(classes)} classes")
    if any("images" in options for options in described.options.values()):
        requirements.add_dataset(described.dataset, root)
    for name, options in described.options.items():
        with requirements.trying(f"similarity {name}"):
            if "names" in options:
                find_classes(described.dataset, options["names"])
            if "captions" in options:
                find_captions(classes, options["captions"])
    encoders = {
        (options.get("encoder", DEFAULT_ENCODER), options.get("weights")): None
        for options in described.options.values()
        if "images" not in options
    }
    for encoder, weights in encoders:
        requirements.add_encoder(encoder, weights)
    networks = dict.fromkeys(
        options.get("images", PIXELS) for options in described.options.values()
    )
    for network in networks:
        if network != PIXELS:
            with requirements.trying(f"backbone {network}"):
                requirements.add_backbone(network)
    return requirements
