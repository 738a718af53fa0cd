"""SimpleCIL: class means of a frozen model's features, classified by cosine similarity.

Zhou et al. (IJCV 2024), "Revisiting Class-Incremental Learning with Pre-Trained Models:
Generalizability and Adaptivity are All You Need". Nothing is trained.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import normalize

from edgecil.methods.adapters import mean_features
from edgecil.methods.entry import register_method
from edgecil.methods.frozen_features import PretrainedMethod, in_double
from edgecil.methods.method import Environment, Need
from edgecil.methods.settings import Settings
from edgecil.methods.task import Scenario, Task


@register_method("simplecil", Settings, "class means of frozen features, nothing trained (2024)")
class SimpleCIL(PretrainedMethod):
    """Classifies by the cosine similarity to class means; APER has other features."""

    need: ClassVar[Need] = "features"
    order_free: ClassVar[bool] = True
    kept: ClassVar[tuple[str, ...]] = ("prototypes",)
    trains = False

    def __init__(self, config: Any, environment: Environment) -> None:
        super().__init__(config, environment)
        self.prototypes = torch.zeros(0, 0, device=environment.device)  # (classes seen, d)

    def features(self, inputs: Tensor) -> Tensor:
        """Return features (n, d) of uint8 images (n, c, h, w)."""
        return self.frozen_features(inputs)

    def learn(self, task: Task) -> None:
        """Add the means of the task's classes."""
        means = mean_features(self.features(task.inputs), task.labels)
        earlier = self.prototypes.reshape(-1, means.shape[1])
        self.prototypes = torch.cat([earlier, means])
        self.seen = task.seen

    def classify(self, inputs: Tensor) -> dict[str, Tensor]:
        """Return the class whose prototype has the largest cosine similarity."""
        return {"head": self.cosines(inputs).argmax(dim=1)}

    def cosines(self, inputs: Tensor) -> Tensor:
        """Return the cosine similarities (n, classes seen) of images to prototypes.

        They are rounded from double precision, so that a similarity does not depend on the other
        images and prototypes.
        """
        features = normalize(in_double(self.features(inputs)), dim=1)
        prototypes = normalize(in_double(self.prototypes), dim=1)
        return (features @ prototypes.T).float()

    def scores(self, scenario: Scenario) -> Tensor:
        """Return the cosine similarities (n_test, classes) of all test images."""
        self.learn_at_once(scenario)
        return self.cosines(scenario.test.inputs)
