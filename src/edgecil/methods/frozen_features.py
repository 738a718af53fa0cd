"""Base class of learners on the features of a frozen network."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from edgecil.backbones.features import content_name, feature_bank, frozen_features, network_name
from edgecil.backbones.pretrained import frozen_backbone, frozen_vit
from edgecil.backbones.vit import Sockets, ViT
from edgecil.methods.method import Environment, Method, Need, suited_to
from edgecil.methods.settings import PAPER, Schedule
from edgecil.methods.task import Scenario


class PretrainedMethod(Method):
    """Learns on the features of a frozen network, which all methods in a process share."""

    need: ClassVar[Need] = "sockets"  # of prompts and adapters
    frozen = True

    def __init__(self, config: Any, environment: Environment) -> None:
        super().__init__(suited_to(environment.backbone, environment))
        self.config = config
        self.schedule: Schedule = getattr(config, "schedule", PAPER)
        self._prepare = self.environment.pipeline()

    @property
    def on_vectors(self) -> bool:
        """Whether the inputs are vectors, which are the features."""
        return len(self.environment.shape) == 1

    @cached_property
    def vit(self) -> ViT:
        """The transformer in evaluation mode, without gradients; not part of the state."""
        environment = self.environment
        return frozen_vit(environment.backbone, environment.shape, environment.device)

    @cached_property
    def network(self) -> str:
        """Name of the network, derived from its content."""
        environment = self.environment
        return network_name(
            environment.backbone, self._prepare, environment.device, precision=environment.precision
        )

    @property
    def feature_size(self) -> int:
        """Length d of a frozen feature vector."""
        environment = self.environment
        if self.on_vectors:
            return environment.shape[0]
        network = frozen_backbone(environment.backbone, environment.shape, environment.device)
        return network.feature_size

    def frozen_features(self, inputs: Tensor) -> Tensor:
        """Return features (n, d) of the unmodified network for images, or the vectors given."""
        if self.on_vectors:
            return inputs.to(self.environment.device)
        return frozen_features(
            self.environment.backbone,
            inputs,
            self.environment.device,
            keep=self.environment.shared is not None,
            prepare=self._prepare,
            precision=self.environment.precision,
        )

    def initial_features(self, inputs: Tensor) -> Tensor:
        """Return features (n, d) of the frozen network, or the vectors given."""
        return self.frozen_features(inputs)

    def learn_at_once(self, scenario: Scenario) -> None:
        """Learn all classes of a dataset as one task."""
        everything = (tuple(range(scenario.classes)),)
        with scenario.task(everything, self.environment.seed) as task:
            self.learn(task)

    def adapted_features(
        self, inputs: Tensor, adapters: torch.nn.ModuleList, *, share: bool = True
    ) -> Tensor:
        """Return features (n, d) of the transformer with fixed adapters, one per block.

        Rows are cached by the adapters' content; on disk too (`share`), which pays if several
        sequences have the same adapters.
        """
        shared = self.environment.shared if share else None
        directory = None if shared is None else Path(shared) / "features"
        bank = feature_bank(directory, content_name(self.network, adapters.state_dict()))
        sockets = Sockets(adapters=adapters)

        def compute(part: Tensor) -> Tensor:
            with self.environment.autocast():
                return self.vit(self._prepare.plain(part), sockets).float()

        return bank.rows(inputs, compute, self.environment.device)


def in_double(values: Tensor) -> Tensor:
    """Return values in double precision, on the CPU if their device has none."""
    return (values.cpu() if values.device.type == "mps" else values).double()
