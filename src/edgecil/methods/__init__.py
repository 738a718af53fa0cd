"""Class-incremental learners, one file each, behind one interface."""

from edgecil.methods import (
    coda_prompt,
    der,
    ease,
    ewc,
    finetune,
    foster,
    hide_prompt,
    icarl,
    joint,
    l2p,
    memo,
    mos,
    ranpac,
    tagfex,
)
from edgecil.methods.method import Environment, Method
from edgecil.methods.recipe import PAPER, Recipe, get_recipe
from edgecil.methods.registry import METHODS, MethodEntry, register_method
from edgecil.methods.resolve import get_method, method_names, resolve_method

__all__ = [
    "METHODS",
    "PAPER",
    "Environment",
    "Method",
    "MethodEntry",
    "Recipe",
    "coda_prompt",
    "der",
    "ease",
    "ewc",
    "finetune",
    "foster",
    "get_method",
    "get_recipe",
    "hide_prompt",
    "icarl",
    "joint",
    "l2p",
    "memo",
    "method_names",
    "mos",
    "ranpac",
    "register_method",
    "resolve_method",
    "tagfex",
]
