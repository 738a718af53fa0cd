from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from edgecil.engine.executors import Finished, Job
from edgecil.engine.node_training import Outcome
from edgecil.engine.plan import Node, Plan
from edgecil.engine.results import NodeResult
from edgecil.engine.scheduler import Summary, execute
from edgecil.engine.store import Store
from edgecil.errors import EdgecilError, PrerequisiteError
from edgecil.sequences import ClassSequence, SequenceSpace

ENUMERATION = list(SequenceSpace.equal(6, 3).enumerate())


def plan_of(*sequences: ClassSequence) -> Plan:
    return Plan(["m"], lambda _: [0], sequences)


PLAN = plan_of(*ENUMERATION)
SHORT = plan_of(ClassSequence([[0], [1]]))


def result_of(node: Node) -> NodeResult:
    return NodeResult({"head": (1,) * len(node.prefix)}, (2,) * len(node.prefix), 0.1, 1)


class Fake:
    """Trains nothing; checks that the files of a job exist, and records the jobs."""

    def __init__(
        self,
        store: Store,
        *,
        capacity: int = 1,
        fails: Callable[[Node], bool] = lambda node: False,
        stop_after: int | None = None,
        newest_first: bool = False,
    ) -> None:
        self.capacity, self.newest_first = capacity, newest_first
        self.store, self.fails, self.stop_after = store, fails, stop_after
        self.jobs: deque[Job] = deque()
        self.trained: list[Node] = []
        self.most_states = 0
        self.closed = False

    def submit(self, job: Job) -> None:
        assert len(self.jobs) < self.capacity
        self.jobs.append(job)

    def wait(self) -> Finished:
        if len(self.trained) == self.stop_after:
            raise KeyboardInterrupt
        job = self.jobs.pop() if self.newest_first else self.jobs.popleft()
        self.trained.append(job.node)
        if job.parent is not None:
            parent = job.node.parent
            assert parent is not None
            if not job.parent.exists() or job.parent.read_text(encoding="utf-8") != repr(parent):
                return Finished(job, Outcome(error="damaged", trace="", damaged=True))
            assert parent in self.store.done(), "the parent must be durable by now"
        if self.fails(job.node):
            return Finished(job, Outcome(error="ValueError: no", trace="story"))
        if job.keep is not None:
            job.keep.write_text(repr(job.node), encoding="utf-8")
        self.most_states = max(self.most_states, len(states(self.store)))
        return Finished(job, Outcome(result_of(job.node)))

    def close(self) -> None:
        self.closed = True


def states(store: Store) -> list[Path]:
    return sorted((store.directory / "states").iterdir())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("capacity", "newest_first", "most_states"), [(1, False, 2), (3, False, 9), (3, True, 9)]
)
def test_everything_is_trained_once_and_no_state_is_left(
    store, capacity, newest_first, most_states
) -> None:
    fake = Fake(store, capacity=capacity, newest_first=newest_first)
    assert execute(PLAN, store, fake) == Summary(195, 0, ())
    assert sorted(fake.trained, key=repr) == sorted(PLAN, key=repr)
    assert store.done() == {node: result_of(node) for node in PLAN}
    assert states(store) == []
    assert fake.closed
    assert fake.most_states <= most_states
    if capacity == 1:
        assert [len(node.prefix) for node in fake.trained[:5]] == [1, 2, 3, 2, 3], "deep ones first"
    again = Fake(store)
    assert execute(PLAN, store, again) == Summary(0, 195, ())
    assert again.trained == []


def test_a_failure_costs_what_is_below_it_and_nothing_else(store) -> None:
    broken = Node("m", 0, ((0, 1), (2, 3)))
    finished_jobs: list[Finished] = []
    fake = Fake(store, fails=lambda node: node == broken)
    summary = execute(PLAN, store, fake, finished_jobs.append)
    assert summary == Summary(195 - 2, 0, (broken,))
    assert len(finished_jobs) == 194
    assert store.failures() == {broken: ("ValueError: no", "story")}
    assert set(PLAN) - set(store.done()) == {broken, *PLAN.children(broken)}
    assert len(states(store)) == 1, "its parent's state is still needed"

    repaired = Fake(store)
    assert execute(PLAN, store, repaired) == Summary(2, 193, ())
    assert repaired.trained == [broken, *PLAN.children(broken)]
    assert store.failures() == {}
    assert states(store) == []


def test_a_missing_state_is_trained_again_and_results_stay(store) -> None:
    """Only the chain that leads to what is missing is trained again."""
    a, b, c = (ClassSequence(tasks) for tasks in ([[0], [1], [2]], [[0], [1], [3]], [[0], [2]]))
    execute(plan_of(a, c), store, Fake(store))
    assert states(store) == []
    fake = Fake(store)
    assert execute(plan_of(a, b, c), store, fake) == Summary(3, 2, ())
    assert [node.prefix for node in fake.trained] == [b.tasks[:1], b.tasks[:2], b.tasks]
    assert states(store) == []


def test_what_a_dying_worker_left_behind_is_removed(store) -> None:
    def leave(finished: Finished) -> None:
        (store.directory / "states" / f".{'0' * 32}.pt.x7k2_abc").write_bytes(b"ha")

    execute(plan_of(ENUMERATION[0]), store, Fake(store), leave)
    assert states(store) == []


def test_when_results_can_no_longer_be_stored_the_executor_is_closed(store, monkeypatch) -> None:
    def full(node: Node, result: NodeResult, **more: object) -> None:
        raise EdgecilError("The disk is full.")

    monkeypatch.setattr(store, "record", full)
    fake = Fake(store)
    with pytest.raises(EdgecilError, match="The disk is full"):
        execute(PLAN, store, fake)
    assert fake.closed
    assert len(fake.trained) == 1


def damage(store: Store) -> int:
    """Give every state another content; how many there are."""
    for path in states(store):
        path.write_text("wrong")
    return len(states(store))


@pytest.mark.parametrize("capacity", [1, 3])
def test_damaged_states_are_trained_again_within_the_run(store, capacity) -> None:
    with pytest.raises(KeyboardInterrupt):
        execute(PLAN, store, Fake(store, capacity=capacity, stop_after=50))
    assert damage(store) > 0
    before = len(store.done())
    fake = Fake(store, capacity=capacity)
    summary = execute(PLAN, store, fake)
    assert summary.failed == ()
    assert summary.trained >= 195 - before
    assert store.done() == {node: result_of(node) for node in PLAN}
    assert states(store) == []


def test_a_disk_that_damages_every_state_is_a_failure_not_a_loop(store) -> None:
    plan = plan_of(ENUMERATION[0])
    fake = Fake(store)
    whole = fake.wait

    def damaging() -> Finished:
        finished = whole()
        damage(store)
        return finished

    fake.wait = damaging
    summary = execute(plan, store, fake)
    assert [len(node.prefix) for node in summary.failed] == [2]
    assert [len(node.prefix) for node in fake.trained].count(1) == 1 + 3, "three repairs"


@pytest.mark.parametrize("failing", [2, 3])
def test_a_failure_is_retried_after_all_else_and_at_most_as_often_as_allowed(
    store, failing
) -> None:
    first = Node("m", 0, ((0,),))
    fake = Fake(store, fails=lambda node: node == first and fake.trained.count(node) <= failing)
    seen: list[Finished] = []
    plan = plan_of(ClassSequence([[0], [1]]), ClassSequence([[1], [0]]))
    summary = execute(plan, store, fake, seen.append, retries=2)
    assert [node.prefix[0][0] for node in fake.trained[:5]] == [0, 1, 1, 0, 0]
    failed = () if failing == 2 else (first,)
    assert summary == Summary(4 - 2 * len(failed), 0, failed)
    assert (len(seen), tuple(store.failures())) == (4 - len(failed), failed)


def test_a_refused_worker_ends_the_run(store) -> None:
    fake = Fake(store)
    fake.wait = lambda: Finished(
        fake.jobs.popleft(), Outcome(error="torch is 1 instead of 2.", refused=True)
    )
    with pytest.raises(PrerequisiteError, match=r"1.*2.*'allow_mismatch'"):
        execute(PLAN, store, fake)
    assert fake.closed
    assert store.done() == {}


def test_what_differs_is_recorded_with_each_result(store) -> None:
    execute(SHORT, store, Fake(store), worker={"cpu": "AVX2 instead of AVX512"})
    assert store.workers() == {node: {"cpu": "AVX2 instead of AVX512"} for node in SHORT}


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=st.data(), capacity=st.integers(1, 3), stop=st.integers(0, 20), newest_first=st.booleans()
)
def test_whatever_happens_in_between_the_end_is_the_same(
    tmp_path_factory, data, capacity, stop, newest_first
) -> None:
    """Part of the plan, then an interruption, failures and lost files, then all of it."""
    sequences = list(SequenceSpace.equal(4, 4).enumerate())
    some = data.draw(st.lists(st.sampled_from(sequences), min_size=1, max_size=6))
    store = Store(tmp_path_factory.mktemp("run"))
    bad = data.draw(st.sets(st.sampled_from(list(plan_of(*some))), max_size=2))
    options = {"capacity": capacity, "newest_first": newest_first}
    fake = Fake(store, stop_after=stop, fails=bad.__contains__, **options)
    try:
        execute(plan_of(*some), store, fake)
    except KeyboardInterrupt:
        assert len(fake.trained) == stop
    for path in states(store):
        if data.draw(st.booleans()):
            path.unlink()
    plan = plan_of(*sequences)
    summary = execute(plan, store, Fake(store, **options))
    assert summary.failed == ()
    assert summary.trained + summary.reused == len(plan)
    assert set(store.done()) == set(plan)
    assert store.failures() == {}
    assert states(store) == []
    store.close()
