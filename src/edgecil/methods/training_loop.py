"""The training loop of all learners, and prediction in batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from edgecil.data.stored_pixels import StoredPixels
from edgecil.errors import EdgecilError
from edgecil.io.device import room_on
from edgecil.methods.method import Environment
from edgecil.methods.settings import Schedule
from edgecil.methods.task import Task, derive_generator

Loss = Callable[..., Tensor]

_PREDICT_BATCH = 500


def fit(
    parameters: Iterable[torch.nn.Parameter],
    data: tuple[Tensor, ...],
    loss: Loss,
    schedule: Schedule,
    task: Task,
    environment: Environment,
    *,
    stage: str = "learn",
    views: int = 1,
    head: Iterable[torch.nn.Parameter] = (),
) -> None:
    """Minimise a loss over images, which a :class:`Feed` brings to the device.

    Args:
        parameters: parameters to optimise.
        data: uint8 pixels (n, c, h, w) on the host or on the task's device, labels (n,) on the
            task's device, and any further per-image inputs (n, …) of the loss there.
        loss: function of an augmented, normalised batch (b, c, h, w), its labels (b,), and the
            further inputs.
        schedule: epochs, learning rates, batch size, augmentation.
        task: the source of all seeds.
        environment: device, precision, image statistics.
        stage: name that distinguishes several fits within one task.
        views: number of augmented views per image; the loss then gets (views · b, c, h, w) images
            and as many labels: all images in their first view, then all in their second, ….
        head: parameters to optimise at the schedule's `head_factor` times its learning rate.
    """
    schedule = schedule.at(task.index)
    inputs, *further_inputs = data
    prepare = environment.pipeline(schedule.augment)
    with Feed(inputs, task.device) as source:

        def repeated(batch: Tensor) -> Tensor:
            return batch if views == 1 else batch.repeat(views)

        def announce(batches: Sequence[Tensor], _: torch.Generator) -> None:
            if source.streamed:
                parts = [part for batch in batches for part in _parts(batch, schedule)]
                source.begin([repeated(part) for part in parts])

        def batch_loss(batch: Tensor, generator: torch.Generator) -> Tensor:
            rows = repeated(batch)
            images = prepare(source.take(rows), generator)
            labels_and_more = [further[rows] for further in further_inputs]
            if not environment.is_mixed:  # entering autocast takes as long as a small layer
                return loss(images, *labels_and_more)
            with environment.autocast():
                return loss(images, *labels_and_more)

        minimise(
            parameters,
            len(inputs),
            batch_loss,
            schedule,
            task,
            stage=stage,
            scaled=environment.precision == "float16",
            fused=len(environment.shape) == 1,
            head=head,
            on_epoch=announce,
        )


def minimise(
    parameters: Iterable[torch.nn.Parameter],
    count: int,
    loss: Callable[[Tensor, torch.Generator], Tensor],
    schedule: Schedule,
    task: Task,
    *,
    stage: str,
    scaled: bool = False,
    fused: bool = False,
    head: Iterable[torch.nn.Parameter] = (),
    on_epoch: Callable[[Sequence[Tensor], torch.Generator], None] | None = None,
) -> None:
    """Minimise a loss over `count` samples of any kind, batch by batch; see :func:`fit`.

    The loss is a function of a batch's indices (b,) on the device and the epoch's generator.
    Losses and gradients may be `scaled`: small ones vanish in float16. With `fused`, Adam updates a
    parameter in one pass on a processor: a step of a small network takes a fifth less.
    `on_epoch` is called at the start of each epoch with its batches, as indices (b,) on the host,
    and its generator.
    """
    schedule = schedule.at(task.index)
    groups = _groups(parameters, head, schedule)
    trained = [parameter for group in groups for parameter in group["params"]]
    optimizer = _optimizer(groups, schedule, fused=fused and task.device.type == "cpu")
    scaler = torch.amp.GradScaler(task.device.type, enabled=scaled)
    step = 0
    for epoch in range(schedule.duration):  # a step is at most an epoch
        if step == schedule.steps:
            break
        order, generator = shuffle(count, task, stage, epoch)
        batches = _batches(order, schedule)
        if schedule.steps is not None:
            batches = batches[: schedule.steps - step]
        if on_epoch is not None:
            on_epoch(batches, generator)
        # one copy per epoch
        sizes = [len(batch) for batch in batches]
        for batch in torch.cat(batches).to(task.device).split(sizes):
            rate = schedule.rate(epoch if schedule.steps is None else step)
            for group in optimizer.param_groups:
                group["lr"] = group["factor"] * rate
            parts = _parts(batch, schedule)
            for part in parts:
                value = loss(part, generator)
                if part is parts[0]:
                    _clear_gradients(trained)
                share = len(part) / len(batch)
                scaler.scale(value if len(parts) == 1 else share * value).backward()
            if schedule.clip is not None:
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(trained, schedule.clip)
            scaler.step(optimizer)
            scaler.update()
            step += 1
        if schedule.steps is None or step == schedule.steps:
            # scaling skips steps whose loss is not finite; parameters must be finite always
            check_finite(
                trained,
                f"in epoch {epoch + 1} of {schedule.epochs} ({stage})",
                loss=None if scaler.is_enabled() else value,
            )
    _clear_gradients(trained)  # otherwise they stay in memory as long as the network


def shuffle(count: int, task: Task, *purpose: object) -> tuple[Tensor, torch.Generator]:
    """Return a random order (n,) on the host, and the generator of one purpose within a task."""
    generator = task.generator(*purpose)
    # on the processor one generator serves both
    host = generator
    if generator.device.type != "cpu":
        host = derive_generator("cpu", task.seed, *purpose)
    return torch.randperm(count, generator=host), generator


def _parts(batch: Tensor, schedule: Schedule) -> tuple[Tensor, ...]:
    """Split a batch for the accumulation of gradients; no part is empty."""
    if schedule.accumulate == 1:
        return (batch,)
    parts: tuple[Tensor, ...] = batch.tensor_split(min(schedule.accumulate, len(batch)))
    return parts


def _groups(
    parameters: Iterable[torch.nn.Parameter], head: Iterable[torch.nn.Parameter], schedule: Schedule
) -> list[dict[str, Any]]:
    """Group trainable parameters by the factor of their learning rate."""
    plain = [parameter for parameter in parameters if parameter.requires_grad]
    heads = [parameter for parameter in head if parameter.requires_grad]
    if schedule.head_factor == 1.0:
        return [{"params": plain + heads, "factor": 1.0}]
    groups = [{"params": plain, "factor": 1.0}, {"params": heads, "factor": schedule.head_factor}]
    return [group for group in groups if group["params"]]


class NotFiniteError(EdgecilError):
    """A loss or a parameter became infinite or undefined: the training failed."""


def check_finite(tensors: Iterable[Tensor], where: str, *, loss: Tensor | None = None) -> None:
    """Raise an error if a loss or one of the tensors is not finite."""
    every = [("A parameter", tensor.detach()) for tensor in tensors]
    if loss is not None:
        every.insert(0, ("The loss", loss.detach()))
    if not every or bool(torch.stack([value.isfinite().all() for _, value in every]).all()):
        return  # one value was copied from the device
    what, value = next((name, tensor) for name, tensor in every if not tensor.isfinite().all())
    raise NotFiniteError(
        f"{what} became {float(value[~value.isfinite()][0]):g} {where}; choose a lower learning "
        "rate or other settings."
    )


def _optimizer(
    parameters: list[dict[str, Any]], schedule: Schedule, *, fused: bool
) -> torch.optim.Optimizer:
    rates = {"lr": schedule.learning_rate, "weight_decay": schedule.weight_decay}
    in_one_pass = {"fused": True} if fused else {"foreach": True}
    if schedule.optimizer == "adam":
        return torch.optim.Adam(parameters, **in_one_pass, **rates)
    if schedule.optimizer == "sgd":
        return torch.optim.SGD(parameters, momentum=schedule.momentum, foreach=True, **rates)
    return torch.optim.AdamW(parameters, foreach=True, **rates)


def _clear_gradients(parameters: Iterable[torch.nn.Parameter]) -> None:
    """Release the gradients, without the bookkeeping of `Optimizer.zero_grad`."""
    for parameter in parameters:
        parameter.grad = None


def in_batches(
    compute: Callable[[Tensor], Tensor], inputs: Tensor, environment: Environment
) -> Tensor:
    """Apply `compute` to normalised images without gradients, batch by batch; rows (n, …).

    With mixed precision the rows are converted to single precision, which heads and statistics use.
    """
    prepare, device = environment.pipeline(), environment.device
    with torch.no_grad(), environment.autocast():
        rows = torch.cat(
            [compute(prepare.plain(part.to(device))) for part in inputs.split(_PREDICT_BATCH)]
        )
    return rows.float() if environment.precision in ("bfloat16", "float16") else rows


def _batches(order: Tensor, schedule: Schedule) -> list[Tensor]:
    """Split a random order into batches.

    A last batch with one image is merged with the batch before it, because batch normalisation
    requires at least two images.
    """
    batches = list(order.split(schedule.batch_size))
    if schedule.drop_last and len(batches) > 1 and len(batches[-1]) < schedule.batch_size:
        batches.pop()
    if len(batches) > 1 and len(batches[-1]) == 1:
        batches[-2:] = [torch.cat(batches[-2:])]
    return batches


_SHARE = 8  # images are kept on the device if they need at most this part of its free memory
_AHEAD = 2  # batches that are gathered before they are needed


class Feed:
    """Batches of images or vectors (n, …) on a device.

    Images that fit are moved there once. If not, they are `streamed`: a thread gathers batches
    ahead, in pinned memory.
    """

    def __init__(self, inputs: Tensor, device: torch.device) -> None:
        stored = isinstance(inputs, StoredPixels)
        here = inputs.device.type == device.type and not stored
        self.streamed = not here and (stored or _SHARE * inputs.nbytes > room_on(device))
        self._inputs = inputs if here or self.streamed else inputs.to(device)
        self._device = device
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="edgecil-feed")
        self._waiting: Iterator[Tensor] = iter(())
        self._ready: deque[Future[Tensor]] = deque()

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()

    def begin(self, batches: Sequence[Tensor]) -> None:
        """Announce the batches of an epoch, as indices (b,) on the host, in order."""
        if self.streamed:
            self._waiting = iter(batches)
            self._ready.clear()
            self._gather_next(_AHEAD)

    def take(self, batch: Tensor) -> Tensor:
        """Return the next batch on the device, given its indices (b,) there."""
        if not self.streamed:
            return self._inputs[batch]
        images = self._ready.popleft().result()
        self._gather_next(1)
        return images.to(self._device, non_blocking=True)

    def _gather_next(self, count: int) -> None:
        for batch in islice(self._waiting, count):
            self._ready.append(self._thread.submit(self._gather, batch))

    def _gather(self, batch: Tensor) -> Tensor:
        images = self._inputs[batch]
        pinned = self._device.type != "cuda" or images.is_pinned()
        return images if pinned else images.pin_memory()
