"""Every executor gives the same results, and survives the failure of one node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from edgecil.engine.executors import Executor, Finished, Job, get_executor, local
from edgecil.engine.node_training import Outcome, unpack
from edgecil.engine.plan import Node, Plan
from edgecil.engine.results import NodeResult
from edgecil.engine.scheduler import Summary, execute
from edgecil.engine.store import Store
from edgecil.errors import EdgecilError, PrerequisiteError, UsageError
from edgecil.sequences import ClassSequence
from tests.engine.contexts import ORDERS, make_context, plan_of
from tests.toys import same

ROOT = Node("icarl", 0, ((0, 1),))
STRANGE = [ClassSequence([[0, 1], [2, 3]]), ClassSequence([[0, 2], [1, 3]])]


@dataclass(frozen=True)
class Ran:
    """The results of one large run on an executor."""

    executor: str
    state: object
    done: dict[Node, NodeResult]
    failures: dict[Node, tuple[str, str]]
    summary: Summary


def counts(done: dict[Node, NodeResult]) -> dict[Node, dict[str, tuple[int, ...]]]:
    """Results without durations and memory."""
    return {node: result.correct for node, result in done.items()}


def open_executor(name: str, directory: Path, methods: list[str]) -> Executor:
    trigger = directory / "trigger"
    trigger.touch()
    strange = {"classes": [0, 1], "file": str(trigger)}
    context = make_context({name: {} if name == "icarl" else strange for name in methods})
    if name == "ray":
        pytest.importorskip("ray")
    kind = "ray" if name == "ray" else "local"
    return get_executor(kind, context, workers=1 if name == "in-process" else 2)


def methods_for(name: str) -> list[str]:
    """In this process no job may kill its worker."""
    return ["icarl", "raising", *([] if name == "in-process" else ["patient", "deadly"])]


@pytest.fixture(scope="module", params=["in-process", "pool", "ray"])
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One start of each executor serves all tests: starting them is what takes time."""
    directory = tmp_path_factory.mktemp(request.param)
    methods = methods_for(request.param)
    executor = open_executor(request.param, directory, methods)
    kept = directory / "root.pt"
    executor.submit(Job(ROOT, None, kept))
    first = executor.wait()
    assert first.outcome.result is not None
    enumeration = plan_of("icarl")
    strange = Plan(methods[1:], [0], STRANGE)
    store = Store(directory / "run")
    both = _Both(enumeration, strange)
    summary = execute(both, store, executor)
    result = Ran(request.param, unpack(kept.read_bytes()), store.done(), store.failures(), summary)
    assert not any((directory / "run" / "states").glob(".*"))
    store.close()
    return result


class _Both(Plan):
    """Two plans as one."""

    def __init__(self, one: Plan, other: Plan) -> None:
        super().__init__([], [], [])
        for plan in (one, other):
            self._children |= {node: plan.children(node) for node in plan}
            self.roots += plan.roots


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[Node, dict[str, tuple[int, ...]]]:
    """Every sequence by itself, in a directory of its own, in this process."""
    context = make_context({"icarl": {}})
    by_node: dict[Node, dict[str, tuple[int, ...]]] = {}
    for order in ORDERS:
        store = Store(tmp_path_factory.mktemp("alone"))
        execute(
            plan_of("icarl", sequences=[order]), store, get_executor("local", context, workers=1)
        )
        by_node |= counts(store.done())
        store.close()
    return by_node


def test_results_are_those_of_each_sequence_alone(
    ran: Ran, alone: dict[Node, dict[str, tuple[int, ...]]]
) -> None:
    by_node = {node: right for node, right in counts(ran.done).items() if node.method == "icarl"}
    assert by_node == alone
    assert len({str(right) for right in alone.values()}) > 6, "results must be able to differ"


def test_states_are_the_same_bit_for_bit(ran: Ran, tmp_path: Path) -> None:
    here = get_executor("local", make_context({"icarl": {}}), workers=1)
    here.submit(Job(ROOT, None, tmp_path / "state"))
    here.wait()
    assert same(ran.state, unpack((tmp_path / "state").read_bytes()))


def test_a_method_that_raises_costs_its_own_sequence_only(ran: Ran) -> None:
    error, trace = ran.failures[Node("raising", 0, ((0, 1),))]
    assert error == "ValueError: cannot learn (0, 1)"
    assert "in learn" in trace
    assert Node("raising", 0, ((0, 2), (1, 3))) in ran.done
    assert Node("raising", 0, ((0, 1), (2, 3))) not in ran.done


def test_the_job_that_kills_its_worker_fails(ran: Ran) -> None:
    """In real processes; which of several running jobs fails is tested below."""
    strange = {"raising"} if ran.executor == "in-process" else {"raising", "deadly"}
    assert set(ran.failures) == {Node(method, 0, ((0, 1),)) for method in strange}
    assert set(ran.summary.failed) == set(ran.failures)
    if "deadly" in strange:
        assert "died" in ran.failures[Node("deadly", 0, ((0, 1),))][0]
        assert Node("patient", 0, ((0, 1), (2, 3))) in ran.done
        assert Node("deadly", 0, ((0, 2), (1, 3))) in ran.done


@pytest.mark.parametrize("name", ["in-process", "pool", "ray"])
def test_closing_twice_with_a_job_under_way_is_harmless(name: str, tmp_path: Path) -> None:
    executor = open_executor(name, tmp_path, ["icarl"])
    executor.submit(Job(ROOT, None, None))
    executor.close()
    executor.close()


def test_a_full_disk_ends_the_run_with_a_sentence(tmp_path: Path) -> None:
    executor = get_executor("local", make_context({"instant": {}}), workers=1)
    (tmp_path / "file").touch()
    executor.submit(Job(Node("instant", 0, ((0,),)), None, tmp_path / "file" / "state"))
    with pytest.raises(EdgecilError, match=r"Cannot write .*file/state"):
        executor.wait()
    executor.close()


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda context: get_executor("slurm", context, workers=1), UsageError, "Unknown executor"),
        (
            lambda context: get_executor("local", context, workers=0),
            UsageError,
            "at least 1. Got 0",
        ),
        (
            lambda context: get_executor("local", context, workers=1, address="x"),
            UsageError,
            "requires the executor .ray.",
        ),
    ],
)
def test_invalid_executors_are_refused(
    build: Callable[[object], Executor], error: type[EdgecilError], message: str
) -> None:
    with pytest.raises(error, match=message):
        build(make_context({"instant": {}}))


def test_a_missing_ray_is_an_error_with_installation_advice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PrerequisiteError, match=r"pip install 'edgecil\[ray\]'"):
        get_executor("ray", make_context({"instant": {}}), workers=1)


class Breaking:
    """A pool whose worker dies before a job is submitted: submitting fails."""

    def __init__(self) -> None:
        self._processes: dict[int, object] = {}

    def submit(self, *arguments: object) -> None:
        raise BrokenProcessPool

    def shutdown(self, **arguments: object) -> None:
        pass


def test_a_pool_that_breaks_before_a_job_is_submitted_is_restarted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    context = make_context({"instant": {}})
    pools: Iterator[object] = iter([Breaking(), ThreadPoolExecutor(2)])
    monkeypatch.setattr(local.WorkerPool, "_start", lambda self: next(pools))
    monkeypatch.setattr(local, "_context", context)
    pool = local.WorkerPool(context, 2)
    jobs = [Job(Node("instant", 0, (task,)), None, None) for task in ((0,), (1,), (2,))]
    for job in jobs:
        pool.submit(job)
    finished: list[Finished] = [pool.wait() for _ in jobs]
    assert {ended.job for ended in finished} == set(jobs)
    assert all(ended.outcome.result is not None for ended in finished)


class Deadly:
    """A pool in which one job kills the workers of all jobs that run beside it."""

    def __init__(self, killer: Job) -> None:
        self.killer = killer
        self.pending: dict[Future[Outcome], Job] = {}
        self._processes: dict[int, object] = {}

    def submit(self, work: object, job: Job) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        self.pending[future] = job
        return future

    def shutdown(self, **arguments: object) -> None:
        pass

    def end(self) -> list[Future[Outcome]]:
        """All running jobs end now, the one that kills its worker last."""
        struck = self.killer in self.pending.values()
        ended = sorted(self.pending, key=lambda future: self.pending[future] == self.killer)
        self.pending = {}
        for future in ended:
            if struck:
                future.set_exception(BrokenProcessPool())
            else:
                future.set_result(Outcome(NodeResult({}, (), 0.0, 0)))
        return ended


@pytest.mark.parametrize("index", [0, 1, 2])
def test_only_the_killer_is_blamed(monkeypatch: pytest.MonkeyPatch, index: int) -> None:
    """Jobs that ran beside it are tried again and succeed."""
    jobs = [Job(Node("instant", 0, ((label,),)), None, None) for label in range(3)]
    current: list[Deadly] = []
    ended: list[Future[Outcome]] = []

    def start(self: local.WorkerPool) -> Deadly:
        current.append(Deadly(jobs[index]))
        return current[-1]

    def wait(running: dict[Future[Outcome], Job], return_when: str) -> SimpleNamespace:
        ended.extend(current[-1].end())
        return SimpleNamespace(done=[future for future in ended if future in running][:1])

    monkeypatch.setattr(local.WorkerPool, "_start", start)
    monkeypatch.setattr(local, "wait", wait)
    pool = local.WorkerPool(make_context({"instant": {}}), 3)
    for job in jobs:
        pool.submit(job)
    outcomes = {finished.job: finished.outcome for finished in (pool.wait() for _ in jobs)}
    failed = [job for job, outcome in outcomes.items() if outcome.result is None]
    assert set(outcomes) == set(jobs)
    assert failed == [jobs[index]]
