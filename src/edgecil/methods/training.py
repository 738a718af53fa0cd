"""The one training loop, and prediction in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from edgecil.methods.method import Setting
from edgecil.methods.recipe import Recipe
from edgecil.scenario.augment import Pipeline
from edgecil.scenario.task import Task

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

_PREDICT_BATCH = 500


def fit(
    parameters: Iterable[torch.nn.Parameter],
    data: tuple[torch.Tensor, torch.Tensor],
    loss: Loss,
    recipe: Recipe,
    task: Task,
    setting: Setting,
    *,
    stage: str = "learn",
) -> None:
    """Minimise a loss over images by SGD.

    Args:
        parameters: what may change.
        data: uint8 pixels (n, c, h, w) and labels (n,).
        loss: of an augmented, normalised batch (b, c, h, w) and its labels (b,).
        recipe: epochs, rates, batches, augmentation.
        task: whose seed all randomness comes from.
        setting: device, precision, image statistics.
        stage: tells apart several fits within one task.
    """
    pixels, labels = data
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    optimizer = torch.optim.SGD(
        trained,
        lr=recipe.learning_rate,
        momentum=recipe.momentum,
        weight_decay=recipe.weight_decay,
        foreach=True,
    )
    prepare = Pipeline(recipe.augment, setting.mean, setting.std)
    half = setting.half and pixels.device.type == "cuda"
    scaler = torch.amp.GradScaler(pixels.device.type, enabled=half)
    for epoch in range(recipe.epochs):
        for group in optimizer.param_groups:
            group["lr"] = recipe.rate(epoch)
        generator = task.generator(stage, epoch)
        for batch in _batches(len(labels), recipe.batch_size, generator):
            images = prepare(pixels[batch], generator)
            with torch.autocast(pixels.device.type, enabled=half):
                value = loss(images, labels[batch])
            optimizer.zero_grad()
            scaler.scale(value).backward()
            scaler.step(optimizer)
            scaler.update()


def in_batches(
    compute: Callable[[torch.Tensor], torch.Tensor], pixels: torch.Tensor, setting: Setting
) -> torch.Tensor:
    """`compute` on normalised images, without gradients, a batch at a time; rows joined."""
    prepare = Pipeline((), setting.mean, setting.std)
    with torch.no_grad():
        return torch.cat([compute(prepare.plain(part)) for part in pixels.split(_PREDICT_BATCH)])


def _batches(count: int, size: int, generator: torch.Generator) -> list[torch.Tensor]:
    """A random order of `count` indices, in batches.

    A last batch of one joins the one before it: batch normalisation cannot learn from one image.
    """
    order = torch.randperm(count, generator=generator, device=generator.device)
    batches = list(order.split(size))
    if len(batches) > 1 and len(batches[-1]) == 1:
        batches[-2:] = [torch.cat(batches[-2:])]
    return batches
