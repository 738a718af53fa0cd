"""Generators: each makes one class sequence; importing a module here registers its own."""

from edgecil.sequences.generators import (
    adversarial,
    edge,
    edge_released,
    llm,
    maxcover,
    optimal,
    random,
)
from edgecil.sequences.generators.registry import (
    GENERATORS,
    Generator,
    generators,
    get_generator,
    register,
)

__all__ = [
    "GENERATORS",
    "Generator",
    "adversarial",
    "edge",
    "edge_released",
    "generators",
    "get_generator",
    "llm",
    "maxcover",
    "optimal",
    "random",
    "register",
]
