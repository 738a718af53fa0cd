"""DER: a new feature extractor for every task, beside the frozen ones of earlier tasks.

Yan et al. (CVPR 2021), "DER: Dynamically Expandable Representation for Class Incremental
Learning", without masks and pruning, like the authors' and PyCIL's code. Dark Experience Replay is
a different method.
"""

from __future__ import annotations

from edgecil.methods.entry import register_method
from edgecil.methods.expansion import ExpandingConfig, ExpandingMethod


@register_method(
    "der",
    ExpandingConfig,
    "a new extractor per task, the old ones frozen (2021)",
    fast_settings={"balancing": 30},
)
class DER(ExpandingMethod):
    """:class:`ExpandingMethod` with whole backbones as extractors."""
