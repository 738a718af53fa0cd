"""DER: a new feature extractor for every task beside the frozen ones of all tasks before.

Yan et al. (CVPR 2021), "DER: Dynamically Expandable Representation for Class Incremental
Learning", without its masks and pruning, as the authors' and PyCIL's code are. Not to be confused
with Dark Experience Replay.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgecil.methods.expansion import ExpandingConfig, ExpandingMethod
from edgecil.methods.registry import register_method


@dataclass(frozen=True)
class DERConfig(ExpandingConfig):
    """Hyper-parameters of DER, which are those of every expanding method."""

    balancing: int = 30


@register_method("der", DERConfig, "a new extractor per task, the old ones frozen (2021)")
class DER(ExpandingMethod):
    """What :class:`ExpandingMethod` does with whole backbones as extractors, and no more."""
