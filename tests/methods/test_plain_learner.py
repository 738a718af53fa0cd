"""What a plain learner may ask for: arrays, a DataLoader, class names, any backbone."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from edgecil.backbones import build_backbone
from edgecil.methods.plain_learner import LearnerError
from edgecil.methods.resolve import resolve_method
from edgecil.methods.task import Scenario
from edgecil.testing import check_method
from tests.toys import TASKS, learn, seeded, toy_dataset, toy_environment


class Looped:
    """Class means of a network's features, from a loader."""

    batch_size = 5

    def __init__(self, backbone: str = "resnet-tiny") -> None:
        self.network = backbone
        self.means: dict[int, torch.Tensor] = {}
        self.sizes: list[int] = []
        self.names: dict[int, str] = {}

    def features(self, images: torch.Tensor) -> torch.Tensor:
        network = build_backbone(self.network, tuple(images.shape[1:]), seeded())
        with torch.no_grad():
            return network.eval()(images.float().div(255))

    def fit_task(self, loader: Any, classes: Any, names: Any) -> None:
        rows: dict[int, list[torch.Tensor]] = {}
        self.names |= dict(zip(classes, names, strict=True))
        self.sizes = []
        for images, labels in loader:
            self.sizes.append(len(images))
            for row, label in zip(self.features(images), labels.tolist(), strict=True):
                rows.setdefault(label, []).append(row)
        self.means |= {label: torch.stack(own).mean(dim=0) for label, own in rows.items()}

    def predict(self, images: torch.Tensor) -> torch.Tensor:
        ids = list(self.means)
        means = torch.stack([self.means[label] for label in ids])
        return torch.tensor(ids)[torch.cdist(self.features(images), means).argmin(dim=1)]

    def state_dict(self) -> dict[str, Any]:
        return {str(label): mean for label, mean in self.means.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.means = {int(label): mean for label, mean in state.items()}


class Curious(Looped):
    def fit_task(self, loader: Any, moon: Any) -> None:
        raise AssertionError


def trained(learner: type) -> Any:
    dataset = toy_dataset()
    entry = resolve_method(learner)
    method = entry.build(entry.config(), toy_environment(dataset))
    learn(method, Scenario(dataset), TASKS[:1])
    return method.learner


def test_a_loader_and_names() -> None:
    learner = trained(Looped)
    assert learner.names == {class_: f"spot {class_}" for class_ in TASKS[0]}
    assert set(learner.means) == set(TASKS[0])
    assert learner.sizes == [5, 5, 5, 5, 4]


def test_check_method_covers_it() -> None:
    check_method(Looped)


def test_another_parameter_is_named() -> None:
    with pytest.raises(LearnerError, match="'moon'"):
        trained(Curious)
