"""Change the package in one place at a time, and see whether its tests notice.

    python tools/mutate.py OUT.jsonl --count 300 --workers 2

draws mutants of the rooms below with a seed, and writes a line for each. The same command
continues. First it runs the tests of each room once on the unchanged sources, and stores in
OUT.jsonl.tests which test enters which function; a mutant is then tested by those that enter its
function, the fastest first, for at most 30 CPU seconds.

    python tools/mutate.py OUT.jsonl --again --seconds 300

runs more tests on the survivors of the first pass, and lists those that are left.

Tests run on a copy of the sources, in processes that are forked once the tests of a room are
imported; in such a process the changed function gets its new code. mutmut and cosmic-ray start a
new interpreter for each mutant, which takes longer here than the tests.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import importlib
import inspect
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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import ceil, inf
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

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

_DAY = 86_400
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


def files_with_tests(room: str, *, more: bool) -> list[str]:
    """Return the files with the tests of a room; `more` are those of other rooms that use it."""
    files: dict[str, None] = {}
    for place in MORE_TESTS[room] if more else TESTS[room]:
        path = HERE / place
        for file in [path] if path.is_file() else sorted(path.rglob("test_*.py")):
            files[file.relative_to(HERE).as_posix()] = None
    return list(files)


@dataclass(frozen=True)
class TestRecord:
    """A test that passes on unchanged sources.

    Attributes:
        name: pytest's name of the test.
        seconds: CPU seconds that it takes.
        functions: functions of the package that it enters, each as `path:line`.
    """

    name: str
    seconds: float
    functions: frozenset[str]

    @property
    def modules(self) -> set[str]:
        """The modules that the test enters."""
        return {function.rpartition(":")[0] for function in self.functions}


class TestRecorder:
    """A plug-in of pytest that records which functions each test enters."""

    def __init__(self, sources: Path) -> None:
        self._start = str(sources) + os.sep
        self._entered: set[CodeType] = set()
        self.records: list[TestRecord] = []

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool:
        """Run a test and record it, if it passes."""
        from _pytest.runner import runtestprotocol

        self._entered.clear()
        start = time.process_time()
        sys.settrace(self._enter)
        try:
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
        finally:
            sys.settrace(None)
        seconds = time.process_time() - start
        if all(report.passed for report in reports):
            self.records.append(TestRecord(item.nodeid, seconds, self._functions()))
        return True

    def _enter(self, frame: FrameType, event: str, argument: object) -> None:
        self._entered.add(frame.f_code)

    def _functions(self) -> frozenset[str]:
        names = set()
        for code in self._entered:
            if code.co_filename.startswith(self._start):
                path = Path("src") / Path(code.co_filename).relative_to(self._start)
                names.add(f"{path.as_posix()}:{code.co_firstlineno}")
        return frozenset(names)


class TestSelection:
    """A plug-in of pytest that runs some tests alone, in a given order."""

    def __init__(self, names: Sequence[str]) -> None:
        self._place_of = {name: place for place, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave out the other tests, and sort these."""
        chosen = [item for item in items if item.nodeid in self._place_of]
        items[:] = sorted(chosen, key=lambda item: self._place_of[item.nodeid])


def tests_for(mutant: Mutant, records: Sequence[TestRecord]) -> list[str]:
    """Return the names of the tests that enter the mutant's function, the fastest first.

    A change outside functions, or in one that no test enters, is tested by all that enter its
    module, or else by all.
    """
    function = enclosing_function(mutant)
    chosen = [record for record in records if function in record.functions]
    if not chosen:
        chosen = [record for record in records if mutant.path in record.modules]
    chosen = chosen or list(records)
    return [record.name for record in sorted(chosen, key=lambda record: record.seconds)]


def enclosing_function(mutant: Mutant) -> str | None:
    """Return the innermost function around a mutant, as `path:line`; None if there is none."""
    lines = enclosing_lines(mutant)
    return f"{mutant.path}:{lines[-1]}" if lines else None


def enclosing_lines(mutant: Mutant) -> list[int]:
    """Return the first lines of the functions whose bodies contain a mutant, outermost first."""
    lines = []
    for node in ast.walk(ast.parse((HERE / mutant.path).read_bytes())):  # outer functions first
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if node.body[0].lineno <= mutant.line <= (node.end_lineno or 0):
            decorators = [decorator.lineno for decorator in node.decorator_list]
            lines.append(min([node.lineno, *decorators]))
    return lines


class MutantLoop:
    """A plug-in of pytest that tests mutants in place of running the tests once.

    The tests are collected once; each mutant is tested in a process that is forked then.
    """

    def __init__(
        self,
        bench: Bench,
        mutants: Sequence[Mutant],
        tests: Callable[[Mutant], list[str]],
        on_answer: Callable[[Mutant, str, float], None],
        seconds: float,
    ) -> None:
        self._bench = bench
        self._mutants = mutants
        self._tests = tests
        self._on_answer = on_answer
        self._seconds = seconds
        self._has_failed = False

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Notice a test that fails."""
        self._has_failed |= report.failed

    def pytest_runtestloop(self, session: Any) -> bool:
        """Test every mutant."""
        item_of_name = {item.nodeid: item for item in session.items}
        functions: dict[tuple[str, int], list[FunctionType]] = {}
        for candidate in gc.get_objects():
            if type(candidate) is FunctionType:  # `isinstance` would run code of lazy objects
                code = candidate.__code__
                place = code.co_filename, code.co_firstlineno
                functions.setdefault(place, []).append(candidate)
        for mutant in self._mutants:
            start = time.monotonic()
            names = self._tests(mutant)
            items = [item_of_name[name] for name in names if name in item_of_name]
            path = self._bench.folder / mutant.path
            original = path.read_bytes()
            source = mutant.apply(original)
            path.write_bytes(source)  # for processes that tests start
            place = str(path), enclosing_lines(mutant)[0]
            try:
                child = os.fork()
                if child == 0:
                    self._become_tests(items, functions.get(place, []), source, place)
                answer = wait(child, self._seconds)
            finally:
                path.write_bytes(original)
            self._on_answer(mutant, answer, time.monotonic() - start)
        return True

    def _become_tests(
        self,
        items: Sequence[Any],
        functions: Sequence[FunctionType],
        source: bytes,
        place: tuple[str, int],
    ) -> None:
        """Run tests with the changed code until one fails, and end the process."""
        os.setsid()
        limit_time(self._seconds)
        code = 3
        try:
            path, line = place
            changed = find_code(compile(source, path, "exec"), line)
            for function in functions:
                if function.__code__.co_name == changed.co_name:
                    function.__code__ = changed
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._has_failed:
                    break
            code = int(self._has_failed)
        except BaseException:
            traceback.print_exc()
        os._exit(code)


def find_code(code: CodeType, line: int) -> CodeType:
    """Return the outermost function of a module's code that begins at a line."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            is_function = bool(constant.co_flags & inspect.CO_NEWLOCALS)
            if is_function and constant.co_firstlineno == line:
                return constant
            if not is_function:  # the body of a class
                with contextlib.suppress(LookupError):
                    return find_code(constant, line)
    raise LookupError(f"There is no function at line {line}.")


def limit_time(seconds: float) -> None:
    """Let this process end after some CPU seconds."""
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds), ceil(seconds) + 5))


def wait(child: int, seconds: float) -> str:
    """Return `killed` or `survived`, or `too slow` for tests that did not end in time."""
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


class Bench:
    """A copy of the sources in which one mutant at a time is tested."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="edgecil-mutants-"))
        shutil.copytree(HERE / "src", self.folder / "src")

    def close(self) -> None:
        """Remove the copy."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def test(self, mutant: Mutant, names: Sequence[str], seconds: float) -> str:
        """Return `killed`, `survived`, or `too slow` for tests that did not end in time."""
        path = self.folder / mutant.path
        original = path.read_bytes()
        path.write_bytes(mutant.apply(original))
        files = list(dict.fromkeys(name.partition("::")[0] for name in names))
        try:
            return self._run(files, TestSelection(names), seconds)
        finally:
            path.write_bytes(original)

    def test_inside_functions(
        self,
        mutants: Sequence[Mutant],
        tests: Callable[[Mutant], list[str]],
        on_answer: Callable[[Mutant, str, float], None],
        seconds: float,
    ) -> None:
        """Test mutants inside functions; the tests are imported once for all of them."""
        names = {name for mutant in mutants for name in tests(mutant)}
        files = sorted({name.partition("::")[0] for name in names})
        if files:
            loop = MutantLoop(self, mutants, tests, on_answer, seconds)
            if self._run(files, loop, seconds=_DAY) != "survived":
                sys.exit((self.folder / "log").read_text(encoding="utf-8")[-3000:])

    def record(self, files: Sequence[str]) -> list[TestRecord]:
        """Return what the tests of some files enter; those that fail are left out."""
        recorder = TestRecorder(self.folder / "src")
        place = self.folder / "records"
        place.unlink(missing_ok=True)

        def store() -> None:
            place.write_text(json.dumps([_plain(record) for record in recorder.records]))

        self._run(files, recorder, seconds=_DAY, at_end=store)
        return [_test_record(fields) for fields in json.loads(place.read_text(encoding="utf-8"))]

    def _run(
        self,
        files: Sequence[str],
        plug_in: object,
        seconds: float,
        at_end: Callable[[], None] = lambda: None,
    ) -> str:
        child = os.fork()
        if child == 0:
            limit_time(seconds)
            self._become_pytest(files, plug_in, at_end)
        return wait(child, seconds)

    def _become_pytest(
        self, files: Sequence[str], plug_in: object, at_end: Callable[[], None]
    ) -> None:
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

            options = ["-q", "-p", "no:cacheprovider", "-n", "0", "-m", "not slow"]
            if isinstance(plug_in, TestSelection):
                options.append("-x")
            temporary = f"--basetemp={self.folder / 'tmp'}"
            code = int(pytest.main([*options, temporary, "-o", "addopts=", *files], [plug_in]))
            at_end()
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        os._exit(code)


def _plain(record: TestRecord) -> dict[str, object]:
    return {**asdict(record), "functions": sorted(record.functions)}


def _test_record(fields: dict[str, Any]) -> TestRecord:
    return TestRecord(fields["name"], fields["seconds"], frozenset(fields["functions"]))


def read_records(place: Path, rooms: Sequence[str], *, more: bool) -> dict[str, list[TestRecord]]:
    """Return the tests of each room, which run once on the unchanged sources and are stored."""
    stored: dict[str, list[dict[str, Any]]] = {}
    if place.exists():
        stored = json.loads(place.read_text(encoding="utf-8"))
    records = {}
    for room in rooms:
        key = f"{room}, more" if more else room
        if key not in stored:
            bench = Bench()
            stored[key] = [
                _plain(record) for record in bench.record(files_with_tests(room, more=more))
            ]
            bench.close()
            place.write_text(json.dumps(stored), encoding="utf-8")
            seconds = sum(record["seconds"] for record in stored[key])
            print(f"{key}: {len(stored[key])} tests of {seconds:.0f} CPU s pass", flush=True)
        records[room] = [_test_record(fields) for fields in stored[key]]
    return records


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

    After so many CPU minutes in each room, no further one is begun there.
    """
    import_libraries()
    rooms = sorted({mutant.room for mutant in mutants})
    records = read_records(out.with_name(f"{out.name}.tests"), rooms, more=more)
    children = []
    for number in range(workers):
        child = os.fork()
        if child == 0:
            limit = inf if minutes is None else 60.0 * minutes / workers
            bench = Bench()
            _test_share(mutants[number::workers], bench, records, out, seconds, more, limit)
            bench.close()
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def _test_share(
    mutants: Sequence[Mutant],
    bench: Bench,
    records: dict[str, list[TestRecord]],
    out: Path,
    seconds: float,
    more: bool,
    limit: float,
) -> None:
    tests = {mutant: tests_for(mutant, records[mutant.room]) for mutant in mutants}

    def write(mutant: Mutant, answer: str, taken: float) -> None:
        count = len(tests[mutant])
        facts = {"answer": answer, "tests": count, "seconds": round(taken, 1), "again": more}
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**asdict(mutant), **facts}) + "\n")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        if used.ru_utime + used.ru_stime > limit:
            os._exit(0)

    for room in ROOMS:
        of_room = [mutant for mutant in mutants if mutant.room == room]
        inside = [mutant for mutant in of_room if enclosing_lines(mutant)]
        bench.test_inside_functions(inside, tests.__getitem__, write, seconds)
    for mutant in mutants:
        if not enclosing_lines(mutant):
            start = time.monotonic()
            answer = bench.test(mutant, tests[mutant], seconds)
            write(mutant, answer, time.monotonic() - start)


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
    options = parser.parse_args()
    done = read(options.out)
    if not options.list:
        if options.again:
            fields = Mutant.__dataclass_fields__
            chosen = [
                Mutant(**{name: result[name] for name in fields})  # type: ignore[arg-type]
                for result in done.values()
                if result["answer"] != "killed" and not result["again"]
            ]
        else:
            drawn = draw(options.count, options.seed)
            chosen = [mutant for mutant in drawn if mutant.key not in done]
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
