"""Every executor gives the same results, and survives the failure of one node."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from edgecil.backbones import pretrained
from edgecil.errors import EdgecilError, PrerequisiteError, UsageError
from edgecil.experiments.plan import Node, Plan
from edgecil.experiments.results import NodeResult
from edgecil.experiments.store import Store
from edgecil.methods import get_method
from edgecil.methods.setups import PAPER_MEMORY
from edgecil.runs.identity import PROCESSOR
from edgecil.sequences import ClassSequence
from edgecil.training.chains import Chain, Job, Step
from edgecil.training.executors import Executor, local
from edgecil.training.executors.placement import Placement
from edgecil.training.handshake import differences, worker_identity
from edgecil.training.node_training import Outcome, WorkerContext, train_node, unpack
from edgecil.training.scheduler import Summary, execute
from tests.toys import QUICK, same, toy_vit
from tests.training.contexts import ORDERS, executor_for, job_of, make_context, plan_of

# The fixture `ran`, which is there before them, starts workers as users do.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_workers")]

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


def ended(executor: Executor) -> Outcome:
    """The outcome of the next job to end, which has one node."""
    ((outcome,),) = all_ended(executor)
    return outcome


def all_ended(executor: Executor) -> Sequence[Sequence[Outcome]]:
    """The outcomes of the next job to end, by chain."""
    while (finished := executor.wait()) is None:
        pass
    return finished.outcomes


def open_executor(name: str, directory: Path, methods: list[str]) -> Executor:
    if name == "ray":
        pytest.importorskip("ray")
    kind = "ray" if name == "ray" else "local"
    workers = 1 if name == "in-process" else 2
    folder = directory / "experiment"
    return executor_for(kind, striking(directory, *methods), workers=workers, folder=folder)


def striking(directory: Path, *methods: str) -> WorkerContext:
    """Learners that strike at the first task of classes 0 and 1 while a file exists."""
    (directory / "trigger").touch()
    strange = {"classes": [0, 1], "file": str(directory / "trigger")}
    return make_context({name: {} if name == "icarl" else strange for name in methods})


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
    executor.submit(job_of(ROOT, after=kept, keep=True))
    assert ended(executor).result is not None
    # Named semaphores would stay for ever when everything is killed.
    assert "/dev/shm/sem." not in memory_maps(executor)
    plans = plan_of("icarl"), plan_of(*methods[1:], sequences=STRANGE)
    with Store(directory / "run") as store:
        both = Plan.of(run for plan in plans for run in plan.runs)
        summary = execute(both, store, executor, retries=1)  # as by default
        executor.close()  # again, which does nothing
        assert not any((directory / "run" / "states").glob(".*"))
        state = unpack(kept.read_bytes())
        return Ran(request.param, state, store.done(), store.failures(), summary)


def memory_maps(executor: Executor) -> str:
    """Names of what the workers of a pool have mapped into their memory, where they can be read."""
    workers = executor._workers if isinstance(executor, local.WorkerPool) else []
    files = [Path(f"/proc/{worker.process.pid}/maps") for worker in workers]
    return "".join(file.read_text(encoding="utf-8") for file in files if file.exists())


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[Node, dict[str, tuple[int, ...]]]:
    """Every sequence by itself, in a directory of its own, in this process."""
    context = make_context({"icarl": {}})
    by_node: dict[Node, dict[str, tuple[int, ...]]] = {}
    for order in ORDERS:
        executor = executor_for("local", context, workers=1)
        with Store(tmp_path_factory.mktemp("alone")) as store:
            execute(plan_of("icarl", sequences=[order]), store, executor)
            by_node |= counts(store.done())
    return by_node


def test_results_are_those_of_each_sequence_alone(ran, alone) -> None:
    by_node = {node: right for node, right in counts(ran.done).items() if node.method == "icarl"}
    assert by_node == alone
    assert len({str(right) for right in alone.values()}) > 6, "results must be able to differ"


def test_states_are_the_same_bit_for_bit(ran, tmp_path) -> None:
    here = executor_for("local", make_context({"icarl": {}}), workers=1)
    here.submit(job_of(ROOT, after=tmp_path / "state", keep=True))
    here.wait()
    assert same(ran.state, unpack((tmp_path / "state").read_bytes()))


@pytest.mark.parametrize("timeout", [None, 300.0], ids=["in-process", "pool"])
def test_a_chain_keeps_its_states_in_memory(tmp_path, timeout) -> None:
    context = make_context({"icarl": {}})
    nodes = Node("icarl", 0, (*ROOT.prefix, (2, 3))).path
    with closing(executor_for("local", context, workers=1, timeout=timeout)) as executor:
        # However slow the machine is, the job does not end between its nodes.
        executor.submit(replace(job_of(*nodes, after=tmp_path / "last"), seconds=math.inf))
        (together,) = all_ended(executor)
        apart = []
        executor.submit(job_of(nodes[0], after=tmp_path / "state", keep=True))
        apart.append(ended(executor))
        executor.submit(job_of(nodes[1], before=tmp_path / "state"))
        apart.append(ended(executor))
    assert [it.result.correct for it in together] == [it.result.correct for it in apart]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state"]


def test_a_job_that_takes_long_ends_early_and_its_last_state_is_on_disk(tmp_path) -> None:
    """The next job continues from memory once; another attempt needs the file."""
    context = make_context({"icarl": {}})
    first, second = Node("icarl", 0, (*ROOT.prefix, (2, 3))).path
    state = tmp_path / "state"
    both = Chain((Step(first, state), Step(second, tmp_path / "last")))
    job = Job((both, *job_of(ROOT).chains), seconds=0.0)
    with closing(executor_for("local", context, workers=1)) as executor:
        executor.submit(job)
        assert [len(outcomes) for outcomes in all_ended(executor)] == [1, 0]
        assert state.exists()
        results = []
        for content in (None, state.read_bytes()):
            state.unlink() if content is None else state.write_bytes(content)
            executor.submit(job_of(second, before=state))
            results.append(ended(executor).result.correct)
        assert results[0] == results[1]
        state.unlink()
        executor.submit(job_of(second, before=state))
        assert ended(executor).damaged


@pytest.mark.parametrize("timeout", [None, 300.0], ids=["in-process", "pool"])
def test_a_failure_inside_a_chain_leaves_the_state_before_it(tmp_path, timeout) -> None:
    """The classes 0 and 1 come second."""
    context = striking(tmp_path, "raising")
    nodes = Node("raising", 0, ((2, 3), (0, 1))).path
    steps = tuple(Step(node, tmp_path / f"{len(node.prefix)}.pt") for node in nodes)
    other = Node("raising", 0, ((0, 2),))
    with closing(executor_for("local", context, workers=1, timeout=timeout)) as executor:
        executor.submit(Job((Chain(steps), *job_of(other).chains)))
        (fine, failed), (last,) = all_ended(executor)
        assert (fine.error, failed.error) == (None, "ValueError: cannot learn (0, 1)")
        assert last.result is not None
        assert sorted(path.name for path in tmp_path.glob("*.pt")) == ["1.pt"]
        (tmp_path / "trigger").unlink()
        executor.submit(job_of(nodes[1], before=steps[0].state))
        assert ended(executor).result is not None


def test_a_worker_that_dies_inside_a_chain_fails_its_node_and_keeps_the_results(tmp_path) -> None:
    nodes = Node("deadly", 0, ((2, 3), (0, 1))).path
    with closing(pool_for("deadly", tmp_path)) as pool:
        pool.submit(Job((*job_of(*nodes).chains, *job_of(nodes[0]).chains)))
        (fine, failed), rest = all_ended(pool)
    assert fine.result is not None
    assert "SIGKILL" in failed.error
    assert rest == []


def test_a_method_that_raises_costs_its_own_sequence_only(ran) -> None:
    error, trace = ran.failures[Node("raising", 0, ((0, 1),))]
    assert error == "ValueError: cannot learn (0, 1)"
    assert "in learn" in trace
    assert "because it will not" in trace
    assert Node("raising", 0, ((0, 2), (1, 3))) in ran.done
    assert Node("raising", 0, ((0, 1), (2, 3))) not in ran.done


def test_the_job_that_kills_its_worker_fails(ran) -> None:
    """In real processes; which of several running jobs fails is tested below."""
    strange = {"raising"} if ran.executor == "in-process" else {"raising", "deadly"}
    assert set(ran.failures) == {Node(method, 0, ((0, 1),)) for method in strange}
    assert set(ran.summary.failed) == set(ran.failures)
    if "deadly" in strange:
        assert re.search("SIGKILL|died", ran.failures[Node("deadly", 0, ((0, 1),))][0])
        assert Node("patient", 0, ((0, 1), (2, 3))) in ran.done
        assert Node("deadly", 0, ((0, 2), (1, 3))) in ran.done


def test_an_address_requires_ray() -> None:
    with pytest.raises(UsageError, match="requires the executor 'ray'"):
        executor_for("local", make_context({"instant": {}}), workers=1, address="x")


def test_a_missing_ray_is_an_error_with_installation_advice(monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(PrerequisiteError, match=r"pip install 'edgecil\[ray\]'"):
        executor_for("ray", make_context({"instant": {}}), workers=1)


def strange_job(method: str) -> Job:
    return job_of(Node(method, 0, ((0, 1),)))


def pool_for(methods: str, directory: Path, **settings: float) -> local.WorkerPool:
    placement = Placement(("cpu",), most=1, per_device=1)
    return local.WorkerPool(striking(directory, *methods.split()), placement, **settings)


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[local.WorkerPool]:
    """One worker for the tests that leave the pool able to work."""
    with closing(pool_for("instant hungry", tmp_path_factory.mktemp("pool"))) as pool:
        yield pool


def test_a_training_that_takes_too_long_is_stopped(tmp_path) -> None:
    with closing(pool_for("sleepy", tmp_path, timeout=0.5)) as pool:
        pool.submit(strange_job("sleepy"))
        assert ended(pool).error.endswith("0.5 s.")
        (tmp_path / "trigger").unlink()
        pool._timeout = 300.0  # a busy machine may take long for a short training
        pool.submit(strange_job("sleepy"))
        assert ended(pool).result is not None


def test_a_job_is_not_charged_with_the_death_of_a_worker_that_has_not_begun_it(pool) -> None:
    pool.submit(strange_job("instant"))
    first = ended(pool).result
    (worker,) = pool._workers
    worker.process.kill()
    worker.process.join()
    pool.submit(strange_job("instant"))
    assert ended(pool).result.correct == first.correct


def test_workers_that_always_end_before_they_begin_end_the_run(tmp_path, monkeypatch) -> None:
    started = []

    class Stillborn(local._Worker):
        def begin(self, job: Job) -> None:
            started.append(self)
            super().begin(job)
            self.process.kill()

    monkeypatch.setattr(local, "_Worker", Stillborn)
    with closing(pool_for("instant", tmp_path)) as pool:
        pool.submit(strange_job("instant"))
        with pytest.raises(EdgecilError, match="SIGKILL"):
            ended(pool)
        assert len(started) == 3


def test_a_worker_with_another_identity_is_refused_unless_allowed() -> None:
    context = make_context({"instant": {}})
    expected = {**worker_identity(context.networks, here=True), "torch": "1.0"}
    node = Node("instant", 0, ((0, 1),))
    refused, state = train_node(replace(context, expected=expected), node, None, keep=True)
    assert (refused.refused, state) == (True, None)
    assert re.search("torch is .* instead of 1.0", refused.error)
    allowed = replace(context, expected=expected, allow_mismatch=True)
    outcome, _ = train_node(allowed, node, None, keep=False)
    assert outcome.result is not None
    assert set(outcome.worker) == {"torch"}
    elsewhere = {**worker_identity(context.networks, here=True), PROCESSOR: "GenuineIntel 6 143"}
    noted, _ = train_node(replace(context, expected=elsewhere), node, None, keep=False)
    assert noted.result is not None, "another type of processor is recorded, not refused"
    assert noted.worker[PROCESSOR].endswith(" instead of GenuineIntel 6 143")
    equal = replace(context, expected=worker_identity(context.networks, here=True))
    same_here, _ = train_node(equal, node, None, keep=False)
    assert same_here.worker == {}
    assert same_here.result is not None


def test_other_data_or_weights_are_differences() -> None:
    context = make_context({"instant": {}})
    expected = worker_identity(context.networks, context.scenario, here=True)
    assert expected["cpu"]
    context.scenario.test.inputs[0, 0, 0, 0] ^= 1
    try:
        other = worker_identity(context.networks, context.scenario, here=True)
    finally:
        context.scenario.test.inputs[0, 0, 0, 0] ^= 1
    assert set(differences(expected, other)) == {"dataset"}


def test_other_weights_at_the_same_path_are_a_difference_unless_they_are_sent(
    tmp_path, monkeypatch
) -> None:
    """A node with other weights at the same path gave 9 of 15 wrong rows."""
    path = Path(shutil.copy(toy_vit(), tmp_path / "vit.safetensors"))
    networks = (str(path),)
    expected, contents = worker_identity(networks), pretrained.weight_contents(str(path))
    monkeypatch.setattr(pretrained, "_supplied", {})
    monkeypatch.setenv("EDGECIL_CACHE", str(tmp_path / "cache"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)  # as on another node
    pretrained.fingerprint.cache_clear()
    on_node = worker_identity(networks, here=True)
    assert set(differences(expected, on_node)) == {f"weights {path}"}
    pretrained.supply_weights(str(path), contents)
    pretrained.fingerprint.cache_clear()
    assert differences(expected, worker_identity(networks, here=True)) == {}
    pretrained.fingerprint.cache_clear()


def test_out_of_memory_fails_the_job_and_nothing_else(pool) -> None:
    """It ended in a segmentation fault."""
    pool.submit(strange_job("hungry"))
    error = ended(pool).error or ""
    assert re.search("memory", error), error
    pool.submit(job_of(Node("hungry", 0, ((0, 2),))))
    assert ended(pool).result is not None


def test_a_parameter_that_is_not_finite_is_a_failure(tmp_path) -> None:
    context, node = striking(tmp_path, "diverging"), Node("diverging", 0, ((0, 1),))
    outcome, _ = train_node(context, node, None, keep=False)
    assert (outcome.result, outcome.permanent) == (None, True)
    assert re.match("NotFiniteError.*nan", outcome.error)


def test_a_learning_rate_that_diverges_is_a_failure_with_its_epoch() -> None:
    schedule = replace(QUICK, learning_rate=1e30, schedule="steps")
    config = get_method("finetune").configure(schedule, PAPER_MEMORY, {})
    context = replace(make_context({"finetune": {}}), configs={"finetune": config})
    outcome, _ = train_node(context, Node("finetune", 0, ((0, 1),)), None, keep=False)
    assert outcome.result is None
    assert re.search(
        r"NotFiniteError: .* became (nan|inf|-inf) in epoch 1 of 6", outcome.error or ""
    )
