"""Adam in few operations: torch's bookkeeping takes longer than the arithmetic of a linear head."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import torch
from torch import Tensor


@dataclass(eq=False, slots=True)
class _Moments:
    """Running means of a parameter's gradient and of its square, after some steps."""

    mean: Tensor
    square: Tensor
    steps: int = 0


class Adam(torch.optim.Adam):  # type: ignore[misc]
    """Adam of `torch.optim` with `foreach`, to the last bit, without options that nobody uses.

    It keeps its moments itself and has no state dictionary: a task is trained in one go.
    """

    def __init__(self, groups: list[dict[str, Any]], *, lr: float, weight_decay: float) -> None:
        super().__init__(groups, lr=lr, weight_decay=weight_decay, foreach=True)
        self._moments: dict[Tensor, _Moments] = {}

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, closure: Callable[[], float] | None = None) -> None:
        """Change all parameters that have a gradient; no closure is called."""
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            if parameters:
                self._update(parameters, group)

    def _update(self, parameters: list[Tensor], group: dict[str, Any]) -> None:
        moments = [self._moments.get(parameter) or self._new(parameter) for parameter in parameters]
        means = [moment.mean for moment in moments]
        squares = [moment.square for moment in moments]
        gradients = [parameter.grad for parameter in parameters]
        if group["weight_decay"] != 0.0:
            gradients = torch._foreach_add(gradients, parameters, alpha=group["weight_decay"])
        first, second = group["betas"]
        torch._foreach_lerp_(means, gradients, 1 - first)
        torch._foreach_mul_(squares, second)
        torch._foreach_addcmul_(squares, gradients, gradients, 1 - second)
        factors, roots = [], []
        for moment in moments:
            moment.steps += 1
            factors.append(group["lr"] / (1 - first**moment.steps) * -1)
            roots.append(sqrt(1 - second**moment.steps))
        divisors = torch._foreach_sqrt(squares)
        torch._foreach_div_(divisors, roots)
        torch._foreach_add_(divisors, group["eps"])
        torch._foreach_addcdiv_(parameters, means, divisors, factors)

    def _new(self, parameter: Tensor) -> _Moments:
        moments = _Moments(torch.zeros_like(parameter), torch.zeros_like(parameter))
        self._moments[parameter] = moments
        return moments
