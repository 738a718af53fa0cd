"""Joint training: a new network on the images of all classes seen so far; an upper bound."""

from __future__ import annotations

from edgecil.methods.entry import register_method
from edgecil.methods.network import NetworkConfig, NetworkMethod
from edgecil.methods.task import Task


@register_method("joint", NetworkConfig, "a new network on all data seen so far: the upper bound")
class Joint(NetworkMethod):
    """Cross-entropy over all classes, from scratch at every task."""

    sees_everything = True

    def begin(self, task: Task) -> None:
        """Replace the network by a new one."""
        self.network = self.fresh_network()
