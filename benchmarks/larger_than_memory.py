"""Training from disk: a dataset four times as large as the memory that the process may use.

    python benchmarks/larger_than_memory.py [--megabytes 512] [--side 64]

Writes random images of 4 x `megabytes`, then trains one epoch of two tasks with fine-tuning and
ResNet-tiny, in a new process each: once with all images in memory, once from disk with the
anonymous memory of the process limited to `megabytes` beyond what it uses before training
(RLIMIT_DATA, under which the first way cannot even start). Both must give the same accuracies.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

CLASSES = 20
MEGABYTE = 2**20


def write(path: Path, count: int, side: int) -> None:
    """Random images, chunk by chunk."""
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        for begin in range(0, count, 1000):
            size = (min(1000, count - begin), 3, side, side)
            file.write(rng.integers(0, 256, size, dtype=np.uint8).tobytes())


def train(path: Path, count: int, side: int, megabytes: int, storage: str) -> dict[str, object]:
    """One epoch in this process: speed, peak memory and right answers."""
    from dataclasses import replace

    import torch

    from edgecil.data import Dataset, Examples
    from edgecil.data.augment import channel_statistics
    from edgecil.data.stored_pixels import stored_tensor
    from edgecil.experiments import Node
    from edgecil.methods import Environment, get_method
    from edgecil.methods.task import Scenario
    from edgecil.methods.training_loop import Feed
    from edgecil.training.node_training import WorkerContext, train_node

    tests = 400
    entry = get_method("finetune")
    schedule, memory = entry.schedule("fast", "resnet-tiny")
    schedule = replace(schedule, epochs=1, batch_size=128)
    config = entry.configure(schedule, memory, entry.settings("fast"))
    torch.set_num_threads(1)
    # One step and one read ahead before the limit: they import modules and start a thread.
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8))
    network(torch.zeros(2, 3, side, side)).sum().backward()
    torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9, foreach=True).step()
    few = stored_tensor(np.memmap(path, np.uint8, "r", 0, (200, 3, side, side)))
    with Feed(few, torch.device("cpu")) as source:
        source.begin([torch.arange(128)])
        source.take(torch.arange(128))
    before = _anonymous()
    if storage == "disk":
        limit = _data() + megabytes * MEGABYTE
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    row = 3 * side * side
    parts = []
    for begin, size in ((0, count - tests), (count - tests, tests)):
        pixels = np.memmap(path, np.uint8, "r", begin * row, (size, 3, side, side))
        labels = np.arange(size, dtype=np.int64) % CLASSES
        parts.append(Examples(pixels if storage == "disk" else np.array(pixels), labels))
    names = tuple(map(str, range(CLASSES)))
    dataset = Dataset("random", names, *parts)
    statistics = channel_statistics(stored_tensor(dataset.train.inputs))
    environment = Environment(dataset.shape, statistics.mean, statistics.std, "resnet-tiny")
    context = WorkerContext(Scenario(dataset), environment, {"finetune": config})
    context.prepare()
    half = CLASSES // 2
    tasks = (tuple(range(half)), tuple(range(half, CLASSES)))
    state, correct = None, []
    start, processor = time.perf_counter(), time.process_time()
    for end in (1, 2):
        node = Node("finetune", 0, tasks[:end])
        outcome, state = train_node(context, node, state, keep=True)
        if outcome.result is None:
            return {"error": outcome.error}
        correct.append(outcome.result.correct)
    seconds, used = time.perf_counter() - start, time.process_time() - processor
    return {
        "images per second": count / seconds,
        "images per processor second": count / used,
        "anonymous megabytes": (_peak() - before) / MEGABYTE,
        "correct": correct,
    }


def _status(name: str) -> int:
    line = next(
        line
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        if line.startswith(name)
    )
    return int(line.split()[1]) * 1024


def _anonymous() -> int:
    return _status("RssAnon")


def _data() -> int:
    return _status("VmData")


def _peak() -> int:
    """Anonymous memory now; the peak of VmHWM would count pages of the file as well."""
    return _status("RssAnon")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=512)
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    count = 4 * given.megabytes * MEGABYTE // (3 * given.side**2)
    if given.child:
        path, storage = given.child
        print(json.dumps(train(Path(path), count, given.side, given.megabytes, storage)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pixels"
        write(path, count, given.side)
        print(f"{count:,} images of {given.side} pixels, {path.stat().st_size / MEGABYTE:,.0f} MB;")
        print(f"limit of the memory for training from disk: {given.megabytes} MB")
        results = {}
        for storage in ("memory", "disk"):
            options = [f"--{name}={getattr(given, name)}" for name in ("megabytes", "side")]
            words = [sys.executable, __file__, *options, "--child", str(path), storage]
            reply = subprocess.run(words, capture_output=True, text=True)
            if reply.returncode:
                raise SystemExit(reply.stderr)
            results[storage] = json.loads(reply.stdout.splitlines()[-1])
            print(storage, {k: v for k, v in results[storage].items() if k != "correct"})
        same = results["memory"].get("correct") == results["disk"].get("correct") is not None
        print("the same results" if same else "DIFFERENT RESULTS")
        for unit in ("images per second", "images per processor second"):
            print(f"{unit}: {results['disk'][unit] / results['memory'][unit]:.0%} of memory's")


if __name__ == "__main__":
    main()
