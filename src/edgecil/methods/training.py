"""The one training loop, and prediction in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from edgecil.data.augment import Pipeline
from edgecil.methods.method import Environment
from edgecil.methods.recipe import Recipe
from edgecil.methods.task import Task

Loss = Callable[..., torch.Tensor]

_PREDICT_BATCH = 500


def fit(
    parameters: Iterable[torch.nn.Parameter],
    data: tuple[torch.Tensor, ...],
    loss: Loss,
    recipe: Recipe,
    task: Task,
    environment: Environment,
    *,
    stage: str = "learn",
    views: int = 1,
) -> None:
    """Minimise a loss over images.

    Args:
        parameters: what may change.
        data: uint8 pixels (n, c, h, w), labels (n,), and whatever else the loss needs of each
            image, (n, …).
        loss: of an augmented, normalised batch (b, c, h, w), its labels (b,), and the rest.
        recipe: epochs, rates, batches, augmentation.
        task: whose seed all randomness comes from.
        environment: device, precision, image statistics.
        stage: tells apart several fits within one task.
        views: how often each image is augmented; the loss then gets (views · b, c, h, w) and so
            many labels: all images in their first view, then all in their second, and so on.
    """
    pixels, *others = data
    prepare = Pipeline(recipe.augment, environment.mean, environment.std)
    half = environment.half and pixels.device.type == "cuda"

    def batch_loss(batch: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        again = batch.repeat(views)
        images = prepare(pixels[again], generator)
        with torch.autocast(pixels.device.type, enabled=half):
            return loss(images, *(other[again] for other in others))

    minimise(parameters, len(pixels), batch_loss, recipe, task, stage=stage, half=half)


def minimise(
    parameters: Iterable[torch.nn.Parameter],
    count: int,
    loss: Callable[[torch.Tensor, torch.Generator], torch.Tensor],
    recipe: Recipe,
    task: Task,
    *,
    stage: str,
    half: bool = False,
) -> None:
    """Minimise a loss over `count` samples of any kind, batch by batch.

    Args:
        parameters: what may change.
        count: number of samples.
        loss: of a batch's indices (b,), with the epoch's generator.
        recipe: epochs, rates, batches.
        task: whose seed all randomness comes from.
        stage: tells apart several fits within one task.
        half: scale gradients, for losses in half precision.
    """
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    optimizer = _optimizer(trained, recipe)
    scaler = torch.amp.GradScaler(task.device.type, enabled=half)
    for epoch in range(recipe.epochs):
        for group in optimizer.param_groups:
            group["lr"] = recipe.rate(epoch)
        generator = task.generator(stage, epoch)
        for batch in _batches(count, recipe.batch_size, generator):
            value = loss(batch, generator)
            optimizer.zero_grad()
            scaler.scale(value).backward()
            scaler.step(optimizer)
            scaler.update()
    optimizer.zero_grad()  # gradients would otherwise live as long as the network


def _optimizer(parameters: list[torch.nn.Parameter], recipe: Recipe) -> torch.optim.Optimizer:
    rates = {"lr": recipe.learning_rate, "weight_decay": recipe.weight_decay, "foreach": True}
    if recipe.optimizer == "sgd":
        return torch.optim.SGD(parameters, momentum=recipe.momentum, **rates)
    kind = torch.optim.Adam if recipe.optimizer == "adam" else torch.optim.AdamW
    return kind(parameters, **rates)


def in_batches(
    compute: Callable[[torch.Tensor], torch.Tensor], pixels: torch.Tensor, environment: Environment
) -> torch.Tensor:
    """`compute` on normalised images, without gradients, a batch at a time; rows joined."""
    prepare = Pipeline((), environment.mean, environment.std)
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
