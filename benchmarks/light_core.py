"""How fast the light core is, beside the obvious way to write it, in one run.

    python benchmarks/light_core.py [--json FILE] [--markdown] [--variants]

Times are processor seconds, after one untimed call: the median of n calls with the best in
brackets; the median is what is held against the target.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import paper_algorithm
import plain_search
from rich.console import Console
from rich.table import Table

from edgecil import ClassSequence, SequenceSpace, SimilarityMatrix
from edgecil.classes import get_classes
from edgecil.sequences import PROTOCOLS, find_optimum, optimal, profile, sample_scores
from edgecil.sequences.edge import VARIANTS
from edgecil.sequences.objective import adjacent
from edgecil.sequences.protocols.extremes import EDGE
from edgecil.similarity import text_similarity

GOALS = ("hard", "easy")
COLUMNS = ("what", "edgecil", "compared with", "target", "met")


@dataclass
class Row:
    """One line of the table; `numbers` holds the same for programs."""

    what: str
    ours: str
    beside: str = ""
    target: str = ""
    met: bool | None = None
    numbers: dict[str, float] = field(default_factory=dict)

    def cells(self) -> tuple[str, ...]:
        met = "" if self.met is None else "yes" if self.met else "NO"
        return self.what, self.ours, self.beside, self.target, met


@dataclass(frozen=True)
class Timing:
    """Seconds of n calls."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        if len(self.seconds) == 1:
            return f"{_shown(self.median)} (1 run)"
        best = _shown(min(self.seconds))
        return f"{_shown(self.median)} (median of {len(self.seconds)}; best {best})"


def timed(
    work: Callable[[], object],
    calls: int,
    *,
    warm: bool = True,
    clock: Callable[[], float] = time.process_time,
) -> Timing:
    if warm:
        work()
    seconds = []
    for _ in range(calls):
        start = clock()
        work()
        seconds.append(clock() - start)
    return Timing(tuple(seconds))


def _shown(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1.0 else f"{seconds:.2f} s"


def variants() -> list[Row]:
    """z of every variant of EDGE, of the baselines and of `optimal`, on bare class names."""
    datasets = ("cifar100", "cub200", "imagenet-r", "imagenet-a")
    matrices = [text_similarity(get_classes(name), template="{name}") for name in datasets]
    spaces = [SequenceSpace.equal(len(matrix), 10) for matrix in matrices]

    def generate(name: str, goal: str) -> Callable[[SimilarityMatrix, SequenceSpace], object]:
        if name == "optimal":
            return lambda matrix, space: find_optimum(matrix, space, goal).sequence
        build = PROTOCOLS[name].construct
        return lambda matrix, space: build(matrix, space, goal, np.random.default_rng(0))

    rows = []
    for goal in GOALS:
        ways = {name: variant for name, variant in VARIANTS.items() if variant.goal == goal}
        others = ("edge", "edge-released", "adversarial", "maxcover", "optimal")
        ways |= {name: generate(name, goal) for name in others}
        for name, way in ways.items():
            profiles = [
                profile(matrix, way(matrix, space))
                for matrix, space in zip(matrices, spaces, strict=True)
            ]
            seconds = timed(lambda way=way: way(matrices[1], spaces[1]), 3)
            z = {dataset: seen.z for dataset, seen in zip(datasets, profiles, strict=True)}
            inside = profiles[1].objectives["intra"]["value"]
            rows.append(
                Row(
                    f"{goal} {name}",
                    " / ".join(f"{value:+.1f}" for value in z.values()),
                    f"inside {inside:.3f}, {seconds} of CPU (CUB)",
                    numbers={**z, "seconds": seconds.median},
                )
            )
    return rows


def edge(dataset: str, classes: int, target: float) -> list[Row]:
    """EDGE, both directions, and the paper's algorithms as printed."""
    similarity = text_similarity(get_classes(dataset))
    space = SequenceSpace.equal(classes, 10)
    rng = np.random.default_rng(0)
    D = similarity.values.tolist()
    papers = {"hard": paper_algorithm.hard_sequence, "easy": paper_algorithm.easy_sequence}
    ours = timed(lambda: [EDGE.construct(similarity, space, goal, rng) for goal in GOALS], 20)
    paper = timed(lambda: [papers[goal](D, 10) for goal in GOALS], 1, warm=False)
    rows = [
        Row(
            f"edge {dataset}/10, hard and easy",
            str(ours),
            f"{paper}, paper's algorithms as printed",
            f"≤ {_shown(target)}",
            ours.median <= target,
            {"seconds": ours.median, "paper_seconds": paper.median},
        )
    ]
    for goal in GOALS:
        reached = profile(similarity, EDGE.construct(similarity, space, goal, rng))
        theirs = profile(similarity, ClassSequence(papers[goal](D, 10)))
        rows.append(
            Row(
                f"… reaches, {goal}",
                f"S {reached.score:.4f}, z {reached.z:+.1f}",
                f"S {theirs.score:.4f}, z {theirs.z:+.1f}",
                numbers={
                    "score": reached.score,
                    "z": reached.z,
                    "paper_score": theirs.score,
                    "paper_z": theirs.z,
                },
            )
        )
    return rows


def optimum(similarity: SimilarityMatrix, space: SequenceSpace) -> list[Row]:
    """The optimum of S on CIFAR-100/10, and plain-Python annealing with as many proposals."""
    optima = {}
    rng = np.random.default_rng(0)
    weights = adjacent(space).weights
    ours = timed(
        lambda: [optimal.search(similarity, space, sign * weights, rng) for sign in (1.0, -1.0)], 10
    )
    certified = timed(
        lambda: optima.update({goal: find_optimum(similarity, space, goal) for goal in GOALS}),
        3,
    )
    starts, proposals = optimal._STARTS, optimal._SWEEPS * space.classes
    plain = {}
    signs = {"hard": 1.0, "easy": -1.0}
    slow = timed(
        lambda: plain.update(
            {
                goal: plain_search.anneal(
                    similarity.values.tolist(),
                    space.tasks,
                    starts=starts,
                    proposals=proposals,
                    sign=signs[goal],
                )
                for goal in GOALS
            }
        ),
        1,
        warm=False,
    )
    rows = [
        Row(
            "optimal cifar100/10, hard and easy",
            str(ours),
            f"{slow}, plain annealing, the same {starts} × {proposals:,} proposals",
            "≤ 1 s",
            ours.median <= 1.0,
            {"seconds": ours.median, "plain_seconds": slow.median, "proposals": starts * proposals},
        ),
        Row(
            "… with certificates",
            str(certified),
            target="≤ 20 s, 10 s each",
            met=certified.median <= 20.0,
            numbers={"seconds": certified.median},
        ),
    ]
    for goal in GOALS:
        ours_z = profile(similarity, optima[goal].sequence).z
        plain_z = profile(similarity, ClassSequence(plain[goal])).z
        rows.append(
            Row(
                f"… reaches, {goal}",
                f"S {optima[goal].value:.4f}, z {ours_z:+.1f}, gap {optima[goal].gap:.0%}",
                f"z {plain_z:+.1f}",
                f"z {'≤ −20' if goal == 'hard' else '≥ +20'}",
                -signs[goal] * ours_z >= 20,
                {"z": ours_z, "plain_z": plain_z, "gap": optima[goal].gap},
            )
        )
    return rows


def scores(similarity: SimilarityMatrix, space: SequenceSpace) -> list[Row]:
    """A million random scores, and NumPy one sequence at a time."""
    count, few = 1_000_000, 20_000
    rng = np.random.default_rng(0)
    sample_scores(similarity, space, 10, rng)
    ours = timed(lambda: sample_scores(similarity, space, count, rng), 3, warm=False)
    numpy_ = timed(
        lambda: plain_search.score_one_by_one(similarity.values, space.tasks, few), 1, warm=False
    )
    extrapolated = numpy_.median * count / few
    return [
        Row(
            "10⁶ random S-scores, 100/10",
            str(ours),
            f"{extrapolated:.0f} s, NumPy one by one, extrapolated from {few:,}",
            "≤ 4 s",
            ours.median <= 4.0,
            {"seconds": ours.median, "numpy_seconds_extrapolated": extrapolated},
        )
    ]


def verbs() -> list[Row]:
    """The common commands in new processes, by processor time; 408 rows are a demo's table."""
    edgecil = str(Path(sys.executable).with_name("edgecil"))

    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def row(target: float, *words: str) -> Row:
        command = [edgecil, *words]
        seconds = timed(
            lambda: subprocess.run(command, check=True, capture_output=True), 5, clock=spent
        )
        shown = " ".join(Path(word).name for word in command)
        return Row(
            shown,
            str(seconds),
            target=f"≤ {target:g} s",
            met=seconds.median <= target,
            numbers={"seconds": seconds.median},
        )

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "408-rows.csv"
        rng = np.random.default_rng(0)
        lines = ["method,sequence,seed,accuracy"]
        for number, order in enumerate(SequenceSpace.equal(100, 10).sample(102, rng)):
            for place, method in enumerate(("finetune", "er", "lwf", "acil")):
                accuracy = 60 + 8 * place + rng.normal(0, 2)
                lines.append(f"{method},{order},{number},{accuracy:.2f}")
        table.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return [
            row(0.3, "--help"),
            row(2.0, "sequences", "cifar100", "--tasks", "10"),
            row(1.5, "analyze", str(table)),
            row(3.0, "report", str(table), "--out", str(Path(folder) / "report")),
        ]


def machine() -> dict[str, str]:
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [
            line
            for line in info.read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ]
        cpu = models[0].split(":")[1].strip() if models else cpu
    return {
        "cpu": cpu,
        "cores": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.2f}",
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the numbers here too")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument(
        "--variants",
        action="store_true",
        help="only z of S for every variant of the paper's algorithms",
    )
    args = parser.parse_args()

    start = time.perf_counter()
    where = machine()
    similarity = text_similarity(get_classes("cifar100"))
    space = SequenceSpace.equal(100, 10)
    if args.variants:
        rows = variants()
    else:
        rows = [
            *verbs(),
            *edge("cifar100", 100, 0.1),
            *edge("cub200", 200, 0.15),
            *optimum(similarity, space),
            *scores(similarity, space),
        ]
    where["load"] += f" before, {os.getloadavg()[0]:.2f} after"
    shown = ", ".join(f"{key} {value}" for key, value in where.items())
    print(f"{shown}; whole run {time.perf_counter() - start:.0f} s")
    if args.markdown:
        print("\n".join(f"| {' | '.join(cells)} |" for cells in [COLUMNS, ("---",) * 5]))
        print("\n".join(f"| {' | '.join(row.cells())} |" for row in rows))
    else:
        table = Table(*COLUMNS)
        for row in rows:
            table.add_row(*row.cells())
        Console(width=None if sys.stdout.isatty() else 160).print(table)
    if args.json is not None:
        answer = {"machine": where, "rows": [asdict(row) for row in rows]}
        args.json.write_text(
            json.dumps(answer, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
        )
    return 1 if any(row.met is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
