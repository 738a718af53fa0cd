"""The learners, one file each, behind one small interface."""

from edgecil.methods import ewc, finetune, icarl, joint
from edgecil.methods.method import Method, Setting
from edgecil.methods.recipe import PAPER, Recipe, get_recipe
from edgecil.methods.registry import MethodEntry, get_method, method_names, register_method

__all__ = [
    "PAPER",
    "Method",
    "MethodEntry",
    "Recipe",
    "Setting",
    "ewc",
    "finetune",
    "get_method",
    "get_recipe",
    "icarl",
    "joint",
    "method_names",
    "register_method",
]
