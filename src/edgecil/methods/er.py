"""ER: replay exemplars beside each task's images.

Experience replay (Chaudhry et al. 2019, "On tiny episodic memories in continual learning") in the
class-incremental form of PyCIL's `replay`: cross-entropy over all classes on the images of the task
and of a herded memory.
"""

from __future__ import annotations

from edgecil.methods.entry import register_method
from edgecil.methods.network import NetworkMethod, ReplayConfig


@register_method("er", ReplayConfig, "replay of exemplars, nothing else (2019)")
class ER(NetworkMethod):
    """Cross-entropy on the task and the exemplars."""

    classifiers = ("head", "nme")
