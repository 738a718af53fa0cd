"""Generators: each makes one class sequence; a new one is known as soon as it is imported here."""

from edgecil.sequences.generators import adversarial, edge, llm, maxcover, optimal, random
from edgecil.sequences.generators.registry import Generator, generators, get_generator, register

__all__ = [
    "Generator",
    "adversarial",
    "edge",
    "generators",
    "get_generator",
    "llm",
    "maxcover",
    "optimal",
    "random",
    "register",
]
