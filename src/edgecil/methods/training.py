"""The training loop of all learners, and prediction in batches."""

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
        parameters: parameters to optimise.
        data: uint8 pixels (n, c, h, w), labels (n,), and any further per-image inputs (n, …) of
            the loss.
        loss: function of an augmented, normalised batch (b, c, h, w), its labels (b,), and the
            further inputs.
        recipe: epochs, learning rates, batch size, augmentation.
        task: the source of all seeds.
        environment: device, precision, image statistics.
        stage: name that distinguishes several fits within one task.
        views: number of augmented views per image; the loss then gets (views · b, c, h, w) images
            and as many labels: all images in their first view, then all in their second, ….
    """
    pixels, *others = data
    prepare = Pipeline(recipe.augment, environment.mean, environment.std)
    amp = environment.amp and pixels.device.type == "cuda"

    def batch_loss(batch: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        again = batch.repeat(views)
        images = prepare(pixels[again], generator)
        with torch.autocast(pixels.device.type, enabled=amp):
            return loss(images, *(other[again] for other in others))

    minimise(parameters, len(pixels), batch_loss, recipe, task, stage=stage, amp=amp)


def minimise(
    parameters: Iterable[torch.nn.Parameter],
    count: int,
    loss: Callable[[torch.Tensor, torch.Generator], torch.Tensor],
    recipe: Recipe,
    task: Task,
    *,
    stage: str,
    amp: bool = False,
) -> None:
    """Minimise a loss over `count` samples of any kind, batch by batch.

    Args:
        parameters: parameters to optimise.
        count: number of samples.
        loss: function of a batch's indices (b,) and the epoch's generator.
        recipe: epochs, learning rates, batch size.
        task: the source of all seeds.
        stage: name that distinguishes several fits within one task.
        amp: whether to scale gradients, as mixed precision requires.
    """
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    optimizer = _optimizer(trained, recipe)
    scaler = torch.amp.GradScaler(task.device.type, enabled=amp)
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
    optimizer.zero_grad()  # otherwise the gradients stay in memory as long as the network


def _optimizer(parameters: list[torch.nn.Parameter], recipe: Recipe) -> torch.optim.Optimizer:
    rates = {"lr": recipe.learning_rate, "weight_decay": recipe.weight_decay, "foreach": True}
    if recipe.optimizer == "sgd":
        return torch.optim.SGD(parameters, momentum=recipe.momentum, **rates)
    kind = torch.optim.Adam if recipe.optimizer == "adam" else torch.optim.AdamW
    return kind(parameters, **rates)


def in_batches(
    compute: Callable[[torch.Tensor], torch.Tensor], pixels: torch.Tensor, environment: Environment
) -> torch.Tensor:
    """Apply `compute` to normalised images without gradients, batch by batch; rows (n, …)."""
    prepare = Pipeline((), environment.mean, environment.std)
    with torch.no_grad():
        return torch.cat([compute(prepare.plain(part)) for part in pixels.split(_PREDICT_BATCH)])


def _batches(count: int, size: int, generator: torch.Generator) -> list[torch.Tensor]:
    """A random order of `count` indices, in batches.

    A last batch with one image is merged with the batch before it, because batch normalisation
    requires at least two images.
    """
    order = torch.randperm(count, generator=generator, device=generator.device)
    batches = list(order.split(size))
    if len(batches) > 1 and len(batches[-1]) == 1:
        batches[-2:] = [torch.cat(batches[-2:])]
    return batches
