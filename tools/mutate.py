"""Change the package in one place at a time, and see whether its tests notice.

    python tools/mutate.py OUT.jsonl --count 300 --workers 2

draws mutants of the rooms below with a seed, runs the tests of the room on each (its module's own
test first, at most 30 CPU seconds), and writes a line for each mutant. The same command continues.

    python tools/mutate.py OUT.jsonl --again --seconds 300

runs more tests on the survivors of the first pass, and lists those that are left.

Tests run in processes that are forked once the libraries are imported, on a copy of the sources.
mutmut and cosmic-ray do the same without a choice of tests by room and without a limit of time, and
start a new interpreter for each mutant, which takes longer here than the tests.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import ceil, inf
from pathlib import Path

HERE = Path(__file__).parents[1]
PACKAGE = Path("src/edgecil")

ROOMS: dict[str, tuple[str, ...]] = {
    "statistics": ("statistics",),
    "runs": ("runs",),
    "analysis": ("analysis",),
    "store": ("experiments/store.py", "experiments/merge.py"),
    "scheduler": ("training/scheduler.py", "training/chains.py", "training/result_buffer.py"),
}
SHARES = {"statistics": 0.28, "runs": 0.28, "analysis": 0.24, "store": 0.1, "scheduler": 0.1}
TESTS: dict[str, tuple[str, ...]] = {
    "statistics": ("tests/statistics",),
    "runs": ("tests/runs", "tests/analysis/test_sources.py"),
    "analysis": ("tests/analysis",),
    "store": ("tests/experiments/test_store.py", "tests/experiments"),
    "scheduler": ("tests/training/test_scheduler.py", "tests/training/test_node_training.py"),
}
MORE_TESTS: dict[str, tuple[str, ...]] = {
    "statistics": ("tests/analysis", "tests/cli/test_answers.py", "tests/lab"),
    "runs": ("tests/analysis", "tests/attacks/test_meaning.py", "tests/cli", "tests/interop"),
    "analysis": ("tests/statistics", "tests/cli/test_answers.py", "tests/report", "tests/search"),
    "store": ("tests/attacks/test_meaning.py", "tests/training/test_run.py", "tests/cli"),
    "scheduler": ("tests/training/test_resume.py", "tests/training/test_executors.py"),
}
LIBRARIES = ("numpy", "pandas", "scipy.stats", "scipy.special", "torch", "pytest")

_PATIENCE = 20  # wall-clock seconds for each CPU second that a mutant may take

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
NAMES = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "floor": "ceil",
    "ceil": "floor",
    "mean": "sum",
}


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the text between two places becomes another."""

    room: str
    path: str
    line: int
    start: int
    end: int
    old: str
    new: str

    @property
    def key(self) -> str:
        """What identifies the mutant."""
        return f"{self.path}:{self.start}:{self.end}:{self.new}"

    def apply(self, source: bytes) -> bytes:
        """Return the source with the change."""
        return source[: self.start] + self.new.encode() + source[self.end :]


def list_mutants(room: str) -> Iterator[Mutant]:
    """Yield every mutant of a room."""
    for place in ROOMS[room]:
        path = HERE / PACKAGE / place
        files = [path] if path.is_file() else sorted(path.rglob("*.py"))
        for file in files:
            yield from _mutants_of_file(room, file)


def _mutants_of_file(room: str, file: Path) -> Iterator[Mutant]:
    source = file.read_bytes()
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for node in _code(ast.parse(source)):
        for new in _changes(node):
            start = lines[node.lineno - 1] + node.col_offset
            end = lines[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            old = source[start:end].decode()
            text = f"({new})" if isinstance(node, ast.expr) else new
            if isinstance(node, (ast.Constant, ast.Name)):
                text = new
            path = file.relative_to(HERE).as_posix()
            yield Mutant(room, path, node.lineno, start, end, old, text)


def _code(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Yield statements and expressions that decide what is computed: no words, no types."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        children = value if isinstance(value, list) else [value]
        for child in children:
            if not isinstance(child, ast.AST) or _is_wording(child):
                continue
            if isinstance(child, (ast.expr, ast.stmt)):
                yield child
            yield from _code(child)


def _is_wording(node: ast.AST) -> bool:
    """Return whether a node only writes sentences, names types, or imports."""
    if isinstance(node, (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return True
    if isinstance(node, ast.FunctionDef) and node.name in ("__repr__", "__str__", "_repr_html_"):
        return True
    if isinstance(node, ast.Assign) and "TypeVar" in ast.unparse(node.value):
        return True
    return isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation)


def _changes(node: ast.expr | ast.stmt) -> Iterator[str]:
    """Yield the texts that may stand in place of a node."""
    if isinstance(node, ast.Compare):
        swapped = [SWAPS[type(operator)]() for operator in node.ops]
        yield ast.unparse(ast.Compare(node.left, swapped, node.comparators))
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        if not _is_text(node.left) and not _is_text(node.right):
            yield ast.unparse(ast.BinOp(node.left, SWAPS[type(node.op)](), node.right))
    elif isinstance(node, ast.BoolOp):
        yield ast.unparse(ast.BoolOp(SWAPS[type(node.op)](), node.values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield ast.unparse(node.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        yield _other_number(node.value)
    elif isinstance(node, ast.Name) and node.id in NAMES and isinstance(node.ctx, ast.Load):
        yield NAMES[node.id]
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        value = ast.Attribute(node.value, NAMES[node.attr], ast.Load())
        yield ast.unparse(ast.copy_location(value, node))
    elif isinstance(node, ast.IfExp):
        yield ast.unparse(ast.IfExp(node.test, node.orelse, node.body))
    elif (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)) or isinstance(
        node, ast.AugAssign
    ):
        yield "pass"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _other_number(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(value + 1)
    return repr(value * 2.0 if value else 1.0)


def draw(count: int, seed: int) -> list[Mutant]:
    """Return mutants of all rooms, from each its share."""
    generator = random.Random(seed)
    drawn: list[Mutant] = []
    for room, share in SHARES.items():
        mutants = list(list_mutants(room))
        drawn += generator.sample(mutants, min(round(count * share), len(mutants)))
    generator.shuffle(drawn)
    return drawn


def tests_for(mutant: Mutant, *, more: bool) -> list[str]:
    """Return files with tests, the mutated module's own first, and slow ones last."""
    own = f"test_{Path(mutant.path).stem}.py"
    places = [*TESTS[mutant.room], *(MORE_TESTS[mutant.room] if more else ())]
    files: dict[str, None] = {}
    for place in places:
        path = HERE / place
        found = [path] if path.is_file() else sorted(path.rglob("test_*.py"))
        for file in sorted(found, key=lambda file: file.name != own):
            files[file.relative_to(HERE).as_posix()] = None
    return list(files)


class Bench:
    """A copy of the sources in which one mutant at a time is tested."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.folder = Path(tempfile.mkdtemp(prefix="edgecil-mutants-"))
        shutil.copytree(HERE / "src", self.folder / "src")

    def close(self) -> None:
        """Remove the copy."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def test(self, mutant: Mutant | None, files: Sequence[str], seconds: float) -> str:
        """Return `killed`, `survived`, or `too slow` for tests that did not end in time."""
        path = None if mutant is None else self.folder / mutant.path
        original = b"" if path is None else path.read_bytes()
        if path is not None and mutant is not None:
            path.write_bytes(mutant.apply(original))
        try:
            return self._run(files, seconds)
        finally:
            if path is not None:
                path.write_bytes(original)

    def _run(self, files: Sequence[str], seconds: float) -> str:
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds), ceil(seconds) + 5))
            self._become_pytest(files)
        end = time.monotonic() + _PATIENCE * seconds  # of a busy machine, or of a test that waits
        while time.monotonic() < end:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)  # processes that tests left behind
                code = os.waitstatus_to_exitcode(status)
                if code == -signal.SIGXCPU:
                    return "too slow"
                return "survived" if code == 0 else "killed"
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "too slow"

    def _become_pytest(self, files: Sequence[str]) -> None:
        os.setsid()
        sources = str(self.folder / "src")
        os.environ |= {"PYTHONPATH": sources, "PYTHONDONTWRITEBYTECODE": "1"}
        os.environ["EDGECIL_CACHE"] = str(self.folder / "cache")
        sys.dont_write_bytecode = True
        sys.path.insert(0, sources)
        sys.path.insert(0, str(HERE))
        os.chdir(HERE)
        log = os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        code = 3
        try:
            import pytest

            options = ["-x", "-q", "-p", "no:cacheprovider", "-n", "0", "-m", "not slow"]
            temporary = f"--basetemp={self.folder / 'tmp'}"
            code = int(pytest.main([*options, temporary, "-o", "addopts=", *files]))
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(code)


def check_baseline(seconds: float) -> None:
    """Print how long the tests of each module take on unchanged sources, and whether they pass."""
    import_libraries()
    bench = Bench(0)
    for room in ROOMS:
        mutant = next(list_mutants(room))
        start = time.monotonic()
        answer = bench.test(None, tests_for(mutant, more=False), seconds)
        print(f"{room}: {answer} after {time.monotonic() - start:.1f} s")
        if answer == "killed":
            print((bench.folder / "log").read_text(encoding="utf-8")[-3000:])
    bench.close()


def import_libraries() -> None:
    """Import what all tests need, before processes are forked."""
    for library in LIBRARIES:
        importlib.import_module(library)
    import torch

    torch.set_num_threads(1)


def test_all(
    mutants: Sequence[Mutant],
    out: Path,
    *,
    workers: int,
    seconds: float,
    more: bool,
    minutes: float | None,
) -> None:
    """Test mutants in several processes; each result is a line of a file.

    After so many CPU minutes of all of them, no further one is begun.
    """
    import_libraries()
    children = []
    for number in range(workers):
        child = os.fork()
        if child == 0:
            limit = inf if minutes is None else 60.0 * minutes / workers
            bench = Bench(number)
            _test_share(mutants[number::workers], bench, out, seconds, more, limit)
            bench.close()
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def _test_share(
    mutants: Sequence[Mutant], bench: Bench, out: Path, seconds: float, more: bool, limit: float
) -> None:
    for mutant in mutants:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        if used.ru_utime + used.ru_stime > limit:
            return
        start = time.monotonic()
        answer = bench.test(mutant, tests_for(mutant, more=more), seconds)
        taken = round(time.monotonic() - start, 1)
        line = json.dumps({**asdict(mutant), "answer": answer, "seconds": taken, "again": more})
        with out.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def read(out: Path) -> dict[str, dict[str, object]]:
    """Return the last result of every mutant."""
    results: dict[str, dict[str, object]] = {}
    if out.exists():
        for line in out.read_text(encoding="utf-8").splitlines():
            result = json.loads(line)
            fields = {name: result[name] for name in Mutant.__dataclass_fields__}
            results[Mutant(**fields).key] = result
    return results


def summarise(out: Path) -> None:
    """Print how many mutants were killed by room, and those that were not."""
    results = read(out).values()
    for room in ROOMS:
        counts = Counter(str(result["answer"]) for result in results if result["room"] == room)
        print(f"{room:<11} {sum(counts.values()):>4} mutants: {dict(counts)}")
    for result in results:
        if result["answer"] != "killed":
            print(f"{result['path']}:{result['line']}  {result['answer']}")
            print(f"    - {result['old']}\n    + {result['new']}")


def main() -> None:
    """Draw mutants, test them, and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="file of results, one JSON object a line")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=30.0, help="CPU seconds for a mutant")
    parser.add_argument("--minutes", type=float, help="CPU minutes after which none is begun")
    parser.add_argument("--again", action="store_true", help="more tests on the survivors")
    parser.add_argument("--list", action="store_true", help="print the results alone")
    parser.add_argument("--check", action="store_true", help="test the unchanged sources")
    options = parser.parse_args()
    if options.check:
        check_baseline(options.seconds)
        return
    done = read(options.out)
    if not options.list:
        if options.again:
            fields = Mutant.__dataclass_fields__
            left = [it for it in done.values() if it["answer"] != "killed" and not it["again"]]
            chosen = [Mutant(**{name: it[name] for name in fields}) for it in left]  # type: ignore[arg-type]
        else:
            chosen = [it for it in draw(options.count, options.seed) if it.key not in done]
        test_all(
            chosen,
            options.out,
            workers=options.workers,
            seconds=options.seconds,
            more=options.again,
            minutes=options.minutes,
        )
    summarise(options.out)


if __name__ == "__main__":
    main()
