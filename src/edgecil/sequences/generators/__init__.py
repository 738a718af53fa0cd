"""Generators: each makes one class sequence; importing a module here registers its own."""

from edgecil.sequences.generators import edge, optimal, random
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
    "edge",
    "generators",
    "get_generator",
    "optimal",
    "random",
    "register",
]
