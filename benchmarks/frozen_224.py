"""The six learners on a frozen model, end to end at 224 pixels, on a random ViT-B/16.

    python benchmarks/frozen_224.py [--depth 12] [--methods ranpac,ease] [--layouts timm]

Writes random weights of ViT-B/16's width in timm's and in transformers' layout, fakes a small
CIFAR of 32 pixels, and trains two tasks with the setup `published` (one epoch) as PILOT prepares
images. Every row is a process of its own: CPU seconds and peak memory are its own. Both files hold
the same weights, so the accuracies must be equal.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

import edgecil
from edgecil.backbones.initialise import build
from edgecil.backbones.vit import ViT, ViTLayout

METHODS = "simplecil,aper,ranpac,ease,mos,l2p,coda-prompt,hide-prompt"
FILE = "model.safetensors"
STATISTICS = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}


def write_timm(folder: Path, depth: int) -> ViT:
    """Random weights with timm's names."""
    network = build(
        lambda: ViT(ViTLayout(depth=depth), (3, 224, 224)), torch.Generator().manual_seed(0)
    )
    folder.mkdir()
    save_file(network.state_dict(), folder / FILE)
    (folder / "preprocessor_config.json").write_text(json.dumps(STATISTICS), encoding="utf-8")
    return network


def write_transformers(folder: Path, network: ViT, depth: int) -> None:
    """The same weights with the names of transformers' files on the hub."""
    ours = network.state_dict()
    state = {
        "embeddings.cls_token": ours["cls_token"],
        "embeddings.position_embeddings": ours["pos_embed"],
        "embeddings.patch_embeddings.projection.weight": ours["patch_embed.proj.weight"],
        "embeddings.patch_embeddings.projection.bias": ours["patch_embed.proj.bias"],
        "layernorm.weight": ours["norm.weight"],
        "layernorm.bias": ours["norm.bias"],
    }
    names = {
        "norm1": "layernorm_before",
        "norm2": "layernorm_after",
        "attn.proj": "attention.output.dense",
        "mlp.fc1": "intermediate.dense",
        "mlp.fc2": "output.dense",
    }
    for block in range(depth):
        place, theirs = f"blocks.{block}", f"encoder.layer.{block}"
        for kind in ("weight", "bias"):
            for name, part in names.items():
                state[f"{theirs}.{part}.{kind}"] = ours[f"{place}.{name}.{kind}"]
            parts = ours[f"{place}.attn.qkv.{kind}"].chunk(3)
            for name, value in zip(("query", "key", "value"), parts, strict=True):
                state[f"{theirs}.attention.attention.{name}.{kind}"] = value
    folder.mkdir()
    save_file({name: value.contiguous() for name, value in state.items()}, folder / FILE)
    config = {"hidden_size": 768, "num_hidden_layers": depth, "num_attention_heads": 12}
    config |= {"hidden_act": "gelu", "layer_norm_eps": 1e-6, "model_type": "vit"}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "preprocessor_config.json").write_text(json.dumps(STATISTICS), encoding="utf-8")


def write_images(path: Path, each: int) -> None:
    """Four classes of noise around their own colour, 32 pixels."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), each)
    colours = rng.integers(40, 216, (4, 3, 1, 1))
    pixels = (colours[labels] + rng.integers(-40, 40, (len(labels), 3, 32, 32))).astype(np.uint8)
    names = np.array([f"class {label}" for label in range(4)])
    np.savez(path, x_train=pixels, y_train=labels, x_test=pixels, y_test=labels, names=names)


def measure(queue: Any, method: str, weights: str, images: str, out: str) -> None:
    """Train two tasks; accuracy, CPU seconds and peak memory in MB."""
    logging.disable(logging.WARNING)
    start = time.process_time()
    experiment = edgecil.run(
        method=method,
        dataset=images,
        sizes=[2, 2],
        protocol="random",
        budget=1,
        out=out,
        training={"setup": "published", "epochs": 1, "backbone": weights},
        data={"preparation": "centre-crop", "normalisation": "none"},
        execution={"workers": 1},
    )
    [result] = experiment.results()
    peak = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() - start + used.ru_utime + used.ru_stime
    queue.put((result.accuracy, seconds, peak / 1024))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--layouts", default="timm,transformers")
    parser.add_argument("--depth", type=int, default=12)
    parser.add_argument("--images", type=int, default=8, help="per class")
    args = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    print("| method | layout | accuracy | CPU seconds | peak MB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        network = write_timm(folder / "timm", args.depth)
        write_transformers(folder / "transformers", network, args.depth)
        write_images(folder / "images.npz", args.images)
        for method in args.methods.split(","):
            for layout in args.layouts.split(","):
                queue = context.Queue()
                given = (method, str(folder / layout), str(folder / "images.npz"))
                out = str(folder / f"{method}-{layout}")
                worker = context.Process(target=measure, args=(queue, *given, out))
                worker.start()
                worker.join()
                if worker.exitcode:
                    raise SystemExit(f"{method} ({layout}) ended with code {worker.exitcode}.")
                accuracy, seconds, megabytes = queue.get()
                print(
                    f"| {method} | {layout} | {accuracy:.1f} | {seconds:.0f} | {megabytes:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
