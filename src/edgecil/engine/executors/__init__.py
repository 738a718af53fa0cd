"""Executors: where nodes are trained. The plan, the store and the results are the same for all."""

from edgecil.engine.executors.executor import Executor, Finished, Job, get_executor

__all__ = ["Executor", "Finished", "Job", "get_executor"]
