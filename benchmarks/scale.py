"""How long edgecil takes for many runs: analysis, report, plan and the import of logs.

    python benchmarks/scale.py [--rows 100000] [--only NAME …]

Each part runs in a process of its own. Seconds are processor time, which other programs on the
machine hardly change; memory is the peak of the process, of which importing edgecil takes a part.

- `analysis`: a CSV file of ten methods on 5,000 random orders of 100 classes in ten tasks, with two
  training seeds, is read and analysed with the default options; the size of its JSON is given too.
- `report`: the page of that analysis is written; its size is given too.
- `plan`: the plan of 10,000 orders of 20 classes in ten tasks, and what of it is left to train.
- `logs`: 400 and 800 log files of PyCIL are imported.
- `demo`: the analysis of the demo (four learners, 90 orders, five protocols).
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
METHODS, SEEDS = 10, 2
TARGETS = {"analysis": "10 s, 600 MB, JSON 20 MB", "report": "5 s, 5 MB", "plan": "2 s"}


def write_table(path: Path, rows: int) -> Path:
    """Random orders, trained with two seeds: effects of the classes of the last task, and noise."""
    from edgecil import SequenceSpace

    orders = rows // METHODS // SEEDS
    space, rng = SequenceSpace.equal(100, 10), np.random.default_rng(0)
    drawn = list(dict.fromkeys(space.sample(orders, rng)))
    effects = rng.normal(0.0, 2.0, (METHODS, 100))
    with path.open("w", encoding="utf-8") as file:
        file.write("method,dataset,protocol,label,sequence,seed,accuracy\n")
        for method in range(METHODS):
            noise = rng.normal(0.0, 1.0, (orders, SEEDS))
            for number, order in enumerate(drawn):
                mean = 50.0 + method + effects[method, list(order.tasks[-1])].mean()
                for seed in range(SEEDS):
                    accuracy = np.clip(mean + noise[number, seed], 0.0, 100.0)
                    file.write(
                        f"method-{method},cifar100,random,seed-{number},{order},{seed},"
                        f"{accuracy:.3f}\n"
                    )
    return path


def analysis(folder: Path, rows: int) -> dict[str, float]:
    import edgecil

    path = write_table(folder / "runs.csv", rows)
    edgecil.analyze(ROOT / "tests" / "demo" / "accuracies.csv")  # loads compiled code
    start = time.process_time()
    made = edgecil.analyze(path)
    seconds = time.process_time() - start
    made.save(folder / "analysis.json")
    return {"seconds": seconds, "json_mb": (folder / "analysis.json").stat().st_size / 1e6}


def report(folder: Path, rows: int) -> dict[str, float]:
    import edgecil

    made = edgecil.analyze(write_table(folder / "runs.csv", rows))
    start = time.process_time()
    edgecil.write_report(made, out=folder / "report")
    seconds = time.process_time() - start
    page = (folder / "report" / "index.html").stat().st_size
    return {"seconds": seconds, "page_mb": page / 1e6}


def plan(folder: Path, rows: int) -> dict[str, float]:
    from edgecil import SequenceSpace
    from edgecil.experiments.plan import Plan
    from edgecil.experiments.store import Store
    from edgecil.training.scheduler import _Queue

    orders = SequenceSpace.equal(20, 10).sample(10_000, np.random.default_rng(0))
    with Store(folder / "experiment") as store:
        start = time.process_time()
        _Queue(Plan(["finetune"], lambda _: [0], orders), store, keep_states=False)
        return {"seconds": time.process_time() - start}


LOG = """config: ./exps/icarl.json
dataset: cifar100
init_cls: 5
increment: 5
model_name: icarl
shuffle: True
seed: {seed}
{order}
CNN: {{'total': 90.0, 'old': 0, 'new': 90.0, '00-04': 90.0}}
CNN: {{'total': 70.0, 'old': 60.0, 'new': 80.0, '00-04': 60.0, '05-09': 80.0}}
CNN top1 curve: [90.0, 70.0]"""


def logs(folder: Path, rows: int) -> dict[str, float]:
    from edgecil.interop import import_logs

    rng, paths = random.Random(0), []
    for seed in range(800):
        lines = LOG.format(seed=seed, order=rng.sample(range(10), 10)).splitlines()
        path = folder / f"{seed}.log"
        path.write_text(
            "\n".join(f"2024-01-01 00:00:00,000 [trainer.py] => {it}" for it in lines),
            encoding="utf-8",
        )
        paths.append(path)
    seconds = {}
    for count in (400, 800):
        start = time.process_time()
        import_logs(paths[:count], out=folder / f"experiment-{count}")
        seconds[count] = time.process_time() - start
    return {"seconds": seconds[800], "seconds_of_half": seconds[400]}


def demo(folder: Path, rows: int) -> dict[str, float]:
    import edgecil

    path = ROOT / "tests" / "demo" / "accuracies.csv"
    edgecil.analyze(path)
    start = time.process_time()
    edgecil.analyze(path)
    return {"seconds": time.process_time() - start}


PARTS: dict[str, Callable[[Path, int], dict[str, float]]] = {
    "analysis": analysis,
    "report": report,
    "plan": plan,
    "logs": logs,
    "demo": demo,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part:
        with tempfile.TemporaryDirectory() as folder:
            numbers = PARTS[arguments.part](Path(folder), arguments.rows)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({**numbers, "peak_mb": peak}))
        return
    print("| part | processor time | peak memory | more | target |\n|---|---|---|---|---|")
    for part in arguments.only:
        words = [sys.executable, __file__, "--part", part, "--rows", str(arguments.rows)]
        answer = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        numbers = json.loads(answer.splitlines()[-1])
        seconds, peak = numbers.pop("seconds"), numbers.pop("peak_mb")
        more = ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in numbers.items())
        target = TARGETS.get(part, "")
        print(f"| {part} | {seconds:.2f} s | {peak:.0f} MB | {more} | {target} |", flush=True)


if __name__ == "__main__":
    main()
