"""Naive fine-tuning: train on each task with the loss over all classes seen; the lower bound.

Outputs of old classes are pushed down by every image of the new ones, so that little remains but
the last task. Avalanche's `Naive` and Mammoth's `sgd` are this learner; PyCIL's `finetune`, which
takes its loss over the new classes alone, is :mod:`edgecil.methods.finetune`.
"""

from __future__ import annotations

from edgecil.methods.entry import register_method
from edgecil.methods.network import NetworkConfig, NetworkMethod


@register_method("naive", NetworkConfig, "plain training, loss over all classes: the lower bound")
class Naive(NetworkMethod):
    """Cross-entropy over all classes seen, on the images of the current task."""
