"""How the accuracy of a class-incremental learner depends on the order of its classes.

>>> import edgecil
>>> similarity = edgecil.similarity(dataset="cifar100")
>>> space = edgecil.SequenceSpace.equal(100, 10)
>>> [run.label for run in edgecil.protocol("edge", space, similarity=similarity)]
['hard', 'median', 'easy']
"""

from __future__ import annotations

import ast as _ast
from importlib import import_module as _import_module
from pathlib import Path as _Path
from typing import Any as _Any


def _public_names() -> dict[str, str]:
    """Return the module of each public name, as `__init__.pyi` imports them."""
    stub = _Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    imports = [node for node in _ast.parse(stub).body if isinstance(node, _ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


_MODULE_OF = _public_names()

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> _Any:
    """Load a public name from its station at its first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version("edgecil")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'edgecil' has no attribute {name!r}")
    module = _import_module(_MODULE_OF[name])
    # A station with the name of its function can be called; Python binds it here on import.
    return module if module.__name__ == f"edgecil.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"} - {"annotations"})
