"""The directory of an experiment whose call names none: `runs/quickdraw-icarl-ewc-1f2e3d`."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from edgecil.data.data_slot import OBJECT_PREFIX
from edgecil.experiments.config import ExperimentConfig
from edgecil.experiments.config_values import config_text
from edgecil.sequences.protocols import RECOMMENDED

PARENT = Path("runs")
_MOST_NAMED = 3
_DIGITS = 6


def default_directory(config: ExperimentConfig) -> Path:
    """Return a directory that is the same whenever dataset, methods and settings are.

    Protocols, budget, repeats and metric are left out of the name: another call with more orders
    adds to the experiment.

    >>> config = ExperimentConfig(("icarl", "ewc"), "quickdraw", tasks=3)
    >>> default_directory(config).as_posix()  # doctest: +ELLIPSIS
    'runs/quickdraw-icarl-ewc-...'
    """
    dataset = config.dataset
    if dataset.startswith(OBJECT_PREFIX):
        dataset = dataset.removeprefix(OBJECT_PREFIX).rpartition("-")[0]
    fixed = replace(
        config,
        dataset=dataset,
        protocol=RECOMMENDED,
        sequences={},
        budget=None,
        order_seed=None,
        repeats=1,
        metric="accuracy",
    )
    digest = hashlib.sha256(config_text(fixed).encode()).hexdigest()[:_DIGITS]
    methods = config.method_names
    if len(methods) > _MOST_NAMED:
        methods = (f"{len(methods)} methods",)
    words = [Path(dataset).stem, *methods, digest]
    return PARENT / re.sub(r"[^\w.]+", "-", "-".join(words))
