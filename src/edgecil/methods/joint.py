"""Joint training: a new network on the images of all classes seen so far; an upper bound.

Where the budget is a number of steps per task, it has the steps of all tasks so far.
"""

from __future__ import annotations

from edgecil.methods.entry import register_method
from edgecil.methods.network import NetworkConfig, NetworkMethod
from edgecil.methods.settings import Schedule
from edgecil.methods.task import Task


@register_method("joint", NetworkConfig, "a new network on all data seen so far: the upper bound")
class Joint(NetworkMethod):
    """Cross-entropy over all classes, from scratch at every task."""

    sees_everything = True

    def begin(self, task: Task) -> None:
        """Replace the network by a new one."""
        self.network = self.fresh_network()

    def schedule_of(self, task: Task) -> Schedule:
        """Return a schedule with the steps of all tasks so far; epochs grow with the images."""
        if self.schedule.steps is None:
            return self.schedule
        return self.schedule.lasting(task.index + 1)
