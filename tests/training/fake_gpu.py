"""A GPU that is the processor, in processes whose environment has `EDGECIL_TEST_GPU`."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from edgecil.methods import register_method
from edgecil.methods.task import Scenario, Task
from tests.training.strange import Instant

GPU = "Fake GPU"
VARIABLE = "EDGECIL_TEST_GPU"


@dataclass(frozen=True)
class Settings:
    """Where trainings write which GPU they have, and how many of them meet."""

    folder: str = ""
    together: int = 1


@register_method("visible-gpu", Settings, "notes the GPU that Ray gives to it")
class VisibleGpu(Instant):
    """Waits for others that train at the same time."""

    def learn(self, task: Task) -> None:
        settings: Any = self.config
        folder = Path(settings.folder)
        name = "-".join(map(str, task.seen))
        (folder / name).write_text(os.environ["CUDA_VISIBLE_DEVICES"], encoding="utf-8")
        deadline = time.monotonic() + 60.0
        while len(list(folder.iterdir())) < settings.together:
            assert time.monotonic() < deadline, "the others never came"
            time.sleep(0.02)
        super().learn(task)


def on_processor(self: Scenario, device: torch.device | str) -> Scenario:
    return self


def gpu_type() -> str | None:
    """As the executor asks for it, in a process that has imported this module."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def unusable_gpu() -> str | None:
    """As on a node whose torch has no CUDA."""
    return None


if VARIABLE in os.environ:
    torch.cuda.is_available = lambda: True
    torch.cuda.get_device_name = lambda device=None: GPU
    torch.cuda.max_memory_reserved = lambda device=None: 1
    torch.cuda.memory_reserved = lambda device=None: 1
    torch.cuda.mem_get_info = lambda device=None: (1, 2)
    torch.cuda.reset_peak_memory_stats = lambda device=None: None
    Scenario.on = on_processor
