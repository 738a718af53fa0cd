"""Pre-train the bundled vision transformer (src/edgecil/backbones/data/vit-quickdraw.*).

    python tools/pretrain_vit.py [--epochs 36] [--out DIRECTORY]

A small ViT with a convolutional stem learns to tell the 245 classes of `quickdraw-pretrain` apart,
none of which is among the 100 of `quickdraw`: it plays the pre-trained model where there is no
hub. 90 drawings of each class are trained on, 10 watched. Seeded and on one thread, so that the
same torch on the same kind of processor gives the same weights. Output: float16 weights
(safetensors) and a log (JSON) with the loss, the accuracy on the drawings held out, and how well
the frozen features tell the 100 *unseen* classes apart (nearest mean, linear probe).
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import torch
from safetensors.torch import save
from torch.nn import functional

import edgecil
from edgecil.backbones.heads import GrowingLinear
from edgecil.backbones.initialise import build
from edgecil.backbones.vit import ViT, ViTLayout
from edgecil.data import load_dataset
from edgecil.data.augment import Pipeline, channel_statistics
from edgecil.data.augment.pipeline import STEPS
from edgecil.data.augment.steps import warp
from edgecil.io.files import replace_file
from edgecil.methods.task import derive_generator

DATA = Path(__file__).parents[1] / "src/edgecil/backbones/data"
LAYOUT = ViTLayout(
    channels=1, patch=8, width=128, depth=4, heads=4, hidden=512, stem="convolutions"
)
SETTINGS = {
    "batch_size": 128,
    "learning_rate": 2e-3,
    "weight_decay": 0.05,
    "warm_up": 2,
    "label_smoothing": 0.1,
    "mixup": 0.2,
    "augment": ["affine", "flip"],
    "held_out": 10,
    "seed": 0,
}


def random_affine(
    images: torch.Tensor,
    generator: torch.Generator,
    *,
    degrees: float = 15.0,
    translate: float = 0.1,
    scale: tuple[float, float] = (0.9, 1.1),
) -> torch.Tensor:
    """Turn, shift and scale each image about its centre; what comes in from outside is black.

    The angle is at most `degrees` either way, a shift at most `translate` of the height or width,
    and the magnification within `scale`.
    """
    n, _, height, width = images.shape
    draws = torch.rand(4, n, generator=generator, device=images.device)
    angle = (2 * draws[0] - 1) * math.radians(degrees)
    shrink = 1 / (scale[0] + draws[1] * (scale[1] - scale[0]))
    shift = 2 * translate * (2 * draws[2:] - 1)
    cos, sin = angle.cos() * shrink, angle.sin() * shrink
    theta = torch.stack(
        [cos, -sin * (height / width), shift[0], sin * (width / height), cos, shift[1]], dim=1
    )
    return warp(images, theta.view(n, 2, 3))


STEPS["affine"] = random_affine


def splits(name: str, held_out: int | None = None) -> tuple[torch.Tensor, ...]:
    """Pixels and labels to learn from, and pixels and labels to test on.

    With `held_out`, that many of the 100 drawings of each class are tested on; without, the
    dataset's own 40.
    """
    dataset = load_dataset(name)
    parts = [
        torch.from_numpy(array)
        for images in (dataset.train, dataset.test)
        for array in (images.inputs, images.labels)
    ]
    if held_out is None:
        return tuple(parts)
    pixels, labels = torch.cat(parts[::2]), torch.cat(parts[1::2])
    test = torch.zeros(len(labels), dtype=torch.bool)
    for label in range(len(dataset)):
        test[torch.nonzero(labels == label).squeeze(1)[-held_out:]] = True
    return pixels[~test], labels[~test], pixels[test], labels[test]


def in_parts(network: torch.nn.Module, images: torch.Tensor) -> torch.Tensor:
    """The network's outputs, without gradients."""
    with torch.no_grad():
        return torch.cat([network(part) for part in images.split(500)])


def percent_right(predicted: torch.Tensor, labels: torch.Tensor) -> float:
    """Share of right answers in per cent."""
    return round(100 * float((predicted == labels).float().mean()), 2)


def probe(vit: ViT, prepare: Pipeline) -> dict[str, float]:
    """How well frozen features tell the classes of `quickdraw` apart, in per cent.

    `nearest_mean`: the class mean with the largest cosine. `linear_probe`: one-hot labels by ridge
    regression (λ = 1) on standardised features.
    """
    pixels, labels, test_pixels, test_labels = splits("quickdraw")
    features, test = (in_parts(vit, prepare.plain(part)) for part in (pixels, test_pixels))
    one_hot = functional.one_hot(labels).float()
    means = functional.normalize(one_hot.T @ functional.normalize(features, dim=1), dim=1)
    mean, std = features.mean(dim=0), features.std(dim=0)
    features, standard = (features - mean) / std, (test - mean) / std
    gram = features.T @ features + torch.eye(features.shape[1])
    weights = torch.linalg.solve(gram, features.T @ (one_hot - one_hot.mean(dim=0)))
    return {
        "nearest_mean": percent_right((test @ means.T).argmax(dim=1), test_labels),
        "linear_probe": percent_right((standard @ weights).argmax(dim=1), test_labels),
    }


def pretrain(epochs: int, out: Path) -> None:
    """Train, watch, and save."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    pixels, labels, test_pixels, test_labels = splits("quickdraw-pretrain", SETTINGS["held_out"])
    statistics = channel_statistics(pixels)
    prepare = Pipeline(tuple(SETTINGS["augment"]), statistics.mean, statistics.std)
    generator = derive_generator("cpu", SETTINGS["seed"], "weights")
    vit = build(lambda: ViT(LAYOUT, (1, 28, 28)), generator)
    head = GrowingLinear(LAYOUT.width)
    head.grow(int(labels.max()) + 1, generator)
    network = torch.nn.Sequential(vit, head)
    rate, size = SETTINGS["learning_rate"], SETTINGS["batch_size"]
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=rate, weight_decay=SETTINGS["weight_decay"]
    )
    steps_per_epoch = len(labels) // size
    warm_up, total = SETTINGS["warm_up"] * steps_per_epoch, epochs * steps_per_epoch
    log = []
    start, step = time.time(), 0
    for epoch in range(1, epochs + 1):
        network.train()
        generator = derive_generator("cpu", SETTINGS["seed"], "epoch", epoch)
        order, losses = torch.randperm(len(labels), generator=generator), 0.0
        for batch in order.split(size)[:steps_per_epoch]:
            cosine = 0.5 * (1 + math.cos(math.pi * max(0, step - warm_up) / (total - warm_up)))
            for group in optimizer.param_groups:
                group["lr"] = rate * min(1.0, (step + 1) / warm_up) * cosine
            images = prepare(pixels[batch], generator)
            share = SETTINGS["mixup"] * float(torch.rand((), generator=generator))
            partner = torch.randperm(len(batch), generator=generator)
            logits = network((1 - share) * images + share * images[partner])
            loss = sum(
                weight
                * functional.cross_entropy(
                    logits, wanted, label_smoothing=SETTINGS["label_smoothing"]
                )
                for weight, wanted in (
                    (1 - share, labels[batch]),
                    (share, labels[batch][partner]),
                )
            )
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            losses, step = losses + loss.item(), step + 1
        network.eval()
        row = {"epoch": epoch, "loss": round(losses / steps_per_epoch, 4)}
        if epoch % 5 == 0 or epoch == epochs:
            predicted = in_parts(network, prepare.plain(test_pixels)).argmax(dim=1)
            row |= {"held_out_drawings": percent_right(predicted, test_labels)}
            row |= probe(vit, prepare)
        log.append(row)
        print(row, f"{time.time() - start:.0f} s", flush=True)
        save_weights(vit, out, statistics.mean, statistics.std, log)


def save_weights(
    vit: ViT, out: Path, mean: tuple[float, ...], std: tuple[float, ...], log: list[dict]
) -> None:
    """Write float16 weights with what is needed to use them, and the log."""
    weights = {
        name: value.half().contiguous()
        for name, value in vit.state_dict().items()
        if value.is_floating_point()
    }
    with replace_file(out / "vit-quickdraw.safetensors") as file:
        file.write(save(weights))
    report = {
        "layout": vars(LAYOUT),
        "shape": [1, 28, 28],
        "mean": mean,
        "std": std,
        "trained_on": "quickdraw-pretrain",
        "settings": SETTINGS,
        "versions": {"edgecil": edgecil.__version__, "torch": torch.__version__},
        "log": log,
    }
    with replace_file(out / "vit-quickdraw.json") as file:
        file.write((json.dumps(report, indent=1) + "\n").encode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=36)
    parser.add_argument("--out", type=Path, default=DATA)
    arguments = parser.parse_args()
    pretrain(arguments.epochs, arguments.out)
