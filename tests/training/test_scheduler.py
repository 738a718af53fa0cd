from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from edgecil.errors import EdgecilError, PrerequisiteError
from edgecil.experiments.plan import Node, Plan
from edgecil.experiments.results import NodeResult
from edgecil.experiments.store import Store
from edgecil.sequences import ClassSequence, SequenceSpace
from edgecil.training import result_buffer
from edgecil.training.chains import Chain, Job
from edgecil.training.executors import Finished
from edgecil.training.node_training import Outcome
from edgecil.training.scheduler import Observer, Summary, execute

ENUMERATION = list(SequenceSpace.equal(6, 3).enumerate())


def plan_of(*sequences: ClassSequence) -> Plan:
    return Plan(["m"], lambda _: [0], sequences)


PLAN = plan_of(*ENUMERATION)
SHORT = plan_of(ClassSequence([[0], [1]]))


def result_of(node: Node) -> NodeResult:
    return NodeResult({"head": (1,) * len(node.prefix)}, (2,) * len(node.prefix), 0.1, 1)


class Fake:
    """Trains nothing; checks that the files of a job exist, and records what is trained.

    A job ends after `most` nodes; a crash leaves nothing of a job but states on disk.
    """

    def __init__(
        self,
        store: Store,
        *,
        capacity: int = 1,
        most: int = 1,
        fails: Callable[[Node], bool] = lambda node: False,
        crashes: Callable[[Node], bool] = lambda node: False,
        stop_after: int | None = None,
        newest_first: bool = False,
    ) -> None:
        self.capacity, self.most, self.newest_first = capacity, most, newest_first
        self.store, self.fails, self.crashes = store, fails, crashes
        self.stop_after = stop_after
        self.jobs: deque[Job] = deque()
        self.trained: list[Node] = []
        self.most_states = 0
        self.closed = False

    def submit(self, job: Job) -> None:
        assert len(self.jobs) < self.capacity
        self.jobs.append(job)

    def wait(self) -> Finished:
        if self.stop_after is not None and len(self.trained) >= self.stop_after:
            raise KeyboardInterrupt
        job = self.jobs.pop() if self.newest_first else self.jobs.popleft()
        if any(self.crashes(node) for node in job.nodes):
            return Finished(job, (), Outcome(error="crash", trace=""))
        end = len(self.trained) + self.most
        return Finished(job, [self.train(chain, end) for chain in job.chains])

    def train(self, chain: Chain, end: int) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for place, step in enumerate(chain.steps):
            if len(self.trained) == end:
                if place:
                    self.save(chain, place - 1)
                break
            self.trained.append(step.node)
            parent = step.node.parent
            if place:
                assert parent == chain.steps[place - 1].node
            elif chain.before is not None:
                if not chain.before.exists() or chain.before.read_text() != repr(parent):
                    return [Outcome(error="damaged", trace="", damaged=True)]
            else:
                assert parent is None
            if self.fails(step.node):
                if place:
                    self.save(chain, place - 1)
                return [*outcomes, Outcome(error="ValueError: no", trace="story")]
            outcomes.append(Outcome(result_of(step.node)))
            if step.keep:
                self.save(chain, place)
        return outcomes

    def save(self, chain: Chain, place: int) -> None:
        step = chain.steps[place]
        step.state.write_text(repr(step.node), encoding="utf-8")
        self.most_states = max(self.most_states, len(states(self.store)))

    def close(self) -> None:
        self.closed = True


def states(store: Store) -> list[Path]:
    return sorted((store.directory / "states").iterdir())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def at_once(monkeypatch) -> None:
    """Results are written as soon as they are there, as those of long trainings."""
    monkeypatch.setattr(result_buffer, "PERIOD", 0.0)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("most", [1, 2, 7, 1000])
@pytest.mark.parametrize(
    ("capacity", "newest_first", "most_states"), [(1, False, 3), (3, False, 9), (3, True, 9)]
)
def test_everything_is_trained_once_and_no_state_is_left(
    store, capacity, newest_first, most_states, most
) -> None:
    fake = Fake(store, capacity=capacity, newest_first=newest_first, most=most)
    assert execute(PLAN, store, fake) == Summary(195, 0, ())
    assert sorted(fake.trained, key=repr) == sorted(PLAN, key=repr)
    assert store.done() == {node: result_of(node) for node in PLAN}
    assert states(store) == []
    assert fake.closed
    if most == 1:
        assert fake.most_states <= most_states
    if capacity == 1:
        assert [len(node.prefix) for node in fake.trained[:5]] == [1, 2, 3, 2, 3], "deep ones first"
    again = Fake(store)
    assert execute(PLAN, store, again) == Summary(0, 195, ())
    assert again.trained == []


def test_a_failure_costs_what_is_below_it_and_nothing_else(store) -> None:
    broken = Node("m", 0, ((0, 1), (2, 3)))
    finished: list[tuple[Node, Outcome]] = []
    fake = Fake(store, fails=lambda node: node == broken)
    summary = execute(PLAN, store, fake, Observer(on_node=lambda *ended: finished.append(ended)))
    assert summary == Summary(195 - 2, 0, (broken,))
    assert len(finished) == 194
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
    def leave(job: Job) -> None:
        (store.directory / "states" / f".{'0' * 32}.pt.x7k2_abc").write_bytes(b"ha")

    execute(plan_of(ENUMERATION[0]), store, Fake(store), Observer(on_job_end=leave))
    assert states(store) == []


def test_when_results_can_no_longer_be_stored_the_executor_is_closed(store, monkeypatch) -> None:
    def full(results: object, **more: object) -> None:
        raise EdgecilError("The disk is full.")

    monkeypatch.setattr(store, "record_all", full)
    fake = Fake(store)
    with pytest.raises(EdgecilError, match="The disk is full"):
        execute(PLAN, store, fake)
    assert fake.closed


LONG = plan_of(ClassSequence([[class_] for class_ in range(8)]))


def test_a_kill_repeats_what_was_not_written_and_nothing_before(store, monkeypatch) -> None:
    """Files with states stay until what was trained from them is written."""
    monkeypatch.setattr(result_buffer, "PERIOD", 0.0)
    fake = Fake(store)

    def wait_longer(node: Node, outcome: Outcome) -> None:
        if len(node.prefix) == 4:
            monkeypatch.setattr(result_buffer, "PERIOD", 1e9)
        if len(node.prefix) == 7:
            monkeypatch.setattr(Store, "record_all", killed)
            raise KeyboardInterrupt

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context(), pytest.raises(KeyboardInterrupt):
        execute(LONG, store, fake, Observer(on_node=wait_longer))
    monkeypatch.undo()
    assert {len(node.prefix) for node in store.done()} == {1, 2, 3, 4}
    again = Fake(store)
    assert execute(LONG, store, again) == Summary(4, 4, ())
    assert [len(node.prefix) for node in again.trained] == [5, 6, 7, 8]


def test_results_are_written_together_unless_a_training_is_long(store, monkeypatch) -> None:
    monkeypatch.setattr(result_buffer, "PERIOD", 1e9)
    written: list[int] = []
    record_all = store.record_all

    def recorded(results: Any, **more: Any) -> None:
        written.append(len(results))
        record_all(results, **more)

    monkeypatch.setattr(store, "record_all", recorded)
    execute(LONG, store, Fake(store, most=3))
    assert written == [8]
    monkeypatch.setattr(result_buffer, "PERIOD", result_of(LONG.roots[0]).seconds)
    execute(PLAN, store, Fake(store))
    assert written == [8] + [1] * 195


def test_a_crash_of_several_nodes_is_charged_to_the_one_that_crashes_alone(store) -> None:
    culprit = Node("m", 0, ENUMERATION[0].tasks[:2])
    fake = Fake(store, crashes=lambda node: node == culprit, most=1000)
    summary = execute(PLAN, store, fake)
    assert summary.failed == (culprit,)
    assert store.failures() == {culprit: ("crash", "")}
    assert set(PLAN) - set(store.done()) == {culprit, *PLAN.children(culprit)}


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
    seen: list[Node] = []
    plan = plan_of(ClassSequence([[0], [1]]), ClassSequence([[1], [0]]))
    summary = execute(
        plan, store, fake, Observer(on_node=lambda node, _: seen.append(node)), retries=2
    )
    assert [node.prefix[0][0] for node in fake.trained[:5]] == [0, 1, 1, 0, 0]
    failed = () if failing == 2 else (first,)
    assert summary == Summary(4 - 2 * len(failed), 0, failed)
    assert (len(seen), tuple(store.failures())) == (4 - len(failed), failed)


def test_a_refused_worker_ends_the_run(store) -> None:
    fake = Fake(store)
    fake.wait = lambda: Finished(
        fake.jobs.popleft(), [[Outcome(error="torch is 1 instead of 2.", refused=True)]]
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
    data=st.data(),
    capacity=st.integers(1, 3),
    stop=st.integers(0, 20),
    newest_first=st.booleans(),
    most=st.integers(1, 9),
)
def test_whatever_happens_in_between_the_end_is_the_same(
    tmp_path_factory, data, capacity, stop, newest_first, most
) -> None:
    """Part of the plan, then an interruption, failures and lost files, then all of it."""
    sequences = list(SequenceSpace.equal(4, 4).enumerate())
    some = data.draw(st.lists(st.sampled_from(sequences), min_size=1, max_size=6))
    store = Store(tmp_path_factory.mktemp("run"))
    bad = data.draw(st.sets(st.sampled_from(list(plan_of(*some))), max_size=2))
    options = {"capacity": capacity, "newest_first": newest_first, "most": most}
    dead = data.draw(st.sets(st.sampled_from(list(plan_of(*some))), max_size=1))
    fake = Fake(
        store, stop_after=stop, fails=bad.__contains__, crashes=dead.__contains__, **options
    )
    try:
        execute(plan_of(*some), store, fake)
    except KeyboardInterrupt:
        assert len(fake.trained) >= stop
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
