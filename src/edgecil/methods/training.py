"""The training loop of all learners, and prediction in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any

import torch

from edgecil.data.stored_pixels import StoredPixels
from edgecil.errors import EdgecilError
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
    head: Iterable[torch.nn.Parameter] = (),
) -> None:
    """Minimise a loss over images, which are moved to the device batch by batch.

    Args:
        parameters: parameters to optimise.
        data: uint8 pixels (n, c, h, w) on any device, labels (n,) on the task's device, and any
            further per-image inputs (n, …) of the loss.
        loss: function of an augmented, normalised batch (b, c, h, w), its labels (b,), and the
            further inputs.
        recipe: epochs, learning rates, batch size, augmentation.
        task: the source of all seeds.
        environment: device, precision, image statistics.
        stage: name that distinguishes several fits within one task.
        views: number of augmented views per image; the loss then gets (views · b, c, h, w) images
            and as many labels: all images in their first view, then all in their second, ….
        head: parameters to optimise at the recipe's `head_factor` times its learning rate.
    """
    recipe = recipe.at(task.index)
    pixels, *others = data
    prepare = environment.pipeline(recipe.augment)
    amp = environment.amp

    def batch_loss(batch: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        again = batch.repeat(views)
        images = prepare(to_device(pixels, again, task.device), generator)
        with torch.autocast(task.device.type, enabled=amp):
            return loss(images, *(other[again] for other in others))

    def fetch_ahead(batch: torch.Tensor) -> None:
        if isinstance(pixels, StoredPixels):
            for part in _parts(batch, recipe):
                pixels.fetch_ahead(part.repeat(views))

    minimise(
        parameters,
        len(pixels),
        batch_loss,
        recipe,
        task,
        stage=stage,
        amp=amp,
        head=head,
        on_next=fetch_ahead,
    )


def to_device(
    pixels: torch.Tensor, chosen: torch.Tensor | slice, device: torch.device | str
) -> torch.Tensor:
    """Return some images on a device; the others stay where they are."""
    if isinstance(chosen, torch.Tensor):
        chosen = chosen.to(pixels.device)
    return pixels[chosen].to(device, non_blocking=True)


def minimise(
    parameters: Iterable[torch.nn.Parameter],
    count: int,
    loss: Callable[[torch.Tensor, torch.Generator], torch.Tensor],
    recipe: Recipe,
    task: Task,
    *,
    stage: str,
    amp: bool = False,
    head: Iterable[torch.nn.Parameter] = (),
    on_epoch: Callable[[Sequence[torch.Tensor], torch.Generator], None] | None = None,
    on_next: Callable[[torch.Tensor], None] | None = None,
) -> None:
    """Minimise a loss over `count` samples of any kind, batch by batch.

    Args:
        parameters: parameters to optimise.
        count: number of samples.
        loss: function of a batch's indices (b,) and the epoch's generator.
        recipe: epochs, learning rates, batch size.
        task: the source of all seeds.
        stage: name that distinguishes several fits within one task.
        amp: whether to scale gradients where mixed precision requires it.
        head: parameters to optimise at the recipe's `head_factor` times its learning rate.
        on_epoch: called at the start of each epoch with its batches and its generator.
        on_next: called before each batch with the indices of the one after it.
    """
    recipe = recipe.at(task.index)
    groups = _groups(parameters, head, recipe)
    trained = [parameter for group in groups for parameter in group["params"]]
    optimizer = _optimizer(groups, recipe)
    # small gradients vanish in float16, which CUDA uses, and not in bfloat16
    scaler = torch.amp.GradScaler(task.device.type, enabled=amp and task.device.type == "cuda")
    for epoch in range(recipe.epochs):
        for group in optimizer.param_groups:
            group["lr"] = group["factor"] * recipe.rate(epoch)
        generator = task.generator(stage, epoch)
        batches = _batches(count, recipe, generator)
        if on_epoch is not None:
            on_epoch(batches, generator)
        for batch, following in zip_longest(batches, batches[1:]):
            if following is not None and on_next is not None:
                on_next(following)
            parts = _parts(batch, recipe)
            for part in parts:
                value = loss(part, generator)
                if part is parts[0]:
                    optimizer.zero_grad()
                share = len(part) / len(batch)
                scaler.scale(value if len(parts) == 1 else share * value).backward()
            if recipe.clip is not None:
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(trained, recipe.clip)
            scaler.step(optimizer)
            scaler.update()
        # scaling skips steps whose loss is not finite; parameters must be finite always
        check_finite(
            trained,
            f"in epoch {epoch + 1} of {recipe.epochs} ({stage})",
            loss=None if scaler.is_enabled() else value,
        )
    optimizer.zero_grad()  # otherwise the gradients stay in memory as long as the network


def _parts(batch: torch.Tensor, recipe: Recipe) -> tuple[torch.Tensor, ...]:
    """Split a batch for the accumulation of gradients; no part is empty."""
    parts: tuple[torch.Tensor, ...] = batch.tensor_split(min(recipe.accumulate, len(batch)))
    return parts


def _groups(
    parameters: Iterable[torch.nn.Parameter], head: Iterable[torch.nn.Parameter], recipe: Recipe
) -> list[dict[str, Any]]:
    """Group trainable parameters by the factor of their learning rate."""
    others = [parameter for parameter in parameters if parameter.requires_grad]
    heads = [parameter for parameter in head if parameter.requires_grad]
    if recipe.head_factor == 1.0:
        return [{"params": others + heads, "factor": 1.0}]
    groups = [{"params": others, "factor": 1.0}, {"params": heads, "factor": recipe.head_factor}]
    return [group for group in groups if group["params"]]


class NotFiniteError(EdgecilError):
    """A loss or a parameter became infinite or undefined: the training failed."""


def check_finite(
    tensors: Iterable[torch.Tensor], where: str, *, loss: torch.Tensor | None = None
) -> None:
    """Raise an error if a loss or one of the tensors is not finite.

    Args:
        tensors: parameters, of any floating type.
        where: when or what it is; the end of the sentence.
        loss: the last value of the loss, if it is checked too.
    """
    if loss is not None and not torch.isfinite(loss).all():
        raise NotFiniteError(
            f"The loss became {loss.detach().mean().item():g} {where}; choose a lower learning "
            "rate or other settings."
        )
    for tensor in tensors:
        finite = torch.isfinite(tensor)
        if not finite.all():
            value = tensor.detach()[~finite].flatten()[0].item()
            raise NotFiniteError(
                f"A parameter became {value:g} {where}; choose a lower learning rate or other "
                "settings."
            )


def _optimizer(parameters: list[dict[str, Any]], recipe: Recipe) -> torch.optim.Optimizer:
    rates = {"lr": recipe.learning_rate, "weight_decay": recipe.weight_decay, "foreach": True}
    if recipe.optimizer == "sgd":
        return torch.optim.SGD(parameters, momentum=recipe.momentum, **rates)
    kind = torch.optim.Adam if recipe.optimizer == "adam" else torch.optim.AdamW
    return kind(parameters, **rates)


def in_batches(
    compute: Callable[[torch.Tensor], torch.Tensor], pixels: torch.Tensor, environment: Environment
) -> torch.Tensor:
    """Apply `compute` to normalised images without gradients, batch by batch; rows (n, …).

    With mixed precision the rows are converted to single precision, which heads and statistics use.
    """
    prepare, device = environment.pipeline(), environment.device
    with torch.no_grad(), environment.autocast():
        rows = torch.cat(
            [compute(prepare.plain(part.to(device))) for part in pixels.split(_PREDICT_BATCH)]
        )
    return rows.float() if environment.amp else rows


def _batches(count: int, recipe: Recipe, generator: torch.Generator) -> list[torch.Tensor]:
    """Return a random order of `count` indices, in batches.

    A last batch with one image is merged with the batch before it, because batch normalisation
    requires at least two images.
    """
    order = torch.randperm(count, generator=generator, device=generator.device)
    batches = list(order.split(recipe.batch_size))
    if recipe.drop_last and len(batches) > 1 and len(batches[-1]) < recipe.batch_size:
        batches.pop()
    if len(batches) > 1 and len(batches[-1]) == 1:
        batches[-2:] = [torch.cat(batches[-2:])]
    return batches
