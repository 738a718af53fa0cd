"""Executors: where nodes are trained. The plan, the store and the results are the same for all."""

from edgecil.engine.executors.executor import EXECUTORS, Executor, Finished, Job, get_executor

__all__ = ["EXECUTORS", "Executor", "Finished", "Job", "get_executor"]
