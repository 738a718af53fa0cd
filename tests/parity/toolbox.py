"""Which toolbox `make parity TOOLBOX=PATH` is given, by a file that only it has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

TOOLBOX = Path(os.environ.get("EDGECIL_TOOLBOX", "no-toolbox"))
MARKS = {
    "PyCIL": "models/tagfex.py",
    "PILOT": "models/ease.py",
    "FeCAM": "FeCAM_vit_cifar100.py",
    "ACIL": "analytic/AnalyticLinear.py",
    "Mammoth": "models/derpp.py",
}


def is_given(name: str) -> bool:
    """Whether PATH is a checkout of this toolbox."""
    return (TOOLBOX / MARKS[name]).is_file()


def requires(*names: str) -> Any:
    """Skip a test unless one of these toolboxes is given."""
    reason = f"make parity TOOLBOX=PATH of {' or '.join(names)}"
    return pytest.mark.skipif(not any(map(is_given, names)), reason=reason)
