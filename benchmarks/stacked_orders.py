"""Orders trained as one stack of parameters (torch.func) beside one head after another.

    python benchmarks/stacked_orders.py [--steps 200]

A step is forward, backward and Adam on a batch of 32 vectors (256 numbers each), for a linear head
and for a perceptron with a hidden layer of 512, 100 classes each, the loss over the 10 new ones.
Prints a Markdown table of processor milliseconds. "In a stack" is a step of one of 32 orders. "A
lone run in a padded stack" is a step of all 32: so that a run has the same bits alone and among
others, a stack always has its full size. "Alone" is a step of
one network with the same fused Adam, which edgecil takes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.nn.functional import cross_entropy

_STACK, _BATCH, _FEATURES, _CLASSES, _OLD = 32, 32, 256, 100, 90
_RATE = 0.001


def make_linear() -> torch.nn.Module:
    """Return a linear head."""
    return torch.nn.Linear(_FEATURES, _CLASSES)


def make_perceptron() -> torch.nn.Module:
    """Return a head on a hidden layer."""
    hidden = torch.nn.Linear(_FEATURES, 512)
    return torch.nn.Sequential(hidden, torch.nn.ReLU(), torch.nn.Linear(512, _CLASSES))


def new_class_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the loss of fine-tuning, over the new classes."""
    return cross_entropy(logits[:, _OLD:], labels)


def alone(network: torch.nn.Module, inputs: Tensor, labels: Tensor) -> Callable[[], object]:
    """Return a step of one network."""
    optimizer = torch.optim.Adam(network.parameters(), lr=_RATE, fused=True)

    def step() -> None:
        optimizer.zero_grad()
        new_class_loss(network(inputs), labels).backward()
        optimizer.step()

    return step


def stacked(
    networks: list[torch.nn.Module], inputs: Tensor, labels: Tensor
) -> Callable[[], object]:
    """Return a step of a stack of networks."""
    parameters, buffers = stack_module_state(networks)
    optimizer = torch.optim.Adam(parameters.values(), lr=_RATE, fused=True)

    def loss(of_network: dict[str, Tensor], batch: Tensor, targets: Tensor) -> Tensor:
        logits = functional_call(networks[0], (of_network, buffers), (batch,))
        return new_class_loss(logits, targets)

    gradients = vmap(grad(loss))

    def step() -> None:
        computed = gradients(parameters, inputs, labels)
        for name, parameter in parameters.items():
            parameter.grad = computed[name]
        optimizer.step()

    return step


def milliseconds(step: Callable[[], object], steps: int) -> float:
    """Return processor milliseconds of a step."""
    for _ in range(3):
        step()
    start = time.process_time()
    for _ in range(steps):
        step()
    return 1000.0 * (time.process_time() - start) / steps


def main() -> None:
    """Print a line for each network."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    steps = parser.parse_args().steps
    torch.set_num_threads(1)
    torch.manual_seed(0)
    inputs = torch.randn(_STACK, _BATCH, _FEATURES)
    labels = torch.randint(_CLASSES - _OLD, (_STACK, _BATCH))
    print("| network | alone | in a stack | ratio | a lone run in a padded stack | ratio |")
    print("|---|---|---|---|---|---|")
    for name, make in (("linear", make_linear), ("mlp", make_perceptron)):
        of_one = milliseconds(alone(make(), inputs[0], labels[0]), steps)
        of_all = milliseconds(stacked([make() for _ in range(_STACK)], inputs, labels), steps)
        of_order = of_all / _STACK
        print(
            f"| {name} | {of_one:.3f} | {of_order:.3f} | {of_one / of_order:.1f} "
            f"| {of_all:.2f} | {of_all / of_one:.1f} |"
        )


if __name__ == "__main__":
    main()
