"""Classification heads that gain outputs as classes arrive."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional


class GrowingHead(nn.Module):  # type: ignore[misc]
    """A head with one row of weights per class, initially without classes.

    Growing and loading replace parameters, so create optimisers afterwards. A state with any number
    of classes can be loaded.

    The weights are (classes, d).
    """

    weight: torch.Tensor
    _bound_factor = 1.0  # new weights are uniform in ± factor / √d

    def __init__(self, feature_size: int) -> None:
        super().__init__()
        self.feature_size = feature_size
        self.weight = nn.Parameter(torch.zeros(0, feature_size))

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.weight)

    def grow(self, count: int, generator: torch.Generator) -> None:
        """Add `count` classes; existing rows do not change."""
        rows = self._draw(count, self.feature_size, generator)
        self._replace(torch.cat([self.weight.detach(), rows]))

    def widen(self, count: int, generator: torch.Generator) -> None:
        """Accept `count` more features; existing weights do not change."""
        self.feature_size += count
        columns = self._draw(self.classes, count, generator)
        self._replace(torch.cat([self.weight.detach(), columns], dim=1))

    def align(self, old_count: int, *, enlarge: bool = True) -> None:
        """Scale the weights of the classes from `old_count` on to the mean norm of the others.

        Zhao et al. (CVPR 2020), "Maintaining discrimination and fairness in class incremental
        learning": training on many new and few old images gives new classes larger norms. Without
        `enlarge`, smaller weights are left as they are.
        """
        with torch.no_grad():
            lengths = self.weight.norm(dim=1)
            factor = lengths[:old_count].mean() / lengths[old_count:].mean()
            self.weight[old_count:] *= factor if enlarge else factor.clamp(max=1.0)

    def _draw(self, rows: int, columns: int, generator: torch.Generator) -> torch.Tensor:
        bound = self._bound_factor / math.sqrt(self.feature_size)
        drawn = torch.empty(rows, columns, device=generator.device)
        return drawn.uniform_(-bound, bound, generator=generator).to(self.weight)

    def _replace(self, weight: torch.Tensor) -> None:
        self.weight = nn.Parameter(weight, requires_grad=self.weight.requires_grad)

    def _load_from_state_dict(
        self, state_dict: dict[str, torch.Tensor], prefix: str, *args: Any
    ) -> None:
        stored = state_dict.get(f"{prefix}weight")
        if stored is not None and stored.shape[1:] == self.weight.shape[1:]:
            self._replace(self.weight.new_empty(stored.shape))
        super()._load_from_state_dict(state_dict, prefix, *args)


class GrowingLinear(GrowingHead):
    """Logits linear in the features, with a bias; (n, d) to (n, classes).

    New weights are uniform with variance 1 / d (Kaiming, linear), new biases zero.
    """

    _bound_factor = math.sqrt(3.0)

    def __init__(self, feature_size: int) -> None:
        super().__init__(feature_size)
        self.bias = nn.Parameter(torch.zeros(0))

    @classmethod
    def of(cls, feature_size: int, classes: int, generator: torch.Generator) -> GrowingLinear:
        """Return a head with the given number of classes."""
        head = cls(feature_size)
        head.grow(classes, generator)
        return head

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return logits (n, classes) of features (n, d)."""
        return functional.linear(features, self.weight, self.bias)

    def _replace(self, weight: torch.Tensor) -> None:
        super()._replace(weight)
        bias = self.bias.new_zeros(len(weight))
        kept = min(len(weight), len(self.bias))
        bias[:kept] = self.bias.detach()[:kept]
        self.bias = nn.Parameter(bias, requires_grad=self.bias.requires_grad)


class ZeroLinear(GrowingLinear):
    """A linear head whose new weights are zero, for features that are not trained.

    The loss is then convex in the weights, and no random weight has to be overwritten.
    """

    _bound_factor = 0.0


class SmallLinear(GrowingLinear):
    """A linear head whose new weights are uniform with variance 1 / (3 d), as torch's are."""

    _bound_factor = 1.0


class CosineHead(GrowingHead):
    """Cosine between features and class weights, times a learned scale; (n, d) to (n, classes).

    As in LUCIR (Hou et al., CVPR 2019): the norm of a weight vector has no effect.
    """

    def __init__(self, feature_size: int) -> None:
        super().__init__(feature_size)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return logits (n, classes) in ± scale of features (n, d)."""
        return self.scale * functional.linear(
            functional.normalize(features, dim=1), functional.normalize(self.weight, dim=1)
        )
